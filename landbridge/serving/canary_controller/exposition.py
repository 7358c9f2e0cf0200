"""Samples of Prometheus's text format. Source: Prometheus documentation, "Exposition formats" (text-based format)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

_SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?$")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


@dataclass(frozen=True, slots=True)
class MetricSample:
    """Sample: name, labels and value."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(text: str) -> Iterator[MetricSample]:
    """Yield the samples of a text; comments, and lines of another form, are left out."""
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match is None:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        labels = {name: _unescaped(raw) for name, raw in _LABEL.findall(match["labels"] or "")}
        yield MetricSample(match["name"], labels, value)


def total(all_samples: Iterable[MetricSample], name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that have these labels."""
    return sum(each.value for each in all_samples if each.name == name and labels.items() <= each.labels.items())


def cumulative(all_samples: Iterable[MetricSample], name: str, **labels: str) -> dict[float, float]:
    """Return the counts of a histogram up to each upper bound, infinity included, summed over its series."""
    counts: dict[float, float] = {}
    for each in all_samples:
        if each.name == f"{name}_bucket" and labels.items() <= each.labels.items():
            bound = float(each.labels.get("le", "inf").replace("+Inf", "inf"))
            counts[bound] = counts.get(bound, 0.0) + each.value
    return dict(sorted(counts.items()))


def whole(counts: Mapping[float, float]) -> float:
    """Return the number of values of a histogram."""
    return counts.get(inf, 0.0)


def _unescaped(raw: str) -> str:
    return re.sub(r"\\[n\"\\]", lambda match: _ESCAPES[match[0]], raw)
