"""Number of hosts by load: bounds, capacity, no fall inside a window, and starts from zero."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from landbridge.serving.follow.scale import START_SECONDS, TARGET_SHARE, ScalePlan, ScaleState, ServiceLoad, scaled

PLAN = ScalePlan(least=0, most=8, host_rate=10.0, idle_seconds=600.0)
STEP = 5.0

plans = st.builds(
    lambda least, more, rate, idle: ScalePlan(least, least + more, rate, idle),
    st.integers(0, 4),
    st.integers(1, 8),
    st.floats(0.1, 1000),
    st.floats(60, 3600),
)
loads = st.builds(
    lambda at, rate, waiting, more: ServiceLoad(at, rate, waiting + more, waiting),
    st.floats(0, 1e7),
    st.none() | st.floats(0, 1e5),
    st.integers(0, 300),
    st.integers(0, 300),
)
states = st.builds(ScaleState, st.integers(0, 20), st.floats(0, 1e7), st.integers(0, 20), st.floats(0, 1e7))


def look(at: float, rate: float | None = 0.0, waiting: int = 0) -> ServiceLoad:
    """Return a load."""
    return ServiceLoad(at, rate, waiting, waiting)


@given(plans, states, loads, st.integers(0, 20), st.booleans())
def test_bounds_and_capacity_hold_after_each_step(
    plan: ScalePlan, before: ScaleState, load: ServiceLoad, ready: int, is_changing: bool
) -> None:
    after = scaled(plan, before, load, ready, is_changing=is_changing)
    assert plan.least <= after.hosts <= plan.most
    enough = after.hosts * plan.host_rate * TARGET_SHARE >= (load.rate or 0.0) * (1 - 1e-9)
    assert enough or after.hosts == plan.most or load.rate is None
    if load.waiting or (is_changing and load.rate is not None):
        assert after.hosts >= 1


@given(plans, st.lists(st.tuples(st.floats(0.1, 120), st.floats(0, 1e4)), min_size=1, max_size=60))
def test_the_number_falls_only_to_the_greatest_need_of_a_whole_window(
    plan: ScalePlan, steps: list[tuple[float, float]]
) -> None:
    state, at, seen = ScaleState(plan.most), 0.0, [(0.0, plan.most)]
    for seconds, rate in steps:
        at += seconds
        after = scaled(plan, state, look(at, rate), state.hosts)
        needed = scaled(plan, ScaleState(plan.least), look(at, rate), plan.least).hosts
        seen.append((at, needed))
        if after.hosts < state.hosts:
            window = [need for when, need in seen if when > at - plan.idle_seconds]
            assert after.hosts >= max(window)
        state = after


def test_a_load_that_swings_inside_the_window_changes_nothing_after_the_first_rise() -> None:
    state, numbers = ScaleState(0), []
    for turn in range(2000):
        state = scaled(PLAN, state, look(turn * STEP, 40.0 if turn % 60 < 2 else 1.0), state.hosts)
        numbers.append(state.hosts)
    assert numbers == [5] * 2000


def test_without_load_the_number_is_zero_after_one_window_and_a_start() -> None:
    state, turn = ScaleState(8, since=0.0), 0
    while state.hosts:
        turn += 1
        state = scaled(PLAN, state, look(turn * STEP), state.hosts)
    assert turn * STEP <= PLAN.idle_seconds + 2 * STEP


@given(st.floats(-1e6, 1e6))
def test_a_clock_that_is_set_delays_a_fall_by_one_window_at_most(jump: float) -> None:
    state = scaled(PLAN, ScaleState(3), look(2e6), 3)
    begin = 2e6 + jump
    for turn in range(int(PLAN.idle_seconds / STEP) + 2):
        state = scaled(PLAN, state, look(begin + turn * STEP), 3)
    assert state.hosts == 0


def test_requests_that_wait_start_one_host_and_the_next_one_only_after_it() -> None:
    state = scaled(PLAN, ScaleState(0), look(1000.0, 0.0, waiting=50), ready=0)
    assert state.hosts == 1
    for at in (1005.0, 1060.0, 1000.0 + START_SECONDS - 1):
        state = scaled(PLAN, state, look(at, 0.0, waiting=50), ready=0)
        assert state.hosts == 1, "the first one starts"
    assert scaled(PLAN, state, look(1061.0, 0.0, waiting=50), ready=1).hosts == 2, "one is not enough"
    assert scaled(PLAN, state, look(1000.0 + START_SECONDS, 0.0, waiting=50), ready=0).hosts == 2, (
        "the first one is lost"
    )


def test_a_start_from_zero_is_measured() -> None:
    state = scaled(PLAN, ScaleState(0), look(100.0, 0.0, waiting=1), ready=0)
    state = scaled(PLAN, state, look(105.0, 0.2, waiting=2), ready=0)
    assert state.cold_at == 100.0 and state.cold_seconds == 0.0
    state = scaled(PLAN, state, look(112.5, 0.2), ready=1)
    assert (state.cold_at, state.cold_seconds) == (0.0, 12.5)
    assert scaled(PLAN, state, look(120.0, 0.2), ready=1).cold_seconds == 12.5


def test_the_first_look_of_a_process_stops_nothing() -> None:
    before = ScaleState(4, since=0.0, peak=0)
    assert scaled(PLAN, before, look(1e6, None), 4).hosts == 4
    assert scaled(PLAN, replace(before, hosts=0), look(1e6, None, waiting=1), 0).hosts == 1
