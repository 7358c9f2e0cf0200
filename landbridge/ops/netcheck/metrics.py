"""Metrics of a check of the link, for the textfile collector of Prometheus' node exporter."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.result import LinkReport

PREFIX = "landbridge_link_"
#: Value of a result; a result that is not judged has no sample, so that an alert on its absence can be written.
_VALUES = {"passed": 1, "warning": 1, "failed": 0}
_HELP = {
    "check": "Result of one check: 1 passed or a warning, 0 failed; absent if it could not be judged.",
    "fault": "Faults by cause.",
    "not_judged": "Checks without the facts that they need.",
    "round_trip_seconds": "Average time of a packet to the other end and back.",
    "path_mtu_bytes": "Largest packet that crosses the path without fragmentation.",
    "throughput_bytes_per_second": "Rate that a host received in the sample of --throughput.",
    "checked_timestamp_seconds": "Time of this check.",
}
Sample = tuple[Mapping[str, str], float]


def metrics_text(report: LinkReport, every: Sequence[HostFacts], now: float) -> str:
    """Return the metrics in Prometheus' text format."""
    families: dict[str, list[Sample]] = {
        "check": list(_checks(report)),
        "fault": list(_faults(report)),
        "not_judged": [({}, float(sum(result.status == "not judged" for result in report.results)))],
        "round_trip_seconds": [
            (labels, sum(path["milliseconds"]) / len(path["milliseconds"]) / 1000)
            for labels, path in _paths(every)
            if path["milliseconds"]
        ],
        "path_mtu_bytes": [
            (labels, float(path["largest"])) for labels, path in _paths(every) if path["largest"] is not None
        ],
        "throughput_bytes_per_second": list(_rates(every)),
        "checked_timestamp_seconds": [({}, now)],
    }
    lines = []
    for name, samples in families.items():
        lines += [f"# HELP {PREFIX}{name} {_HELP[name]}", f"# TYPE {PREFIX}{name} gauge"]
        for labels, value in samples:
            all_labels = {"environment": report.environment, **labels}
            text = ",".join(f'{key}="{_escaped(word)}"' for key, word in all_labels.items())
            lines.append(f"{PREFIX}{name}{{{text}}} {value:.12g}")
    return "\n".join([*lines, ""])


def write_metrics(path: Path, text: str) -> None:
    """Replace the file in one step: the collector reads no part of it, and reads files that end in .prom only."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(path)


def _rates(every: Sequence[HostFacts]) -> Iterator[Sample]:
    for facts in every:
        for received in facts.data.get("throughput", ()):
            if received.get("bytes") and received.get("seconds"):
                labels = {"host": facts.host.name, "sender": received["sender"]}
                yield labels, received["bytes"] / received["seconds"]


def _checks(report: LinkReport) -> Iterator[Sample]:
    for result in report.results:
        if result.status in _VALUES:
            yield (
                {"check": result.check, "host": result.host, "subject": result.subject},
                float(_VALUES[result.status]),
            )


def _faults(report: LinkReport) -> Iterator[Sample]:
    for cause in report.causes:
        yield {"cause": cause}, float(sum(result.cause == cause for result in report.results))


def _paths(every: Sequence[HostFacts]) -> Iterator[tuple[dict[str, str], Mapping[str, Any]]]:
    for facts in every:
        for path in facts.data.get("paths", ()):
            yield {"host": facts.host.name, "address": path["address"]}, path


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
