"""Judgement of a window: which features, in all requests and by slice, have drifted, and whether the estimated accuracy fell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from landbridge.models.drift.distances import ks, ks_chance, psi, psi_noise
from landbridge.models.drift.performance import estimated_accuracy
from landbridge.models.drift.reference import BinnedCounts, ModelReference

#: Slice of all requests.
ALL = "all"


@dataclass(frozen=True, slots=True)
class DriftLimits:
    """Limits of drift.

    `false_windows`: largest probability that a window without drift has a drifted feature, over all features and slices. `psi`: the
    least index, so that a large window does not call a small change drift. `rows`: the least number of values that is judged.
    `accuracy_drop`: the fall of the estimated accuracy that counts.
    """

    false_windows: float
    psi: float
    rows: int
    accuracy_drop: float


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """Distances of a feature in a slice. `chance`: the probability of the statistic without drift, before the correction."""

    slice: str
    feature: str
    rows: int
    psi: float
    ks: float
    chance: float
    drifted: bool


@dataclass(frozen=True, slots=True)
class DriftReport:
    """Judgement of a window. `unjudged`: slices and features with too few values, or with other bins than the reference."""

    features: tuple[FeatureDrift, ...]
    unjudged: tuple[tuple[str, str], ...]
    accuracy: float | None
    expected_accuracy: float | None
    accuracy_fell: bool

    @property
    def drifted(self) -> tuple[FeatureDrift, ...]:
        """Return the features that have drifted."""
        return tuple(each for each in self.features if each.drifted)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was judged: neither a feature nor the accuracy."""
        return not self.features and self.accuracy is None

    @property
    def reason(self) -> str:
        """Return the reason why the window shows drift, as text; empty without drift."""
        parts = [f"{each.feature} in {each.slice}: PSI {each.psi:.2f}, KS {each.ks:.2f}" for each in self.drifted]
        if self.accuracy_fell and self.accuracy is not None and self.expected_accuracy is not None:
            parts.append(f"estimated accuracy {self.accuracy:.1%}, in training {self.expected_accuracy:.1%}")
        return "; ".join(parts)


def judged(
    reference: ModelReference,
    window: Mapping[str, Mapping[str, BinnedCounts]],
    confidence: BinnedCounts | None,
    limits: DriftLimits,
) -> DriftReport:
    """Return the judgement of a window's counts, by slice and feature.

    A feature has drifted if the Kolmogorov-Smirnov test refuses equality, at `false_windows` divided by the number of tests
    (Bonferroni), and the index is at least `psi` and above its own noise at that probability.
    """
    pairs, unjudged = _pairs(reference, window, limits.rows)
    level = limits.false_windows / max(1, len(pairs))
    features = tuple(_feature(*pair, limits, level) for pair in pairs)
    enough = confidence is not None and confidence.total >= limits.rows
    accuracy = estimated_accuracy(reference, confidence) if confidence is not None and enough else None
    expected = reference.accuracy
    fell = accuracy is not None and expected is not None and expected - accuracy > limits.accuracy_drop
    return DriftReport(features, unjudged, accuracy, expected, fell)


_Pair = tuple[str, str, BinnedCounts, BinnedCounts]


def _pairs(
    reference: ModelReference, window: Mapping[str, Mapping[str, BinnedCounts]], rows: int
) -> tuple[list[_Pair], tuple[tuple[str, str], ...]]:
    pairs: list[_Pair] = []
    unjudged: list[tuple[str, str]] = []
    for slice_name, known in _slices(reference):
        for name, counts in known.items():
            current = window.get(slice_name, {}).get(name)
            if current is None or current.edges != counts.edges or min(current.total, counts.total) < rows:
                unjudged.append((slice_name, name))
            elif counts.edges:
                pairs.append((slice_name, name, counts, current))
    return pairs, tuple(unjudged)


def _slices(reference: ModelReference) -> Iterator[tuple[str, Mapping[str, BinnedCounts]]]:
    yield ALL, reference.features
    yield from reference.slices.items()


def _feature(
    slice_name: str, name: str, known: BinnedCounts, current: BinnedCounts, limits: DriftLimits, level: float
) -> FeatureDrift:
    index, statistic = psi(known, current), ks(known, current)
    chance = ks_chance(statistic, known.total, current.total)
    drifted = chance <= level and index >= max(limits.psi, psi_noise(known, current, level))
    return FeatureDrift(slice_name, name, current.total, index, statistic, chance, drifted)
