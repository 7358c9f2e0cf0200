"""Properties of every decision, for any observation and journal; and its speed."""

import itertools
import json
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.burst.model import (
    ActionOutcome,
    BurstPolicy,
    CommentJobs,
    Down,
    Ec2View,
    InsufficientCapacity,
    Launch,
    PoolPolicy,
    Renew,
    SlurmNode,
    SlurmOrder,
    SlurmView,
    State,
    Terminate,
)
from landbridge.burst.reconcile.core import reconcile
from tests.thorough import examples
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    OFF,
    RISING,
    at,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    of,
    offering,
    site,
    slurm,
    success,
)

GANG = slurm(job(1, "g-1", "g-2", "g-3"))
ICE = ActionOutcome("InsufficientInstanceCapacity", "none left")
LOST = ActionOutcome("ReadTimeoutError", "no answer")


# Properties of every decision.

STATES = st.sampled_from(
    [
        OFF,
        RISING,
        BUSY,
        ("IDLE", "CLOUD"),
        ("IDLE", "CLOUD", "POWERING_UP"),
        ("IDLE", "CLOUD", "POWERING_DOWN"),
        ("DOWN", "CLOUD"),
        ("DOWN", "CLOUD", "POWERED_DOWN"),
        ("IDLE", "CLOUD", "DRAIN"),
        ("UNKNOWN", "CLOUD"),
        (*BUSY, "NOT_RESPONDING"),
        (*BUSY, "POWER_DOWN"),
    ]
)
REASONS = st.sampled_from(["", "Not responding", "landbridge: GONE x", "ann looks"])
NAMES = [f"g-{n}" for n in range(1, 9)] + ["b-1", "b-2"]
ACCOUNTS = st.sampled_from(["lab", "lab", "poor", "ward", "nobody"])
CODES = st.sampled_from(
    [
        "",
        "",
        "InsufficientInstanceCapacity",
        "VcpuLimitExceeded",
        "RequestLimitExceeded",
        "NoCredentialsError",
        "ReadTimeoutError",
        "Nonsense",
    ]
)


@st.composite
def views(draw):
    nodes = [SlurmNode(name, frozenset(draw(STATES)), draw(REASONS)) for name in NAMES]
    jobs = []
    for id in range(1, draw(st.integers(0, 4)) + 1):
        mine = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
        state = draw(st.sampled_from(["CONFIGURING", "CONFIGURING", "RUNNING", "COMPLETING", "PENDING"]))
        started = draw(st.sampled_from([NOW - 5, NOW - 500, None]))
        minutes = draw(st.sampled_from([5, 600, None]))
        het = draw(st.sampled_from([0, 0, 0, 1]))
        jobs.append(
            job(
                id,
                *(() if state == "PENDING" else mine),
                state=state,
                account=draw(ACCOUNTS),
                started=started,
                minutes=minutes,
                het_job=het,
            )
        )
    return SlurmView(NOW, {entry.id: entry for entry in jobs}, {node.name: node for node in nodes})


@st.composite
def clouds(draw):
    instances = []
    for n in range(draw(st.integers(0, 6))):
        instances.append(
            instance(
                f"i-{n}",
                draw(st.sampled_from([*NAMES, "", "g-77"])),
                state=draw(st.sampled_from(["running", "pending", "shutting-down", "stopped"])),
                launched=NOW - draw(st.sampled_from([1, 60, 900, 9000])),
                token=draw(st.sampled_from(["", "t-1", "t-2", f"t-{n}"])),
                jobs=draw(st.sampled_from([(), (1,), (2,)])),
                lease=draw(st.sampled_from([None, NOW - 900, NOW + 60, NOW + 9000])),
                account=draw(st.sampled_from(["lab", "poor", ""])),
            )
        )
    return draw(st.sampled_from([None, Ec2View(NOW, tuple(instances)), Ec2View(NOW, tuple(instances))]))


@st.composite
def journals(draw):
    """Generate journals: attempts, outcomes and orders of earlier decisions."""
    kinds = st.sampled_from(["resume", "suspend", "resume-fail", "wake"])
    orders = tuple(
        SlurmOrder(
            n,
            draw(kinds),
            tuple(draw(st.lists(st.sampled_from(NAMES), max_size=3))),
            NOW - draw(st.sampled_from([900, 30, -30])),
        )
        for n in range(draw(st.integers(0, 2)))
    )
    decision = decide(draw(views()), draw(clouds()), State(orders=orders), now=NOW - 45)
    state = decision.state
    for action in decision.actions:
        code = draw(CODES)
        outcome = success(action) if isinstance(action, Launch) and not code else ActionOutcome(code)
        if draw(st.booleans()):
            state = end(replace(decision, state=state), action, outcome, now=NOW - 40)
    return state


