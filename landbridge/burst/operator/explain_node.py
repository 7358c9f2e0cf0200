"""Explanation of a node of a pool: its state, its launch, announcements of EC2, its keep, and the latest decisions. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from landbridge.burst.model import BurstPolicy, CloudInstance, DecisionRecord, SlurmView, State
from landbridge.burst.operator.explain import ADVICE, ExplanationPoint, record_pool
from landbridge.burst.operator.status import node_notice
from landbridge.burst.reconcile.node_states import is_set_by_operator
from landbridge.timestamps import iso

#: Decision records that are searched for those of the node, and how many of them are shown.
RECORDS, SHOWN = 10_000, 20
UNKNOWN = "no pool has this node"


@dataclass(frozen=True, slots=True)
class NodeExplanation:
    """Explanation of a node: its state now, its latest decisions (oldest first) and advice; `known`: a pool has it."""

    node: str
    known: bool
    now: tuple[ExplanationPoint, ...]
    before: tuple[ExplanationPoint, ...]
    do: tuple[str, ...]


def explain_node(
    name: str, view: SlurmView, state: State, policy: BurstPolicy, records: Sequence[DecisionRecord]
) -> NodeExplanation:
    """Return the explanation of a node by Slurm and the journal, without a call of AWS."""
    records_of_node = [record for record in records if name in record.nodes][-SHOWN:]
    is_known = name in view.nodes and policy.pool_of(name) is not None
    if not is_known:
        return NodeExplanation(name, False, (), (), (UNKNOWN,))
    past = tuple(
        ExplanationPoint(record.event, record.text, iso(record.at), record.code, record.usd)
        for record in records_of_node
    )
    codes = (
        [records_of_node[-1].code] if records_of_node and records_of_node[-1].event in ("down", "power-down") else []
    )
    advice = [ADVICE[code].replace("POOL", record_pool(records_of_node)) for code in codes if code in ADVICE]
    return NodeExplanation(name, True, tuple(_present(name, view, state, policy)), past, tuple(advice))


def _present(name: str, view: SlurmView, state: State, policy: BurstPolicy) -> Iterator[ExplanationPoint]:
    node = view.nodes[name]
    reason = f": {node.reason}" if node.reason else ""
    yield ExplanationPoint("node", f"{'+'.join(sorted(node.states)).lower()}{reason}")
    if is_set_by_operator(node):
        yield ExplanationPoint(
            "operator", "an operator has drained it or set it down: the controller does not change it"
        )
    for job in view.jobs.values():
        if name in job.nodes:
            yield ExplanationPoint("job", f"{job.id} {job.state.lower()}, account {job.account or '(none)'}")
    attempts = [attempt for attempt in state.attempts.values() if name in attempt.instances]
    launch = max(attempts, key=lambda attempt: attempt.created_at, default=None)
    offerings = {offering.key: offering for pool in policy.pools.values() for offering in pool.offerings}
    instance = None
    if launch is not None:
        id_, offering = launch.instances[name], offerings.get(launch.offering)
        yield ExplanationPoint("instance", f"{id_} at {launch.offering}", iso(launch.created_at), usd=launch.usd_hour)
        if offering is not None:
            instance = CloudInstance(
                *(id_, name, "running", "", offering.subnet, offering.instance_type, offering.market),
                launched=launch.created_at,
                token=launch.token,
            )
    if notice := node_notice(name, instance, state, policy):
        yield ExplanationPoint("announced", notice)
