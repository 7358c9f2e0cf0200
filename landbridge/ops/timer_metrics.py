"""Metrics of a timer's pass, for the textfile collector of Prometheus' node exporter."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from landbridge.environment import Environment
from landbridge.ops.gpu_health.values import HealthJournal, HealthState
from landbridge.ops.idle_gpus.judge import IdleJob
from landbridge.ops.netcheck.metrics import write_metrics

TimerName = Literal["health", "idle", "cost", "link", "sagemaker", "archive"]
PREFIX = "landbridge_"
#: First part of the name of a timer's file.
_FILE = "landbridge-timer-"
HELP = {
    "timer_completed_timestamp_seconds": "End of the last pass of a timer.",
    "timer_interval_seconds": "Time between the passes of a timer.",
    "timer_unanswered": "Hosts that did not answer the last pass of a timer.",
    "health_nodes": "Nodes by state of their GPUs.",
    "idle_gpus": "GPUs that their jobs do not use.",
}
Samples = Mapping[str, Iterable[tuple[Mapping[str, str], float]]]


def health_samples(journal: HealthJournal) -> Samples:
    """Return the nodes of each state."""
    counts = Counter(record.state for record in journal.records.values())
    return {"health_nodes": [({"state": str(state)}, float(counts[state])) for state in HealthState]}


def idle_samples(jobs: Iterable[IdleJob]) -> Samples:
    """Return the idle GPUs by kind of the job."""
    counts = Counter[str]()
    for idle in jobs:
        counts[str(idle.kind)] += len(idle.idle)
    return {"idle_gpus": [({"kind": kind}, float(count)) for kind, count in sorted(counts.items())]}


def timer_text(
    environment: Environment, timer: TimerName, now: float, unanswered: int, samples: Samples, name: str = ""
) -> str:
    """Return the metrics of one pass in Prometheus' text format. `name`: of the timer, if it is another one."""
    label, settings = {"timer": name or timer}, environment.observability.timers
    minutes = getattr(settings, f"{timer}_minutes") if settings is not None else None
    families = {
        "timer_completed_timestamp_seconds": [(label, now)],
        "timer_interval_seconds": [(label, minutes * 60.0)] if minutes is not None else [],
        "timer_unanswered": [(label, float(unanswered))],
        **samples,
    }
    lines = []
    for name, values in families.items():
        lines += [f"# HELP {PREFIX}{name} {HELP[name]}", f"# TYPE {PREFIX}{name} gauge"]
        for labels, value in values:
            text = ",".join(f'{key}="{word}"' for key, word in labels.items())
            lines.append(f"{PREFIX}{name}{{{text}}} {value:.12g}")
    return "\n".join([*lines, ""])


def timer_of(path: Path | None, timer: TimerName) -> str:
    """Return the name of a timer by the file of its metrics, such as cost-restricted: two files may not have the same series."""
    return path.stem.removeprefix(_FILE) if path is not None and path.stem.startswith(_FILE) else timer


def write_timer(
    path: Path | None,
    environment: Environment,
    timer: TimerName,
    now: float,
    unanswered: int,
    samples: Samples,
    more: str = "",
) -> None:
    """Replace the file of a timer's metrics, if there is one. `more`: further metrics in the text format."""
    if path is not None:
        write_metrics(path, timer_text(environment, timer, now, unanswered, samples, timer_of(path, timer)) + more)
