"""Judgement of Slurm: the queue and the nodes out of service. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from landbridge import hostlist
from landbridge.ops.nodes import ScontrolNode, node_rows, why
from landbridge.ops.status.facts import QueueFacts
from landbridge.ops.status.report import Judged, OperatorTask, StatusLine, duration

#: Cloud nodes without an instance, which Slurm powers up when a job needs them.
_POWERED_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN"})


def queue_judged(queue: QueueFacts, now: float) -> Judged:
    """Yield the numbers of jobs by state, with the reasons of pending ones."""
    running, pending = queue.states.get("RUNNING", 0), queue.states.get("PENDING", 0)
    words = [f"{running} running", f"{pending} pending"]
    words += [
        f"{n} {state.lower()}" for state, n in sorted(queue.states.items()) if state not in ("RUNNING", "PENDING")
    ]
    if queue.waits_since is not None:
        words.append(f"longest wait {duration(now - queue.waits_since)}")
    yield StatusLine("queue", "ok", ", ".join(words))
    if queue.reasons:
        ordered = sorted(queue.reasons.items(), key=lambda item: (-item[1], item[0]))
        yield StatusLine("queue", "ok", f"pending for: {', '.join(f'{reason} {number}' for reason, number in ordered)}")


def node_judged(environment: str, answer: Mapping[str, Any]) -> Judged:
    """Yield the nodes out of service by meaning, each with the remedy. `answer`: `scontrol show nodes --json`."""
    rows = node_rows(answer)
    out = [row for row in rows if row.withheld or _is_out(row)]
    yield StatusLine("nodes", "ok", f"{len(rows) - len(out)} of {len(rows)} in service")
    for meaning, (step, names) in _grouped(out).items():
        nodes = hostlist.compress(names)
        yield StatusLine("nodes", "attention", f"{nodes}: {meaning}")
        yield OperatorTask(2, f"{nodes}: {step}", f"landbridge node why '{nodes}' -s {environment}")


def _is_out(row: ScontrolNode) -> bool:
    states = set(row.state.split("+"))
    return bool(states & {"DRAIN", "DOWN", "FAIL"}) and not states & _POWERED_OFF


def _grouped(rows: Iterable[ScontrolNode]) -> dict[str, tuple[str, list[str]]]:
    """Return the step and the nodes of each meaning."""
    groups: dict[str, tuple[str, list[str]]] = {}
    for row in rows:
        explained = why(row)
        step = explained.step.replace(f" {row.name}", "")
        groups.setdefault(explained.meaning, (step, []))[1].append(row.name)
    return groups
