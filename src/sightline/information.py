"""What one threshold along a direction says about labels: the paper's information gain, in bits.

With labels Y and the side A = [t > threshold] of scores t,

    gain = H(Y) - H(Y | A),        H(Y) = -sum_k P(Y = k) log2 P(Y = k).

A threshold has one bit to give at the most. It is chosen on some rows and judged on others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Host = np.ndarray[Any, np.dtype[np.float64]]


def information_gain(scores: Any, labels: Any, thresholds: Any) -> Host:
    """Return the gains (m,) of one threshold (m,) each for scores (n, m), on labels (n,)."""
    scores, codes, n_labels = _checked(scores, labels)
    total = np.bincount(codes, minlength=n_labels).astype(np.float64)
    above = scores > np.asarray(thresholds, dtype=np.float64)
    upper = np.stack([above[codes == label].sum(axis=0) for label in range(n_labels)], axis=-1)
    return _gains(total - upper, upper)


def best_thresholds(scores: Any, labels: Any) -> Host:
    """Return the thresholds (m,) of largest gain for scores (n, m), on labels (n,).

    They lie midway between neighbouring scores; the lowest wins among equals. Scores that are all
    equal have their own value for a threshold, which leaves all rows on one side.
    """
    scores, codes, n_labels = _checked(scores, labels)
    order = np.argsort(scores, axis=0, kind="stable")
    is_label = np.eye(n_labels)[codes]
    found = np.empty(scores.shape[1])
    for column, ranked in enumerate(order.T):
        values = scores[ranked, column]
        below = np.cumsum(is_label[ranked], axis=0)
        gains = _gains(below[:-1], below[-1] - below[:-1])
        gains[values[1:] == values[:-1]] = -1.0  # no threshold lies between ties
        cut = int(np.argmax(gains))
        found[column] = values[cut] + 0.5 * (values[cut + 1] - values[cut])
    return found


def _gains(lower: Host, upper: Host) -> Host:
    """Return H(Y) - H(Y | A) from counts (..., k) of the labels on either side."""
    total = lower + upper
    rows = total.sum(axis=-1)
    spent = lower.sum(axis=-1) * _entropy(lower) + upper.sum(axis=-1) * _entropy(upper)
    gains: Host = np.maximum(0.0, _entropy(total) - spent / rows)
    return gains


def _entropy(counts: Host) -> Host:
    """Return the entropy in bits of counts (..., k); that of no rows is 0."""
    rows = np.maximum(1.0, counts.sum(axis=-1, keepdims=True))
    shares = counts / rows
    entropy: Host = -np.sum(shares * np.log2(np.where(shares > 0, shares, 1.0)), axis=-1)
    return entropy


def _checked(scores: Any, labels: Any) -> tuple[Host, np.ndarray[Any, Any], int]:
    """Return scores (n, m), labels as 0 .. k - 1, and k."""
    host = np.asarray(scores, dtype=np.float64)
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    if host.ndim != 2 or host.shape[0] < 2 or codes.shape != host.shape[:1]:
        raise ValueError(
            f"scores have the shape {host.shape} and labels {codes.shape}; give one column of "
            "scores a direction and one label a row, for at least 2 rows."
        )
    return host, codes, names.size
