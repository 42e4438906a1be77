"""What can be wrong with a source of rows; each error declares the exit code of the command."""


class DataError(ValueError):
    """The data can't be used as they are; the message says where and what to do."""

    exit_code = 65


class TooLargeError(DataError):
    """The table is larger than the memory it may take; reading it in blocks may still do."""


class NoInputError(OSError):
    """There is nothing to read at the given place."""

    exit_code = 66
