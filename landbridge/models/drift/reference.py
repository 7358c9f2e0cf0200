"""Reference of a model version: counts by bin of each feature and of the confidence, on data that training did not see.

Form in the manifest, key `reference`: `{"schema": 1, "rows": 1797, "features": {"x[3]": {"edges": [...], "counts": [...]}},
"confidence": {"edges": [...], "counts": [...]}, "accuracy": 0.97, "slices": {"site=a": {"rows": ..., "features": ...}}}`. `edges` are the
inner edges: bin i has the values above edge i-1 and up to edge i, as the buckets of a Prometheus histogram, so there is one count more.
Slices of requests need `"slice_by": {"column": "x[0]", "edges": [0.5]}`: the model server counts each row for the slice that the value of this
column is in, with the names `x[0]<=0.5` and `x[0]>0.5`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

SCHEMA = 1
#: Bins of a feature. Source: the usual ten of the population stability index (Siddiqi, Credit risk scorecards, 2006).
BINS = 10
#: Upper bounds of confidence: those of the model server's histogram.
CONFIDENCE_EDGES = tuple(number / 10 for number in range(1, 10))


@dataclass(frozen=True, slots=True)
class BinnedCounts:
    """Counts of values by bin, between inner edges."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if list(self.edges) != sorted(set(self.edges)) or not all(map(isfinite, self.edges)):
            raise ValueError("edges must be finite and increasing")
        if len(self.counts) != len(self.edges) + 1 or any(count < 0 for count in self.counts):
            raise ValueError("each bin needs one count of 0 or more")

    @property
    def total(self) -> int:
        """Number of values."""
        return sum(self.counts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of each bin; 0 without a value."""
        return tuple(count / self.total if self.total else 0.0 for count in self.counts)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return plain data for JSON."""
        return {"edges": list(self.edges), "counts": list(self.counts)}


@dataclass(frozen=True, slots=True)
class SliceColumn:
    """Column by which rows are in slices: an input's column such as `x[0]`, and the inner edges between the slices."""

    column: str
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.edges or list(self.edges) != sorted(set(self.edges)) or not all(map(isfinite, self.edges)):
            raise ValueError("the edges of slices must be finite and increasing")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the slices, from the lowest one."""
        first, *_, last = (f"{edge:g}" for edge in (self.edges[0], self.edges[-1]))
        pairs = zip(self.edges, self.edges[1:], strict=False)
        return (
            f"{self.column}<={first}",
            *(f"{low:g}<{self.column}<={high:g}" for low, high in pairs),
            f"{self.column}>{last}",
        )

    def slice_of(self, value: float) -> str:
        """Return the name of the slice of a value."""
        return self.names[bisect_left(self.edges, value)]


@dataclass(frozen=True, slots=True)
class ModelReference:
    """Reference: features of all rows and of each slice, the confidence, and the accuracy on the same rows."""

    features: Mapping[str, BinnedCounts]
    confidence: BinnedCounts | None = None
    accuracy: float | None = None
    slices: Mapping[str, Mapping[str, BinnedCounts]] = field(default_factory=dict)
    slice_by: SliceColumn | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the form of the manifest."""
        data: dict[str, Any] = {
            "schema": SCHEMA,
            "features": {name: counts.to_dict() for name, counts in self.features.items()},
        }
        if self.confidence is not None:
            data["confidence"] = self.confidence.to_dict()
        if self.accuracy is not None:
            data["accuracy"] = self.accuracy
        if self.slices:
            data["slices"] = {
                name: {feature: counts.to_dict() for feature, counts in features.items()}
                for name, features in self.slices.items()
            }
        if self.slice_by is not None:
            data["slice_by"] = {"column": self.slice_by.column, "edges": list(self.slice_by.edges)}
        return data


def parse_reference(data: Mapping[str, Any]) -> ModelReference:
    """Return the reference of a manifest's data. Raises ValueError for another form."""
    try:
        if data["schema"] != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        confidence, accuracy = data.get("confidence"), data.get("accuracy")
        return ModelReference(
            _features(data["features"]),
            _counts(confidence) if confidence is not None else None,
            float(accuracy) if accuracy is not None else None,
            {name: _features(features) for name, features in data.get("slices", {}).items()},
            parse_slice_column(data.get("slice_by")),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"it is not a reference of a model: {error}") from None


def parse_slice_column(data: Mapping[str, Any] | None) -> SliceColumn | None:
    """Return the column of slices of a manifest's data. Raises ValueError, KeyError or TypeError for another form."""
    return None if data is None else SliceColumn(str(data["column"]), tuple(map(float, data["edges"])))


def rows_by_slice(slice_by: SliceColumn, values: Sequence[float]) -> dict[str, list[int]]:
    """Return the numbers of the rows of each slice, from the values of its column."""
    rows: dict[str, list[int]] = {name: [] for name in slice_by.names}
    for number, value in enumerate(values):
        rows[slice_by.slice_of(value)].append(number)
    return rows


def reference_of(
    features: Mapping[str, Sequence[float]],
    confidences: Sequence[float] = (),
    accuracy: float | None = None,
    slices: Mapping[str, Sequence[int]] | None = None,
    slice_by: SliceColumn | None = None,
) -> ModelReference:
    """Return the reference of rows: values by feature, and confidences. `slices`: the numbers of the rows of each slice.

    With `slice_by`, a feature, they are those of its values. Raises KeyError if it is not a feature.
    """
    if slice_by is not None:
        slices = rows_by_slice(slice_by, features[slice_by.column])
    whole = {name: binned(values, quantile_edges(values)) for name, values in features.items()}
    return ModelReference(
        whole,
        binned(confidences, CONFIDENCE_EDGES) if confidences else None,
        accuracy,
        {
            slice_name: {
                name: binned([features[name][row] for row in rows], counts.edges) for name, counts in whole.items()
            }
            for slice_name, rows in (slices or {}).items()
        },
        slice_by,
    )


def quantile_edges(values: Sequence[float], bins: int = BINS) -> tuple[float, ...]:
    """Return the inner edges of bins with equal counts; fewer bins if a value has more than its share."""
    ordered = sorted(values)
    edges = (
        {ordered[min(len(ordered) - 1, len(ordered) * number // bins)] for number in range(1, bins)}
        if ordered
        else set()
    )
    # An edge at the greatest value would leave the last bin empty in the reference.
    return tuple(sorted(edge for edge in edges if edge < ordered[-1]))


def binned(values: Iterable[float], edges: Sequence[float]) -> BinnedCounts:
    """Return the counts of values between inner edges."""
    counts = [0] * (len(edges) + 1)
    for value in values:
        counts[bisect_left(edges, value)] += 1
    return BinnedCounts(tuple(edges), tuple(counts))


def _features(data: Mapping[str, Any]) -> dict[str, BinnedCounts]:
    return {str(name): _counts(each) for name, each in data.items()}


def _counts(data: Mapping[str, Any]) -> BinnedCounts:
    return BinnedCounts(tuple(map(float, data["edges"])), tuple(map(int, data["counts"])))
