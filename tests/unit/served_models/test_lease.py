"""Lease of two gateways over a tag without compare-and-set: two never lead at the same time, and one does soon."""

import heapq
import random
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

from landbridge.serving.follow.lease import EXPIRE_SECONDS, LEASE_SECONDS, SETTLE_SECONDS, LeaseState, stepped

#: Longest time of a request to MLflow (landbridge.serving.follow.daemon), and the pause between passes.
REQUEST, PAUSE, END = 10.0, 5.0, 900.0
Wait = Generator[float, None, None]


@dataclass
class Run:
    """Simulated time, the tag, and the intervals in which each gateway may decide."""

    random: random.Random
    now: float = 0.0
    tag: str = ""
    led: list[tuple[str, float, float]] = field(default_factory=list)

    def gateway(self, host: str, offset: float) -> Wait:
        """Make passes of a process that is sometimes stopped, and sometimes killed and started again."""
        while True:
            state = LeaseState()
            while self.random.random() > 0.02:
                began = self.now + offset
                if self.random.random() < 0.05:
                    yield self.random.uniform(0, 120)
                yield self.random.uniform(0, REQUEST / 4)
                tag = self.tag
                yield self.random.uniform(0, REQUEST / 4)
                lease_step = stepped(state, host, tag, began, self.now + offset)
                state = lease_step.state
                if self.random.random() < 0.05:
                    yield self.random.uniform(0, 120)
                if lease_step.text:
                    is_answered = self.random.random() > 0.1
                    yield self.random.uniform(0, REQUEST / 2)
                    if is_answered or self.random.random() < 0.5:
                        self.tag = lease_step.text
                    yield self.random.uniform(0, REQUEST / 4)
                    state = lease_step.written(self.now + offset) if is_answered else state
                now = self.now + offset
                if state.leads(now):
                    self.led.append((host, self.now, self.now + state.valid_until - now))
                pause = self.random.uniform(0.5, PAUSE)
                # The next read may end the lease earlier; that only shortens the interval.
                yield pause
            yield self.random.uniform(1, 200)


def simulated(seed: int) -> Run:
    run = Run(random.Random(seed))
    queue: list[tuple[float, int, Wait]] = []
    for number, host in enumerate(("gwm01", "gwm02")):
        heapq.heappush(queue, (0.0, number, run.gateway(host, offset=1e6 * number)))
    while queue and queue[0][0] < END:
        run.now, number, process = heapq.heappop(queue)
        heapq.heappush(queue, (run.now + next(process), number, process))
    return run


@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_two_gateways_never_lead_at_once(first: int) -> None:
    """A thousand runs of 15 minutes with stops of up to two minutes between any two operations, kills and lost answers."""
    hosts = set()
    for seed in range(first, first + 250):
        led = simulated(seed).led
        hosts |= {host for host, _, _ in led}
        assert led, "a gateway leads"
        for host, begin, end in led:
            for other, other_begin, other_end in led:
                assert host == other or end <= other_begin or other_end <= begin, (seed, host, begin, end, other_begin)
    assert hosts == {"gwm01", "gwm02"}


def test_the_other_gateway_leads_after_the_first_is_lost() -> None:
    first = LeaseState("gwm01 7", 0.0)
    step = stepped(first, "gwm02", "gwm01 7", EXPIRE_SECONDS - 1, EXPIRE_SECONDS)
    assert not step.text
    step = stepped(first, "gwm02", "gwm01 7", EXPIRE_SECONDS, EXPIRE_SECONDS + 1)
    assert step.text == "gwm02 8"
    claimed = step.written(EXPIRE_SECONDS + 2)
    assert not claimed.leads(EXPIRE_SECONDS + 2)
    settled = EXPIRE_SECONDS + 2 + SETTLE_SECONDS
    assert not stepped(claimed, "gwm02", "gwm02 8", settled - 1, settled).text
    step = stepped(claimed, "gwm02", "gwm02 8", settled, settled + 1)
    led = step.written(settled + 2)
    assert step.text == "gwm02 9" and led.leads(settled + LEASE_SECONDS - 1) and not led.leads(settled + LEASE_SECONDS)


def test_a_claim_settles_later_than_each_lease_ends() -> None:
    assert SETTLE_SECONDS > LEASE_SECONDS


def test_a_renewed_tag_is_left_alone() -> None:
    state = LeaseState()
    for number in range(40):
        step = stepped(state, "gwm02", f"gwm01 {number}", number * PAUSE, number * PAUSE)
        assert not step.text
        state = step.state


def test_a_claim_of_the_other_ends_a_lease() -> None:
    step = stepped(LeaseState("gwm01 3", 0.0, LEASE_SECONDS), "gwm01", "gwm02 4", 1.0, 1.0)
    assert not step.text and not step.state.leads(1.0)


@pytest.mark.parametrize("tag", ["", "gwm01", "gwm01 x", "gwm01 -1", " "])
def test_a_tag_of_another_form_is_free(tag: str) -> None:
    assert stepped(LeaseState(), "gwm02", tag, 0.0, 0.0).text == "gwm02 1"