@settings(max_examples=examples(100, 10_000), deadline=None)
@given(views(), clouds(), journals(), st.sampled_from([None, 50.0, 5000.0]), st.sampled_from([1, 500]))
def test_every_decision_keeps_its_invariants(view, cloud, state, cap, batch):
    policy = site(monthly_usd=cap, hard=cap is not None, launch_batch=batch)
    decision = decide(view, cloud, state, policy)
    assert decision == decide(view, cloud, state, policy)
    launches, downs = of(decision, Launch), [node for down in of(decision, Down) for node in down.nodes]
    nodes = [node for launch in launches for attempt in launch.attempts for node in attempt.nodes]
    # A node is started at most once, and not while it is given up.
    assert len(nodes) == len(set(nodes)) and len(downs) == len(set(downs)) and not set(nodes) & set(downs)
    if cloud is None:
        assert not launches and not of(decision, Terminate) and not of(decision, Renew)
    for launch in launches:
        started = {node for attempt in launch.attempts for node in attempt.nodes}
        assert set(launch.gang.nodes) == started and all("POWERING_UP" in view.nodes[node].states for node in started)
        assert all(launch.offering.key == attempt.offering for attempt in launch.attempts)
        for attempt in launch.attempts:
            assert decision.state.attempts[attempt.token] == attempt and attempt.ended is None
            assert attempt.token in decision.state.holds
        on_them = [
            entry
            for entry in view.jobs.values()
            if started & set(entry.nodes) and entry.state in ("CONFIGURING", "RUNNING")
        ]
        assert all(entry.account in ("lab", "poor") for entry in on_them)
        if launch.gang.all_or_nothing and not launch.repeated:
            alive = {item.node for item in cloud.instances if item.state in ("pending", "running")}
            alive |= {
                node for attempt in state.attempts.values() for node in attempt.instances
            }  # EC2 may not show them yet
            for entry in on_them:
                waiting = {n for n in entry.nodes if "POWERING_UP" in view.nodes[n].states}
                # The other nodes of the gang have their instances, or this pass starts them too.
                assert waiting <= set(nodes) | alive | set(downs) | set(started)
    if cap is not None and launches and all(not launch.repeated for launch in launches):
        assert sum(h.usd for h in decision.state.holds.values()) + sum(decision.state.spent.values()) <= cap + 1e-6
    for name, node in view.nodes.items():
        if node.reason == "ann looks" and node.states & {"DOWN", "DRAIN"}:
            # A node that an operator holds is not changed, but a hard cap still limits the renewal of its lease.
            codes = {down.code for down in of(decision, Down) if name in down.nodes}
            assert codes <= {"BUDGET"} or any(name in j.nodes for j in view.jobs.values())
    for action in of(decision, Terminate):
        assert len(set(action.instances)) == len(action.instances)
    for action in of(decision, CommentJobs):
        assert all(view.jobs[comment.job].state == "PENDING" for comment in action.comments)
    for down in of(decision, Down):
        assert all(not ended.is_requeued and set(ended.nodes) & set(down.nodes) for ended in down.ended_jobs)
    assert decision.next_pass is None or decision.next_pass > NOW
    json.dumps([record.details for record in decision.records])


@settings(max_examples=examples(50, 5_000), deadline=None)
@given(views(), clouds(), journals())
def test_a_crash_before_the_actions_repeats_the_same_launches(view, cloud, state):
    """Crash after the save of a decision: the next pass makes the same calls, and no others for these nodes."""
    first = decide(view, cloud, state)
    second = decide(at(view, NOW + 1), cloud and replace(cloud, at=NOW + 1), first.state, now=NOW + 1)
    decided = {a.token: a for launch in of(first, Launch) for a in launch.attempts}
    repeated = {a.token: a for launch in of(second, Launch) for a in launch.attempts}
    assert decided == {token: repeated.get(token) for token in decided}


def _calls_of_a_decision(count: int) -> list[int]:
    """Return the number of calls that a decision about `count` nodes makes, in three situations."""
    offerings = (offering(), offering("z", region="r-2"))
    policy = BurstPolicy("site", "r", {"gpu": PoolPolicy("gpu", "g-", count, offerings)}, site().accounts)
    names = [f"g-{n}" for n in range(1, count + 1)]
    jobs = {n: job(n, name, state="RUNNING") for n, name in enumerate(names, 1)}
    busy_view = SlurmView(NOW, jobs, {name: SlurmNode(name, frozenset(BUSY)) for name in names})
    cloud = ec2(*(instance(f"i-{n}", name, token=f"t-{n // 500}", lease=NOW + 60) for n, name in enumerate(names, 1)))
    starting_view = SlurmView(
        NOW,
        {n: job(n, name) for n, name in enumerate(names, 1)},
        {name: SlurmNode(name, frozenset(RISING)) for name in names},
    )
    counts = []
    for slurm_view, ec2_view in ((busy_view, cloud), (starting_view, ec2()), (slurm(), cloud)):
        calls = itertools.count()
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, argument, calls=calls: next(calls) if event.endswith("call") else None)
        try:
            decision = reconcile(slurm_view, ec2_view, State(), policy, NOW)
        finally:
            sys.setprofile(before)
        assert decision.actions
        counts.append(next(calls))
    return counts


def test_the_work_of_a_decision_grows_linearly_with_the_number_of_nodes():
    for small, large in zip(_calls_of_a_decision(500), _calls_of_a_decision(5_000), strict=True):
        assert large < 12 * small, (small, large)


def test_a_launch_record_has_the_rejected_offerings_and_the_cost():
    state = State(
        insufficient_capacity={"p5/a/on-demand": InsufficientCapacity(NOW + 60, 1, "InsufficientInstanceCapacity")}
    )
    (record,) = events(decide(GANG, ec2(), state), "launch")
    assert record.jobs == (1,) and record.usd == pytest.approx(3 * 10 * 71 / 60)
    assert record.details["offering"] == "p5/b/on-demand" and record.details["usd_hour"] == 10.0
    assert record.details["rejected"][0]["offering"] == "p5/a/on-demand"
