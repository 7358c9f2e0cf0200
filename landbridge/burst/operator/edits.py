"""Edits of single journal rows by an operator while the daemon runs; an order then wakes the daemon."""

import contextlib
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from landbridge.burst.journal.store import Store
from landbridge.burst.model import MAX_KEEP_SECONDS, BurstPolicy, DecisionRecord, NodeKeep, SlurmNode, State
from landbridge.burst.reconcile.node_states import is_asked_to_power_down, is_powering_up, is_up
from landbridge.hostlist import compress

StateChange = Callable[[State], State]


class EditError(Exception):
    """Edit that has nothing to change, or whose pool does not exist."""


def drain(policy: BurstPolicy, pool: str, why: str) -> StateChange:
    """Return the change that drains a pool: it launches no nodes. Running nodes stay as long as Slurm uses them."""
    _require_pool(policy, pool)
    return lambda state: replace(state, drained={**state.drained, pool: why})


def undrain(pool: str) -> StateChange:
    """Return the change that lets a pool launch nodes again. The pool may have been removed from the environment."""

    def change(state: State) -> State:
        if pool not in state.drained:
            raise EditError(f"{pool} is not drained")
        return replace(state, drained={name: why for name, why in state.drained.items() if name != pool})

    return change


def reset_breaker(policy: BurstPolicy, pool: str) -> StateChange:
    """Return the change that closes a pool's circuit breaker and clears the insufficient capacity of its offerings."""
    _require_pool(policy, pool)
    offering_keys = {offering.key for offering in policy.pools[pool].offerings}

    def change(state: State) -> State:
        if pool not in state.breakers and not offering_keys & set(state.insufficient_capacity):
            raise EditError(
                f"{pool} needs no reset: its circuit breaker is closed, and no offering has insufficient capacity"
            )
        breakers = {name: breaker for name, breaker in state.breakers.items() if name != pool}
        insufficient_capacity = {
            key: shortage for key, shortage in state.insufficient_capacity.items() if key not in offering_keys
        }
        failures = {token: failure for token, failure in state.registration_failures.items() if failure.pool != pool}
        return replace(
            state, breakers=breakers, insufficient_capacity=insufficient_capacity, registration_failures=failures
        )

    return change


def keep(policy: BurstPolicy, nodes: Mapping[str, SlurmNode], names: Sequence[str], new: NodeKeep) -> StateChange:
    """Return the change that keeps nodes up until a time. `nodes`: the nodes of the pools in Slurm.

    Raises EditError with all nodes that cannot be kept: without a pool, or without an instance.
    """
    if not 0 < new.until - new.since <= MAX_KEEP_SECONDS:
        raise EditError(
            f"a node is kept for at most {MAX_KEEP_SECONDS / 86_400:.0f} days; longer is the pool's `min_nodes`"
        )
    unknown = [name for name in names if policy.pool_of(name) is None or name not in nodes]
    off = [name for name in names if name not in unknown and not _has_instance(nodes[name])]
    faults = [f"no pool has {compress(unknown)}"] * bool(unknown)
    faults += [
        f"{compress(off)}: not up; `scontrol update nodename={compress(off)} state=power_up` starts a node"
    ] * bool(off)
    if faults or not names:
        raise EditError("; ".join(faults) or "no node is named")
    return lambda state: replace(state, keeps={**state.keeps, **dict.fromkeys(names, new)})


def release(names: Sequence[str], in_slurm: Collection[str], now: float) -> StateChange:
    """Return the change that ends keeps, also those that only Slurm has (`in_slurm`) after the loss of the journal."""

    def change(state: State) -> State:
        if not any(name in state.keeps or name in in_slurm for name in names):
            raise EditError(f"{compress(names)} is not kept")
        keeps = {name: keep for name, keep in state.keeps.items() if name not in names}
        return replace(state, keeps=keeps, keeps_in_slurm={**dict.fromkeys(names, now), **state.keeps_in_slurm})

    return change


def _has_instance(node: SlurmNode) -> bool:
    return (is_up(node) or is_powering_up(node)) and not is_asked_to_power_down(node)


def edit(store: Store, wake: Path, change: StateChange, record: DecisionRecord) -> State:
    """Write the changed rows, the record of the edit, and an order that starts a pass; return the new state."""
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


def _require_pool(policy: BurstPolicy, pool: str) -> None:
    if pool not in policy.pools:
        raise EditError(f"there is no pool {pool}; known: {', '.join(sorted(policy.pools)) or 'none'}")
