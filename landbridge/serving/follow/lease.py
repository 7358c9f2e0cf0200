"""Lease of a service's decisions between two gateways, in a tag of the registered model. Pure.

MLflow has no compare-and-set. A gateway writes its claim, and leads if the claim is still there after SETTLE_SECONDS: longer than each lease
that was renewed before the claim, whose own time ends LEASE_SECONDS after the beginning of the pass that renewed it. So a gateway that was
stopped between any two operations decides nothing when it goes on (Fischer's algorithm; Lamport, A fast mutual exclusion algorithm, 1987).
Times are of a gateway's own clock since its start.
"""

from dataclasses import dataclass, replace
from math import inf

#: Tag of the registered model.
LEASE_TAG = "landbridge.serving.lease"
#: Longest time of a lease without a renewal; of the tag without a change until another gateway claims it; and of a claim until it
#: counts. Landbridge's choice; the third must be more than the first.
LEASE_SECONDS, EXPIRE_SECONDS, SETTLE_SECONDS = 20.0, 20.0, 25.0


@dataclass(frozen=True, slots=True)
class LeaseState:
    """State of a gateway: the tag that it saw last and since when, the end of its own lease, and the time of its claim."""

    seen: str = ""
    seen_at: float = inf
    valid_until: float = -inf
    claimed_at: float = inf

    def leads(self, now: float) -> bool:
        """Return whether the gateway may decide."""
        return now < self.valid_until


@dataclass(frozen=True, slots=True)
class LeaseStep:
    """Step: the state, the text to write into the tag (empty: none), and the end of the lease if this text renews it."""

    state: LeaseState
    text: str = ""
    valid_until: float = -inf

    def written(self, now: float) -> LeaseState:
        """Return the state after the text was written, at `now`."""
        is_renewal = self.valid_until > -inf
        return LeaseState(self.text, now, self.valid_until, inf if is_renewal else now)


def stepped(before: LeaseState, host: str, tag: str, began: float, read_at: float) -> LeaseStep:
    """Return the step of a gateway that read the tag after `began` and until `read_at`.

    A tag is unchanged from the end of its first reading to the beginning of the last one. A claim counts from the end of its writing.
    """
    state = before if tag == before.seen and before.seen_at < inf else replace(before, seen=tag, seen_at=read_at)
    holder, number = _parse(tag)
    text = f"{host} {number + 1}"
    if holder != host:
        state = replace(state, valid_until=-inf, claimed_at=inf)
        is_free = not holder or began - state.seen_at >= EXPIRE_SECONDS
        return LeaseStep(state, text if is_free else "")
    if state.claimed_at < inf:
        is_settled = began - state.claimed_at >= SETTLE_SECONDS
        return LeaseStep(state, text, began + LEASE_SECONDS) if is_settled else LeaseStep(state)
    if began < state.valid_until:
        return LeaseStep(state, text, began + LEASE_SECONDS)
    # A new process, a claim without an answer, or a gateway that was stopped for longer than its lease.
    return LeaseStep(replace(state, valid_until=-inf), text)


def _parse(tag: str) -> tuple[str, int]:
    holder, _, number = tag.partition(" ")
    return (holder, int(number)) if number.isascii() and number.isdigit() else ("", 0)
