"""Journal on a full disk: the daemon goes on with the space that it has taken before."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from landbridge.burst.journal.store import Store
from landbridge.burst.model import BudgetHold, DecisionRecord, State

HOLDS = {f"i-{number}": BudgetHold("lab", "gpu", 10.0, 1000.0, 2000.0) for number in range(50)}


@contextmanager
def full_disk(store: Store) -> Iterator[None]:
    """Let no file of the journal grow."""
    sizes = [path.stat().st_size for path in store.path.parent.glob(f"{store.path.name}*")]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert store._connection is not None
    store._connection.execute(f"PRAGMA max_page_count={store.path.stat().st_size // 4096}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.stat().st_size for path in store.path.parent.glob(f"{store.path.name}*")] == sizes


def renew(store: Store, passes: int) -> State:
    """Renew all leases in each of the passes, as the daemon does; return the last state."""
    state = store.load()
    for number in range(passes):
        until = 3000.0 + number
        after = replace(state, holds={key: replace(hold, until=until) for key, hold in HOLDS.items()})
        store.save(state, after)
        store.record([DecisionRecord(until, "renew", details={"instances": list(HOLDS)})])
        state = after
    return state


def test_leases_are_renewed_on_a_full_disk(store: Store) -> None:
    renew(store, 1)
    store.reserve()
    with full_disk(store):
        last = renew(store, 300)
        store.reserve()
    assert store.load() == last and last.holds["i-0"].until == 3299.0


def test_without_the_reserve_they_are_not(store: Store) -> None:
    renew(store, 1)
    with pytest.raises(sqlite3.OperationalError), full_disk(store):
        renew(store, 300)


def test_the_reserve_is_taken_again_when_the_journal_has_grown_into_it(store: Store) -> None:
    store.reserve()
    size = store.path.stat().st_size
    store.reserve()
    assert store.path.stat().st_size == size
    store.record([DecisionRecord(1.0, "down", text="x" * 6_000_000)])
    store.reserve()
    renew(store, 1)
    assert store._connection is not None
    store._connection.execute("PRAGMA wal_checkpoint")
    assert store.path.stat().st_size > size + 4_000_000
