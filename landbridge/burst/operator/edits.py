"""Edits of the journal by an operator: single rows, beside the running daemon, which an order then wakes."""

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from landbridge.burst.journal.store import Store
from landbridge.burst.model import BurstPolicy, DecisionRecord, State

StateChange = Callable[[State], State]


class EditError(Exception):
    """There is nothing to change, or no such pool."""


def drain(policy: BurstPolicy, pool: str, why: str) -> StateChange:
    """Start no more nodes in a pool. Those that run stay as long as Slurm uses them."""
    _known(policy, pool)
    return lambda state: replace(state, drained={**state.drained, pool: why})


def undrain(pool: str) -> StateChange:
    """Start nodes in it again. The pool may have left the environment meanwhile."""

    def change(state: State) -> State:
        if pool not in state.drained:
            raise EditError(f"{pool} is not drained")
        return replace(state, drained={name: why for name, why in state.drained.items() if name != pool})

    return change


def reset_breaker(policy: BurstPolicy, pool: str) -> StateChange:
    """Forget what stopped a pool, and for how long its offerings were not to be asked."""
    _known(policy, pool)
    offering_keys = {offering.key for offering in policy.pools[pool].offerings}

    def change(state: State) -> State:
        if pool not in state.breakers and not offering_keys & set(state.insufficient_capacity):
            raise EditError(f"nothing stops {pool}: its breaker is closed, and no offering of it is dry")
        breakers = {name: breaker for name, breaker in state.breakers.items() if name != pool}
        insufficient_capacity = {
            key: shortage for key, shortage in state.insufficient_capacity.items() if key not in offering_keys
        }
        failures = {token: failure for token, failure in state.registration_failures.items() if failure.pool != pool}
        return replace(
            state, breakers=breakers, insufficient_capacity=insufficient_capacity, registration_failures=failures
        )

    return change


def edit(store: Store, wake: Path, change: StateChange, record: DecisionRecord) -> State:
    """Write the rows that change, with an order that makes the next pass look at them, and say who did it."""
    before = store.load()
    after = change(before)
    store.save(before, after)
    store.record([record])
    store.append("wake", (), {}, time.time())
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.setblocking(False)
        with contextlib.suppress(OSError):
            out.sendto(b"1", str(wake))
    return after


def _known(policy: BurstPolicy, pool: str) -> None:
    if pool not in policy.pools:
        raise EditError(f"no pool is called {pool}; there are {', '.join(sorted(policy.pools)) or 'none'}")
