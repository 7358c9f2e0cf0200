"""Journal state after the end of a launch, by kind of outcome."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import (
    ActionOutcome,
    Backoff,
    CircuitBreaker,
    CommentJobs,
    Down,
    InsufficientCapacity,
    JobComment,
    Launch,
    Renew,
    SetAddresses,
    State,
    Terminate,
)
from landbridge.burst.reconcile.outcome_state import apply_outcome, jitter
from tests.unit.burst.situations import (
    NOW,
    at,
    decide,
    ec2,
    end,
    events,
    job,
    launched,
    of,
    offering,
    only_launch,
    site,
    slurm,
    success,
)

GANG = slurm(job(1, "g-1", "g-2"))
KEY = "p5/a/on-demand"


def ended(code, state=None, view=GANG, policy=None, **fields):
    decision = decide(view, ec2(), state, policy)
    return end(decision, only_launch(decision), ActionOutcome(code, "words", **fields), policy)


def attempt_of(state, key):
    return next(entry for entry in state.attempts.values() if entry.offering == key)


def attempt(state):
    (only_attempt,) = state.attempts.values()
    return only_attempt


@pytest.mark.parametrize("code", ["InsufficientInstanceCapacity", "VcpuLimitExceeded"])
def test_a_capacity_or_quota_error_is_noted_for_the_offering(code):
    state = ended(code)
    insufficient = state.insufficient_capacity[KEY]
    assert (insufficient.code, insufficient.tries) == (code, 1) and NOW + 96 <= insufficient.until <= NOW + 144
    assert attempt(state).code == code and attempt(state).ended == NOW and not state.holds and not state.breakers


def test_insufficient_capacity_for_a_gang_does_not_exclude_fewer_nodes():
    state = ended("InsufficientInstanceCapacity")
    assert state.insufficient_capacity[KEY].nodes == 2
    single = only_launch(decide(slurm(job(2, "g-5")), ec2(), state))
    assert single.offering.key == KEY
    larger = only_launch(decide(slurm(job(2, "g-5", "g-6", "g-7")), ec2(), state))
    assert larger.offering.key != KEY
    none = end(
        decide(slurm(job(2, "g-5")), ec2(), state), single, ActionOutcome("InsufficientInstanceCapacity", "words")
    )
    assert none.insufficient_capacity[KEY].nodes == 1


def test_a_partly_launched_batch_marks_the_offering_for_a_single_node():
    view = slurm(job(1, "g-1"), job(2, "g-2"))
    decision = decide(view, ec2())
    state = end(decision, only_launch(decision), ActionOutcome(instances={"g-1": "i-1"}, addresses={"g-1": "10.0.0.1"}))
    assert state.insufficient_capacity[KEY].nodes == 1


def test_the_time_of_insufficient_capacity_doubles_up_to_its_maximum():
    state, lengths = State(), []
    for _ in range(8):
        decision = decide(
            GANG,
            ec2(),
            State(
                insufficient_capacity={
                    key: InsufficientCapacity(NOW - 1, d.tries, d.code)
                    for key, d in state.insufficient_capacity.items()
                }
            ),
        )
        state = end(decision, only_launch(decision), ActionOutcome("InsufficientInstanceCapacity"))
        lengths.append(state.insufficient_capacity[KEY].until - NOW)
    # Doubling, with a jitter of one fifth.
    assert all(0.8 * 120 * 2**n <= length <= 1.2 * 120 * 2**n for n, length in enumerate(lengths[:4]))
    assert all(0.8 * 1800 <= length <= 1.2 * 1800 for length in lengths[4:])


@pytest.mark.parametrize("code", ["NoCredentialsError", "CredentialRetrievalError", "ExpiredToken", "AuthFailure"])
def test_missing_credentials_open_no_breaker_and_the_launch_is_repeated(code):
    state = ended(code)
    assert not state.breakers and not state.insufficient_capacity
    assert attempt(state).ended is None and state.holds and set(state.throttled_until.values()) == {NOW + 5}


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "ReadTimeoutError", "EndpointConnectionError"])
def test_an_attempt_with_an_unknown_result_stays_open(code):
    state = ended(code)
    assert (
        attempt(state).ended is None
        and state.holds
        and not state.insufficient_capacity
        and set(state.throttled_until.values()) == {NOW + 5}
    )


def test_a_configuration_error_excludes_its_offering_and_opens_no_breaker():
    state = ended("InvalidSubnetID.NotFound")
    refusal = state.insufficient_capacity[KEY]
    assert (refusal.code, refusal.nodes, refusal.until) == ("InvalidSubnetID.NotFound", 1, NOW + 600)
    assert attempt(state).ended == NOW and not state.holds and not state.breakers
    assert only_launch(decide(GANG, ec2(), state)).offering.key == "p5/b/on-demand"


def refused_at_every_offering(policy=None, now=NOW, state=None, code="InvalidLaunchTemplateId.NotFound"):
    """Return the journal state after rounds of a pass until nothing is launched, and the offerings in their order."""
    state, tried = state or State(), []
    while launches := of(decision := decide(at(GANG, now), ec2(at=now), state, policy, now), Launch):
        tried.append(launches[0].offering.key)
        state = end(decision, launches[0], ActionOutcome(code, "words"), policy, now)
    return decision, tried


def test_a_configuration_error_at_every_offering_opens_the_breaker_of_the_pool():
    decision, tried = refused_at_every_offering()
    assert tried == [KEY, "p5/b/on-demand", "p5e/b/on-demand"]
    breaker = decision.state.breakers["gpu"]
    assert (breaker.code, breaker.count, breaker.until) == ("InvalidLaunchTemplateId.NotFound", 1, NOW + 600)
    assert [(down.code, down.nodes) for down in of(decision, Down)] == [("CONFIG", ("g-1", "g-2"))]
    again, tried_again = refused_at_every_offering(
        now=NOW + 601, state=replace(decision.state, attempts={}, backoffs={})
    )
    assert tried_again == tried and again.state.breakers["gpu"].count == 2


def test_an_offering_that_is_not_open_yet_does_not_keep_the_breaker_closed():
    policy = site((offering("a"), offering("a", "p5", "capacity-block", opens=NOW + 900)))
    decision, tried = refused_at_every_offering(policy)
    assert tried == [KEY] and "gpu" in decision.state.breakers


def test_a_missing_service_linked_role_for_spot_leaves_on_demand_open():
    policy = site((offering("a", market="spot"), offering("b", market="spot"), offering("a")))
    state, tried = State(), []
    for outcome in (ActionOutcome("AuthFailure.ServiceLinkedRoleCreationNotPermitted"),) * 2 + (None,):
        launch = only_launch(decision := decide(GANG, ec2(), state, policy))
        tried.append(launch.offering.key)
        state = end(decision, launch, outcome or success(launch), policy)
    assert tried == ["p5/a/spot", "p5/b/spot", "p5/a/on-demand"] and not state.breakers
    assert attempt_of(state, "p5/a/on-demand").instances == {"g-1": "i-1", "g-2": "i-2"}


def test_offerings_refused_for_capacity_and_configuration_open_no_breaker():
    policy = site((offering("a"), offering("b", market="spot")))
    first = decide(GANG, ec2(), policy=policy)
    state = end(first, only_launch(first), ActionOutcome("InsufficientInstanceCapacity"), policy)
    second = decide(GANG, ec2(), state, policy)
    state = end(second, only_launch(second), ActionOutcome("UnauthorizedOperation"), policy)
    decision = decide(GANG, ec2(), state, policy)
    assert not state.breakers and [down.code for down in of(decision, Down)] == ["CAPACITY"]
    rejections = {entry["offering"]: entry["code"] for entry in events(decision, "exhausted")[0].details["rejected"]}
    assert rejections == {KEY: "CAPACITY", "p5/b/spot": "CONFIG"}


@pytest.mark.parametrize("code", ["IdempotentParameterMismatch", "IdempotentInstanceTerminated"])
def test_a_token_that_cannot_be_used_again_ends_the_attempt_and_opens_no_breaker(code):
    state = ended(code)
    assert attempt(state).ended == NOW and not state.breakers and not state.insufficient_capacity
    next_decision = decide(GANG, ec2(), state)
    assert only_launch(next_decision).attempts[0].token != attempt(state).token


def test_a_successful_launch_resets_capacity_breaker_and_backoff():
    before = State(
        insufficient_capacity={
            KEY: InsufficientCapacity(NOW - 1, 3, "x"),
            "other": InsufficientCapacity(NOW + 60, 1, "x"),
        },
        breakers={"gpu": CircuitBreaker("x", "", NOW - 900, 2, NOW - 1)},
        backoffs={1: Backoff(NOW + 9, 2, "CAPACITY", "x"), 2: Backoff(NOW + 9, 1, "CAPACITY", "x")},
    )
    decision = decide(GANG, ec2(), before)
    state = end(decision, only_launch(decision), success(only_launch(decision)))
    assert set(state.insufficient_capacity) == {"other"} and not state.breakers
    assert state.backoffs[1].reported and not state.backoffs[2].reported
    assert attempt(state).instances == {"g-1": "i-1", "g-2": "i-2"} and attempt(state).code == ""


def test_fewer_instances_than_a_gang_needs_is_no_success():
    state = ended("", instances={"g-1": "i-1"})
    assert attempt(state).code == "InsufficientInstanceCapacity" and state.insufficient_capacity
    # The instance that could not be terminated still costs.
    assert sum(hold.usd for hold in state.holds.values()) == pytest.approx(10 * 71 / 60)


def test_a_partly_launched_batch_keeps_its_instances():
    view = slurm(job(1, "g-1"), job(2, "g-2"))
    state = ended("", view=view, instances={"g-1": "i-1"})
    assert attempt(state).instances == {"g-1": "i-1"} and state.insufficient_capacity


def test_all_attempts_of_a_gang_end_together():
    policy = site(launch_batch=1)
    decision = decide(GANG, ec2(), policy=policy)
    launch = only_launch(decision)
    assert len(launch.attempts) == 2
    state = end(decision, launch, ActionOutcome("InsufficientInstanceCapacity"), policy)
    assert all(entry.ended == NOW and entry.code for entry in state.attempts.values()) and not state.holds
    state = end(decision, launch, ActionOutcome("ReadTimeoutError", instances={"g-1": "i-1"}), policy)
    assert all(entry.ended is None for entry in state.attempts.values()) and len(state.holds) == 2


def test_instances_that_are_terminated_because_another_call_was_refused_cost_until_then():
    policy = site(launch_batch=1)
    decision = decide(GANG, ec2(), policy=policy)
    launch = only_launch(decision)
    outcome = ActionOutcome("InsufficientInstanceCapacity", "words", terminated={"g-1": "i-1"})
    state = end(decision, launch, outcome, policy, NOW + 36)
    usd = 10.0 * 36 / 3600
    assert state.terminated_at == {"i-1": NOW + 36}
    assert sum(hold.usd for hold in state.holds.values()) == pytest.approx(usd)
    later, instances = NOW + 50, launched(launch, ActionOutcome(instances={"g-1": "i-1"}, addresses={"g-1": ""}))
    shown = ec2(*(replace(entry, state="shutting-down") for entry in instances), at=later)
    spent = decide(at(GANG, later), shown, state, policy, later).state.spent
    assert sum(spent.values()) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("action", "changed"),
    [
        (Terminate(("i-1",), "SUSPENDED"), State(terminated_at={"i-1": NOW})),
        (SetAddresses({"g-1": "10.0.0.1"}), State(node_addresses={"g-1": "10.0.0.1"})),
        (Renew(("i-1",), NOW), State()),
        (Down(("g-1",), "GONE", "x"), State()),
    ],
)
def test_a_successful_action_is_noted_and_a_failed_one_is_not(action, changed):
    assert apply_outcome(State(), action, ActionOutcome(), site(), NOW) == changed
    assert apply_outcome(State(), action, ActionOutcome("SLURM", "x"), site(), NOW) == State()


def test_a_backoff_is_reported_only_after_a_successful_comment():
    before = State(backoffs={1: Backoff(NOW, 1, "CAPACITY", "x")})
    action = CommentJobs((JobComment(1, "1", "x", None), JobComment(2, "2", "x", None)))
    after = apply_outcome(before, action, ActionOutcome(jobs=frozenset({1, 2})), site(), NOW)
    assert after == State(backoffs={1: Backoff(NOW, 1, "CAPACITY", "x", reported=True)})
    assert apply_outcome(before, action, ActionOutcome("SLURM", jobs=frozenset({2})), site(), NOW) == before
    assert apply_outcome(before, action, ActionOutcome("SLURM"), site(), NOW) == before


@given(st.text())
def test_jitter_is_within_a_fifth_and_deterministic(key):
    assert 0.8 <= jitter(key) <= 1.2 and jitter(key) == jitter(key)
