"""Situations for tests of the pure core: a small policy, and short constructors of Slurm and EC2 views."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from landbridge.burst.model import (
    AccountPolicy,
    Action,
    ActionOutcome,
    BurstPolicy,
    CloudInstance,
    DecisionRecord,
    Ec2View,
    Launch,
    Offering,
    PoolPolicy,
    ReadStatuses,
    ReconcileDecision,
    SlurmJob,
    SlurmNode,
    SlurmView,
    State,
)
from landbridge.burst.reconcile.core import reconcile
from landbridge.burst.reconcile.outcome_state import apply_outcome

NOW = 1_800_000_000.0  # 2027-01-15
RISING = ("ALLOCATED", "CLOUD", "POWERING_UP", "NOT_RESPONDING")
WARMING = ("IDLE", "CLOUD", "POWERING_UP", "NOT_RESPONDING")
OFF = ("IDLE", "CLOUD", "POWERED_DOWN")
LEAVING = ("IDLE", "CLOUD", "POWERING_DOWN")
BUSY = ("ALLOCATED", "CLOUD")
IDLE = ("IDLE", "CLOUD")


def offering(
    zone: str = "a", type: str = "p5", market: Any = "on-demand", usd: float | None = 10.0, **fields: Any
) -> Offering:
    key = fields.pop("key", f"{type}/{zone}/{market}")
    kind = fields.pop("kind", {"spot": "spot", "capacity-block": "capacity_block"}.get(market, "on_demand"))
    return Offering(key, kind, type, f"subnet-{zone}", zone, market, "lt-1", "1", usd_hour=usd, **fields)


OFFERINGS = (offering("a"), offering("b"), offering("b", "p5e", usd=12.0))


def site(offerings: tuple[Offering, ...] = OFFERINGS, size: int = 8, **settings: Any) -> BurstPolicy:
    pools = {
        "gpu": PoolPolicy("gpu", "g-", size, offerings, resume_timeout=600.0, boot_seconds=60.0),
        "big": PoolPolicy("big", "b-", 4, (offering("a", "p4d", usd=20.0),), resume_timeout=600.0, boot_seconds=60.0),
    }
    accounts = {
        "lab": AccountPolicy("lab", "internal", True),
        "poor": AccountPolicy("poor", "internal", True, monthly_usd=100.0, hard=True),
        "ward": AccountPolicy("ward", "patients", False),
    }
    defaults: dict[str, Any] = {
        "cluster": "site",
        "region": "r",
        "pools": pools,
        "accounts": accounts,
        "lease_minutes": 20.0,
        "grace_minutes": 10.0,
        "orphan_seconds": 120.0,
        "settle_seconds": 90.0,
    }
    return BurstPolicy(**{**defaults, **settings})


def job(id: int, *nodes: str, state: str = "CONFIGURING", account: str = "lab", **fields: Any) -> SlurmJob:
    fields = {"started": NOW - 5, "minutes": 60, **fields}
    return SlurmJob(id, state, nodes, "gpu", account, "ann", **fields)


def slurm(
    *jobs: SlurmJob, states: dict[str, Iterable[str]] | None = None, at: float = NOW, nodes: Iterable[SlurmNode] = ()
) -> SlurmView:
    """Return a view in which nodes of jobs are powering up (or busy), and all others are off, unless `states` says
    otherwise."""
    known = {
        f"{prefix}{n}": SlurmNode(f"{prefix}{n}", frozenset(OFF))
        for prefix, size in (("g-", 8), ("b-", 4))
        for n in range(1, size + 1)
    }
    for member in jobs:
        for name in member.nodes:
            known[name] = SlurmNode(name, frozenset(RISING if member.state == "CONFIGURING" else BUSY))
    for name, words in (states or {}).items():
        known[name] = SlurmNode(name, frozenset(words))
    known |= {node.name: node for node in nodes}
    return SlurmView(at, {member.id: member for member in jobs}, known)


def instance(id: str, node: str, **fields: Any) -> CloudInstance:
    fields = {
        "state": "running",
        "address": f"10.0.0.{id[-1]}",
        "subnet": "subnet-a",
        "type": "p5",
        "market": "on-demand",
        "launched": NOW - 2,
        "pool": "gpu",
        "token": f"token-{id}",
        "account": "lab",
        "lease": NOW + 7200,
        **fields,
    }
    return CloudInstance(id, node, **fields)


def ec2(*instances: CloudInstance, at: float = NOW) -> Ec2View:
    return Ec2View(at, instances)


def of(decision: ReconcileDecision, kind: type[Any]) -> list[Any]:
    return [action for action in decision.actions if isinstance(action, kind)]


def changes_of(decision: ReconcileDecision) -> list[Action]:
    """Return the actions that change something in Slurm or EC2: without reads of instances' statuses."""
    return [action for action in decision.actions if not isinstance(action, ReadStatuses)]


def events(decision: ReconcileDecision, event: str) -> list[DecisionRecord]:
    return [record for record in decision.records if record.event == event]


def only_launch(decision: ReconcileDecision) -> Launch:
    (launch,) = of(decision, Launch)
    assert isinstance(launch, Launch)
    return launch


def success(launch: Launch, first: int = 1) -> ActionOutcome:
    nodes = [node for attempt in launch.attempts for node in attempt.nodes]
    return ActionOutcome(
        instances={node: f"i-{first + n}" for n, node in enumerate(nodes)},
        addresses={node: f"10.1.0.{first + n}" for n, node in enumerate(nodes)},
    )


def launched(launch: Launch, outcome: ActionOutcome, at: float = NOW, **fields: Any) -> tuple[CloudInstance, ...]:
    """Return the instances of a launch as EC2 describes them."""
    return tuple(
        instance(
            outcome.instances[node],
            node,
            address=outcome.addresses[node],
            subnet=launch.offering.subnet,
            type=launch.offering.instance_type,
            market=launch.offering.market,
            launched=at,
            pool=attempt.pool,
            token=attempt.token,
            jobs=attempt.jobs,
            account=attempt.account,
            lease=attempt.lease,
            **fields,
        )
        for attempt in launch.attempts
        for node in attempt.nodes
        if node in outcome.instances
    )


def decide(
    view: SlurmView,
    cloud: Ec2View | None = None,
    state: State | None = None,
    policy: BurstPolicy | None = None,
    now: float = NOW,
) -> ReconcileDecision:
    return reconcile(view, cloud, state or State(), policy or site(), now)


def end(
    decision: ReconcileDecision,
    action: Action,
    outcome: ActionOutcome,
    policy: BurstPolicy | None = None,
    now: float = NOW,
) -> State:
    """Return the journal state after one action of the decision has ended."""
    return apply_outcome(decision.state, action, outcome, policy or site(), now)


def at(view: SlurmView, now: float) -> SlurmView:
    return replace(view, at=now)
