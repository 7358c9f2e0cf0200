"""Contract of metrics: every metric that alerts, dashboards and documents may use, by exporter (metrics.yaml)."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from typing import Literal

from pydantic import Field

from landbridge.catalog.files import Facts, read

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
#: Lists of labels after a word: `by (node)`, `on (instance)`.
_LABEL_LISTS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
_OPERATORS = frozenset({"and", "or", "unless", "bool", "inf", "nan"})


class MetricFact(Facts):
    """Metric of an exporter. `since`: first release of its program, if that is not every supported one; `mig`: whether
    nodes with MIG instances have it.
    """

    type: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...] = ()
    since: str | None = None
    mig: bool = True
    description: str = Field(alias="what")


class ExporterFacts(Facts):
    """Exporter with its metrics. `labels` are on every metric of it; without a `port` its metrics come through another one.

    `loopback`: port on the host's loopback, whose metrics node exporter copies.
    """

    title: str
    package: str | None = None
    port: int | None = None
    loopback: int | None = None
    version: str
    source: str
    as_of: date = Field(alias="date")
    labels: tuple[str, ...] = ()
    metrics: Mapping[str, MetricFact]


class MetricsContract(Facts):
    """Facts of metrics.yaml."""

    source: str
    as_of: date = Field(alias="date")
    target_labels: tuple[str, ...]
    external_labels: tuple[str, ...]
    exporters: Mapping[str, ExporterFacts]

    def exporter_of(self, metric: str) -> str | None:
        """Return the exporter of a metric; None for a metric that no exporter has."""
        return next((name for name, exporter in self.exporters.items() if metric in exporter.metrics), None)

    def labels_of(self, metric: str) -> frozenset[str]:
        """Return the labels that a metric may have, with the labels of targets and the external ones."""
        name = self.exporter_of(metric)
        if name is None:
            return frozenset()
        exporter = self.exporters[name]
        labels = (*exporter.labels, *exporter.metrics[metric].labels)
        return frozenset((*labels, *self.target_labels, *self.external_labels))

    def missing(self, expression: str, recorded: frozenset[str] = frozenset()) -> list[str]:
        """Return the metrics of a PromQL expression that neither an exporter nor a recording rule has."""
        return [name for name in metrics_in(expression) if self.exporter_of(name) is None and name not in recorded]


@cache
def metrics_contract() -> MetricsContract:
    """Return the contract of metrics (cached)."""
    return read("metrics", MetricsContract)


def metrics_in(expression: str) -> list[str]:
    """Return the names of the metrics in a PromQL expression, each once, in their order.

    A name before a parenthesis is a function or an aggregation; a name in braces or in a list of labels is a label.
    """
    return list(dict.fromkeys(_names(expression)))


def _names(expression: str) -> Iterator[str]:
    text = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', "''", expression)
    text = re.sub(r"#[^\n]*", " ", text)
    text = _LABEL_LISTS.sub(" ", re.sub(r"\{[^}]*\}", " ", text))
    text = re.sub(r"\[[^\]]*\]|\boffset\s+-?[0-9a-z]+|\$\{?\w+\}?", " ", text)
    for match in re.finditer(rf"(?<![\w:.]){_NAME}(?!\s*\()(?![\w:])", text):
        if match.group().lower() not in _OPERATORS:
            yield match.group()
