"""Drift of a window: the histograms of model servers between two readings of their metrics, by the limits of the catalogue."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from landbridge.catalog.models.canary import canary_facts
from landbridge.models.drift.judge import ALL, DriftLimits, DriftReport, judged
from landbridge.models.drift.reference import BinnedCounts, ModelReference
from landbridge.serving.canary_controller.exposition import MetricSample, cumulative
from landbridge.serving.canary_controller.guard_counters import CONFIDENCE, FEATURE, SLICE_FEATURE, binned_from


def since_start(
    last: Mapping[str, Sequence[MetricSample]], first: Mapping[str, Sequence[MetricSample]]
) -> Iterator[MetricSample]:
    """Yield the counts of a window by server: the last reading without the first one.

    A counter that fell began at zero with its server, and so did a server without a first reading.
    """
    for server, samples in last.items():
        before = {_series(each): each.value for each in first.get(server, ())}
        if any(each.value < before.get(_series(each), 0.0) for each in samples):
            before = {}
        for each in samples:
            yield MetricSample(each.name, each.labels, each.value - before.get(_series(each), 0.0))


def _series(sample: MetricSample) -> tuple[str, frozenset[tuple[str, str]]]:
    return sample.name, frozenset(sample.labels.items())


def judged_window(
    reference: ModelReference, last: Iterable[MetricSample], first: Iterable[MetricSample], version: str
) -> DriftReport:
    """Return the judgement of the requests between two readings. An empty version matches any version."""
    limits = canary_facts().drift
    later, earlier = tuple(last), tuple(first)
    chosen = {"version": version} if version else {}

    def counts(metric: str, edges: tuple[float, ...], **labels: str) -> BinnedCounts | None:
        before = cumulative(earlier, metric, **chosen, **labels)
        after = cumulative(later, metric, **chosen, **labels)
        return binned_from({bound: value - before.get(bound, 0.0) for bound, value in after.items()}, edges)

    features = {name: counts(FEATURE, each.edges, feature=name) for name, each in reference.features.items()}
    window = {ALL: {name: each for name, each in features.items() if each is not None}}
    for slice_name, slices in reference.slices.items():
        window[slice_name] = {
            name: each
            for name, bins in slices.items()
            if (each := counts(SLICE_FEATURE, bins.edges, slice=slice_name, feature=name)) is not None
        }
    known = reference.confidence
    return judged(
        reference,
        window,
        counts(CONFIDENCE, known.edges) if known is not None else None,
        DriftLimits(
            limits["false_windows"].value, limits["psi"].value, int(limits["rows"].value), limits["accuracy_drop"].value
        ),
    )
