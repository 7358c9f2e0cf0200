"""What a person tells the controller: written into the journal beside it, one row at a time; the daemon is woken by an order."""

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from landbridge.burst.journal.store import Store
from landbridge.burst.model import Policy, Record, State
from landbridge.burst.reconcile import registration as boots

Change = Callable[[State], State]


class EditError(Exception):
    """There is nothing to change, or no such pool."""


def drain(policy: Policy, pool: str, why: str) -> Change:
    """Start no more nodes in a pool. Those that run stay as long as Slurm uses them."""
    _known(policy, pool)
    return lambda state: replace(state, drained={**state.drained, pool: why})


def undrain(pool: str) -> Change:
    """Start nodes in it again. The pool may have left the environment meanwhile."""

    def change(state: State) -> State:
        if pool not in state.drained:
            raise EditError(f"{pool} is not drained")
        return replace(state, drained={name: why for name, why in state.drained.items() if name != pool})

    return change


def reset_breaker(policy: Policy, pool: str) -> Change:
    """Forget what stopped a pool, and for how long its places were not to be asked."""
    _known(policy, pool)
    own = {place.key for place in policy.pools[pool].places}

    def change(state: State) -> State:
        if pool not in state.breakers and not own & set(state.droughts):
            raise EditError(f"nothing stops {pool}: its breaker is closed, and no place of it is dry")
        breakers = {name: breaker for name, breaker in state.breakers.items() if name != pool}
        droughts = {key: drought for key, drought in state.droughts.items() if key not in own}
        suspects = {key: at for key, at in state.suspects.items() if not key.startswith(boots.prefix(pool))}
        return replace(state, breakers=breakers, droughts=droughts, suspects=suspects)

    return change


def edit(store: Store, wake: Path, change: Change, record: Record) -> State:
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


def _known(policy: Policy, pool: str) -> None:
    if pool not in policy.pools:
        raise EditError(f"no pool is called {pool}; there are {', '.join(sorted(policy.pools)) or 'none'}")
