"""Slurm's JSON as values of the model: what data parsers v0.0.39 to v0.0.45 (Slurm 23.02 to 26.05) write. Pure.

Source: Slurm's src/plugins/data_parser; what differs between them is how a number that may be unset or infinite is written,
whether a list of hosts is one string or many, and whether a state is a word or a list of words.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from landbridge.burst.model import SlurmJob, SlurmNode
from landbridge.hostlist import HostlistError, expand

Raw = Mapping[str, Any]
#: What is read of a job. The rest is large: every core of every node is an object of its own.
JOB_KEYS = frozenset(
    (
        *("jobs", "job_id", "job_state", "nodes", "partition", "account", "user_name", "wckey", "restart_cnt"),
        *("start_time", "time_limit", "het_job_id", "array_job_id", "node_count", "submit_time", "comment"),
        *("set", "infinite", "number"),
    )
)
#: Flags that say more than the base state beside them; the first that is there is the job's state.
_TELLING = ("CONFIGURING", "COMPLETING", "SUSPENDED")


def keeping(keep: frozenset[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return an object hook for json.loads that keeps only the keys in `keep`, so that the rest never fills memory."""
    return lambda rows: {key: value for key, value in rows.items() if key in keep}


def number(value: Any) -> int | None:
    """A number: plain, or with its flags; None when unset or infinite."""
    if isinstance(value, Mapping):
        usable = value.get("set", True) and not value.get("infinite", False)
        return int(value["number"]) if usable and "number" in value else None
    if isinstance(value, str):
        return int(value) if value.isdigit() else None
    return int(value) if isinstance(value, int | float) else None


def words(state: Any) -> list[str]:
    """Words of a state: a list, or one text such as IDLE+CLOUD."""
    parts = state if isinstance(state, list) else str(state or "").split("+")
    return [str(part).upper() for part in parts if part]


def hosts(value: Any) -> list[str]:
    """Return the hosts of a list of host lists; an item that cannot be read has none."""
    names: list[str] = []
    for text in value if isinstance(value, list) else [value]:
        try:
            names += expand(str(text)) if text else []
        except HostlistError:
            continue
    return names


def node_states_of(raw: Raw) -> dict[str, frozenset[str]]:
    """Nodes by `sinfo --json`: groups of equal nodes, one for each partition they are in."""
    states: dict[str, frozenset[str]] = {}
    for group in raw.get("sinfo") or raw.get("nodes") or []:
        state = frozenset(words((group.get("node") or {}).get("state")))
        states.update(dict.fromkeys(hosts((group.get("nodes") or {}).get("nodes")), state))
    return states


def nodes_of(raw: Raw) -> dict[str, SlurmNode]:
    """Nodes by `scontrol show node --json`."""
    return {node.name: node for node in map(_node, raw.get("nodes") or [])}


def _node(raw: Raw) -> SlurmNode:
    return SlurmNode(
        name=str(raw["name"]),
        states=frozenset(words(raw.get("state"))),
        reason=str(raw.get("reason") or ""),
        address=str(raw.get("address") or ""),
    )


def job_of(raw: Raw) -> SlurmJob:
    """A job of `squeue --json` or `scontrol show job --json`."""
    state = _job_state(raw.get("job_state"))
    start = number(raw.get("start_time")) or None
    pending = state == "PENDING"
    return SlurmJob(
        id=int(raw["job_id"]),
        state=state,
        nodes=() if pending else tuple(hosts(raw.get("nodes"))),
        partition=str(raw.get("partition") or ""),
        account=str(raw.get("account") or ""),
        user=str(raw.get("user_name") or ""),
        wckey=str(raw.get("wckey") or "").lstrip("*"),
        restarts=number(raw.get("restart_cnt")) or 0,
        started=None if pending or start is None else float(start),
        minutes=number(raw.get("time_limit")),
        het_job=number(raw.get("het_job_id")) or 0,
        array_job=number(raw.get("array_job_id")) or 0,
        wanted_nodes=(number(raw.get("node_count")) or 0) if pending else 0,
        submitted=_moment(raw.get("submit_time")),
        expected_start=_moment(raw.get("start_time")) if pending else None,
        comment=str(raw.get("comment") or ""),
    )


def _job_state(value: Any) -> str:
    flags = words(value)
    return next((word for word in _TELLING if word in flags), flags[0] if flags else "")


def _moment(value: Any) -> float | None:
    seconds = number(value)
    return float(seconds) if seconds else None


def active_host(raw: Raw) -> str | None:
    """The controller that answers first in Slurm's own order, by `scontrol ping --json`: a backup controls only when none before it does."""
    pings: Iterable[Raw] = raw.get("pings") or []
    up = [ping for ping in pings if _answers(ping)]
    order = {"primary": 0} | {f"backup{number}": number for number in range(1, 10)}
    up.sort(key=lambda ping: order.get(str(ping.get("mode", "")).lower(), 0 if ping.get("primary") else 1))
    return str(up[0].get("hostname") or "").partition(".")[0] if up else None


def _answers(ping: Raw) -> bool:
    if isinstance(ping.get("responding"), bool):
        return bool(ping["responding"])
    return str(ping.get("pinged", "")).upper() == "UP"
