"""Correction of the journal after a jump of the host's clock: an instance costs the time that has passed, not the jump, and
one that EC2 does not show yet is as old as it is."""

from dataclasses import replace

from landbridge.burst.model import HostClock, State

#: Smaller differences add up until they are a jump: a clock that NTP slews gains or loses at most 0.5 ms a second
#: (adjtimex(2)).
SMALLEST_JUMP_SECONDS = 1.0


def correct_holds(state: State, clock: HostClock) -> State:
    """Return the state with the times of its holds and of its launches' results moved by the jump of the clock since the
    last pass.

    Leases stay: their ends are times in tags, which AWS's own clock enforces. After a boot of the host, or on another
    host, no jump is known: EC2 refuses requests whose time is wrong by more than 15 minutes.
    """
    last = state.clock
    if last is None or last.boot != clock.boot:
        return replace(state, clock=clock)
    jump = clock.offset - last.offset
    if abs(jump) <= SMALLEST_JUMP_SECONDS:
        return replace(state, clock=replace(last, jump=0.0)) if last.jump else state
    holds = {
        key: replace(
            hold, since=hold.since + jump, registered=hold.registered + jump if hold.registered else hold.registered
        )
        for key, hold in state.holds.items()
    }
    attempts = {
        token: replace(attempt, ended=attempt.ended + jump) if attempt.ended is not None else attempt
        for token, attempt in state.attempts.items()
    }
    return replace(
        state,
        clock=replace(clock, jump=jump),
        attempts=attempts,
        holds=holds,
        terminated_at={instance: at + jump for instance, at in state.terminated_at.items()},
        charged_until={instance: at + jump for instance, at in state.charged_until.items()},
    )
