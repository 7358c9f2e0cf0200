"""CloudWatch alarms: metrics and thresholds (alarms.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Literal

from landbridge.catalog.files import Facts, read


class AlarmFacts(Facts):
    """Alarm on one metric. `metric` is a namespace and a name; `above` or `below` is the threshold, and the plan sets a
    threshold or a period that is None.
    """

    metric: str
    statistic: Literal["Average", "Maximum", "Minimum", "Sum"]
    above: float | None = None
    below: float | None = None
    minutes: int | None
    periods: int
    missing: Literal["breaching", "notBreaching"]
    description: str

    @property
    def namespace(self) -> str:
        """Namespace of the metric."""
        return self.metric.split()[0]

    @property
    def metric_name(self) -> str:
        """Name of the metric in its namespace."""
        return self.metric.split()[1]


class AllAlarmFacts(Facts):
    """Facts of alarms.yaml."""

    source: str
    date: date
    alarms: Mapping[str, AlarmFacts]
    storage_share: float
    heartbeat_seconds: int


@cache
def alarm_facts() -> AllAlarmFacts:
    """Return the facts of alarms (cached)."""
    return read("alarms", AllAlarmFacts)
