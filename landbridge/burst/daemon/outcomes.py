"""Decision records of finished actions. Pure."""

from collections.abc import Mapping
from itertools import zip_longest

from landbridge.burst.model import (
    Action,
    ActionOutcome,
    CommentJobs,
    DecisionRecord,
    Down,
    KeepNodes,
    Launch,
    PowerDown,
    PowerUp,
    Promote,
    ReadStatuses,
    RecordTopology,
    Renew,
    RequeueJobs,
    ResumeNodes,
    SetAddresses,
    Terminate,
)
from landbridge.hostlist import compress


def outcome_records(action: Action, outcome: ActionOutcome, now: float) -> tuple[DecisionRecord, ...]:
    """Return the record of a finished action; none for a successful one that is not a launch: its decision has a record."""
    if isinstance(action, Launch):
        gang, first = action.gang, action.attempts[0]
        details = {
            "offering": action.offering.key,
            "tokens": [attempt.token for attempt in action.attempts],
            "instances": dict(outcome.instances),
        }
        usd = sum(attempt.hold_usd for attempt in action.attempts)
        event = "not-launched" if outcome.code else "launched"
        return (
            DecisionRecord(
                now, event, gang.jobs, gang.nodes, first.pool, outcome.code, outcome.message, usd, details=details
            ),
        )
    if isinstance(action, RecordTopology) and outcome.network_paths:
        return _topology_records(action, outcome.network_paths, now)
    if isinstance(action, ReadStatuses) and outcome.code == action.failed:
        return ()  # reported before
    refusals = tuple(
        DecisionRecord(now, "not-terminated", code=code, text=f"{instance}: {message}")
        for instance, (code, message) in sorted(outcome.refused.items())
    )
    if not outcome.code:
        return refusals
    jobs, nodes, description = _description(action, outcome)
    return (
        *refusals,
        DecisionRecord(now, "failed", jobs, nodes, "", outcome.code, outcome.message, details={"action": description}),
    )


def _topology_records(action: RecordTopology, paths: Mapping[str, str], now: float) -> tuple[DecisionRecord, ...]:
    """Return a record for the nodes of each launch, by their jobs."""
    by_jobs: dict[tuple[int, ...], dict[str, str]] = {}
    for node, path in paths.items():
        by_jobs.setdefault(action.jobs.get(node, ()), {})[node] = path
    return tuple(_topology_record(jobs, paths_of_jobs, now) for jobs, paths_of_jobs in by_jobs.items())


def _topology_record(jobs: tuple[int, ...], paths: Mapping[str, str], now: float) -> DecisionRecord:
    """Return the record of network paths: the number of network nodes in each layer, and the nodes of each path."""
    by_path: dict[str, list[str]] = {}
    for node, path in paths.items():
        by_path.setdefault(path, []).append(node)
    layers = zip_longest(*(path.split("/") for path in by_path))
    counts = [len({network_node for network_node in layer if network_node}) for layer in layers]
    text = f"{len(paths)} nodes; network nodes by layer, from the top: {', '.join(map(str, counts))}"
    nodes_by_path = {path: compress(nodes) for path, nodes in sorted(by_path.items())}
    return DecisionRecord(now, "topology", jobs, tuple(paths), text=text, details={"network_paths": nodes_by_path})


def _description(action: Action, outcome: ActionOutcome) -> tuple[tuple[int, ...], tuple[str, ...], str]:
    name = type(action).__name__.lower()
    match action:
        case Down() | ResumeNodes() | PowerUp() | PowerDown() | KeepNodes():
            return (), action.nodes, name
        case ReadStatuses():
            return (), (), f"{name} {action.region}".rstrip()
        case RecordTopology():
            return (), tuple(action.instances), name
        case SetAddresses():
            return (), tuple(action.addresses), name
        case CommentJobs():
            return tuple(comment.job for comment in action.comments if comment.job not in outcome.jobs), (), name
        case RequeueJobs():
            return tuple(job.id for job in action.jobs), (), name
        case Promote():
            return (action.job,), (), name
        case Terminate() | Renew():
            return (), (), f"{name} {' '.join(action.instances)}"
    return (), (), name
