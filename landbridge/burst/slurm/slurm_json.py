"""Conversion of scontrol's JSON to values of the model, for data parsers v0.0.39 to v0.0.45 (Slurm 23.02 to 26.05). Pure.

Source: Slurm's src/plugins/data_parser. They differ in the form of a number that may be unset or infinite, of a list of
hosts (one string or several), and of a state (a word or a list of words).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from landbridge.burst.model import SlurmJob, SlurmNode
from landbridge.hostlist import HostlistError, expand

Raw = Mapping[str, Any]
#: Flags that are more specific than the base state; the first one that a job has is its state.
_STATE_FLAGS = ("CONFIGURING", "COMPLETING", "SUSPENDED")


def number(value: Any) -> int | None:
    """Return a number that is plain or has flags; None if it is unset or infinite."""
    if isinstance(value, Mapping):
        is_finite = value.get("set", True) and not value.get("infinite", False)
        return int(value["number"]) if is_finite and "number" in value else None
    if isinstance(value, str):
        return int(value) if value.isdigit() else None
    return int(value) if isinstance(value, int | float) else None


def words(state: Any) -> list[str]:
    """Return the words of a state, which is a list or one text such as IDLE+CLOUD."""
    parts = state if isinstance(state, list) else str(state or "").split("+")
    return [str(part).upper() for part in parts if part]


def hosts(value: Any) -> list[str]:
    """Return the hosts of a list of host lists; an unreadable item is omitted."""
    names: list[str] = []
    for text in value if isinstance(value, list) else [value]:
        try:
            names += expand(str(text)) if text else []
        except HostlistError:
            continue
    return names


def nodes_of(raw: Raw) -> dict[str, SlurmNode]:
    """Return the nodes from `scontrol show node --json`, by name."""
    return {node.name: node for node in map(_node, raw.get("nodes") or [])}


def _node(raw: Raw) -> SlurmNode:
    return SlurmNode(
        name=str(raw["name"]),
        states=frozenset(words(raw.get("state"))),
        reason=str(raw.get("reason") or ""),
        address=str(raw.get("address") or ""),
    )


def job_of(raw: Raw) -> SlurmJob:
    """Return a job from `scontrol show job --json`."""
    state = _job_state(raw.get("job_state"))
    start = number(raw.get("start_time")) or None
    is_pending = state == "PENDING"
    return SlurmJob(
        id=int(raw["job_id"]),
        state=state,
        nodes=() if is_pending else tuple(hosts(raw.get("nodes"))),
        partition=str(raw.get("partition") or ""),
        account=str(raw.get("account") or ""),
        user=str(raw.get("user_name") or ""),
        wckey=str(raw.get("wckey") or "").lstrip("*"),
        restarts=number(raw.get("restart_cnt")) or 0,
        started=None if is_pending or start is None else float(start),
        minutes=number(raw.get("time_limit")),
        het_job=number(raw.get("het_job_id")) or 0,
        array_job=number(raw.get("array_job_id")) or 0,
        wanted_nodes=(number(raw.get("node_count")) or 0) if is_pending else 0,
        eligible=_timestamp(raw.get("eligible_time")),
        expected_start=_timestamp(raw.get("start_time")) if is_pending else None,
        comment=str(raw.get("comment") or ""),
        array_task=number(raw.get("array_task_id")) if number(raw.get("array_job_id")) else None,
        is_batch=bool(raw.get("batch_flag", True)),
        may_requeue=bool(raw.get("requeue", True)),
    )


def _job_state(value: Any) -> str:
    flags = words(value)
    return next((word for word in _STATE_FLAGS if word in flags), flags[0] if flags else "")


def _timestamp(value: Any) -> float | None:
    seconds = number(value)
    return float(seconds) if seconds else None


def active_host(raw: Raw) -> str | None:
    """Return the host of the active controller from `scontrol ping --json`; None if none answers.

    It is the first one that answers, in Slurm's order: a backup is active only if no controller before it answers.
    """
    pings: Iterable[Raw] = raw.get("pings") or []
    up = [ping for ping in pings if _is_up(ping)]
    order = {"primary": 0} | {f"backup{number}": number for number in range(1, 10)}
    up.sort(key=lambda ping: order.get(str(ping.get("mode", "")).lower(), 0 if ping.get("primary") else 1))
    return str(up[0].get("hostname") or "").partition(".")[0] if up else None


def _is_up(ping: Raw) -> bool:
    if isinstance(ping.get("responding"), bool):
        return bool(ping["responding"])
    return str(ping.get("pinged", "")).upper() == "UP"
