"""Estimated accuracy without labels, from confidences. A change of the labels' meaning with the same inputs is not detected."""

from itertools import accumulate

from landbridge.models.drift.reference import BinnedCounts, ModelReference


def estimated_accuracy(reference: ModelReference, current: BinnedCounts) -> float | None:
    """Return the share of current confidences above the threshold above which the reference has its accuracy.

    Average thresholded confidence; source: Garg et al., Leveraging unlabeled data to predict out-of-distribution performance, ICLR
    2022. Between two edges of a bin its values count as evenly spread. None without confidences or an accuracy.
    """
    known = reference.confidence
    if known is None or reference.accuracy is None or not known.total or not current.total:
        return None
    if known.edges != current.edges:
        return None
    below = 1 - reference.accuracy
    seen = 0.0
    for at, share in enumerate(known.shares):
        if seen + share >= below and share > 0:
            part = (below - seen) / share
            current_below = [0.0, *accumulate(current.shares)]
            return 1 - (current_below[at] + part * current.shares[at])
        seen += share
    return 0.0


def mean_confidence(counts: BinnedCounts) -> float | None:
    """Return the mean of confidences between 0 and 1, each bin at its middle; None without a value."""
    if not counts.total:
        return None
    bounds = (0.0, *counts.edges, 1.0)
    return sum(share * (low + high) / 2 for share, low, high in zip(counts.shares, bounds, bounds[1:], strict=False))
