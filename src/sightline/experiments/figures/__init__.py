"""The figures of the paper and its supplement, and one of our own: one file a kind of figure."""
