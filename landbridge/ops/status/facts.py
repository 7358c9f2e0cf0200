"""Facts of the state, parsed from the output of programs. Pure; an output that cannot be read raises ValueError."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

#: Reasons of jobs that wait because their user or an operator requested it. Source: squeue(1), "JOB REASON CODES".
BY_WISH = frozenset({"JobHeldUser", "JobHeldAdmin", "Dependency", "BeginTime"})
PREFIX = "landbridge_burst_"
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_PERIODIC = re.compile(r"^(.+)-periodic-[^/]*\.dump$")
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """Jobs of the queue: numbers by state, numbers of pending ones by reason, and when the longest wait began."""

    states: Mapping[str, int]
    reasons: Mapping[str, int]
    waits_since: float | None


@dataclass(frozen=True, slots=True)
class DumpFacts:
    """Newest periodic dump of a database: time and size in bytes."""

    database: str
    at: float
    size: int


@dataclass(frozen=True, slots=True)
class BurstSamples:
    """Samples of the burst controller's metrics, by name without prefix."""

    samples: Mapping[str, tuple[tuple[Labels, float], ...]]

    def value(self, name: str) -> float | None:
        """Return the value of a metric without labels; None if it is absent."""
        return next((value for _, value in self.samples.get(name, ())), None)

    def sum(self, name: str, **labels: str) -> float:
        """Return the sum of the samples with these labels."""
        wanted = labels.items()
        return sum(value for given, value in self.samples.get(name, ()) if wanted <= given.items())

    def labels(self, name: str) -> tuple[Labels, ...]:
        """Return the labels of the samples that are not 0."""
        return tuple(given for given, value in self.samples.get(name, ()) if value)


def queue_facts(text: str) -> QueueFacts:
    """Return the queue from squeue's lines STATE|REASON|SUBMISSION."""
    states, reasons = Counter[str](), Counter[str]()
    since: list[float] = []
    for line in text.splitlines():
        state, _, rest = line.partition("|")
        reason, _, submitted = rest.rpartition("|")
        states[state] += 1
        if state == "PENDING":
            reasons[reason] += 1
            if reason not in BY_WISH and submitted.isdigit():
                since.append(float(submitted))
    return QueueFacts(states, reasons, min(since, default=None))


def burst_samples(text: str) -> BurstSamples:
    """Return the samples of the burst controller in OpenMetrics text."""
    samples: dict[str, list[tuple[Labels, float]]] = {}
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match and match[1].startswith(PREFIX):
            samples.setdefault(match[1].removeprefix(PREFIX), []).append(
                (dict(_LABEL.findall(match[2] or "")), float(match[3]))
            )
    if "last_pass_timestamp_seconds" not in samples:
        raise ValueError("no pass has ended yet")
    return BurstSamples({name: tuple(values) for name, values in samples.items()})


def dump_facts(text: str) -> tuple[DumpFacts, ...]:
    """Return the newest dump of each database, from lines TIME SIZE FILE."""
    newest: dict[str, DumpFacts] = {}
    for line in text.splitlines():
        at, size, name = line.split(" ", 2)
        match = _PERIODIC.match(name)
        if match is None:
            raise ValueError(f"{name} is not a dump's name")
        dump = DumpFacts(match[1], float(at), int(size))
        newest[dump.database] = max(dump, newest.get(dump.database, dump), key=lambda item: item.at)
    return tuple(newest[name] for name in sorted(newest))


def certificate_end(text: str) -> float:
    """Return the end of a certificate, from openssl's line notAfter=2027-01-01 00:00:00Z."""
    words = text.strip().removeprefix("notAfter=").removesuffix("Z")
    return datetime.fromisoformat(words).replace(tzinfo=UTC).timestamp()


def failed_units(text: str) -> tuple[str, ...]:
    """Return the names of units that systemd lists."""
    return tuple(line.split()[0] for line in text.splitlines() if line.strip())
