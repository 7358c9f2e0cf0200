"""The journal: durable saves, concurrent writers, and the lease of the one active controller."""

import sqlite3
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.burst.journal.database import connect, write_order
from landbridge.burst.journal.rows import RowReader
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    Backoff,
    BudgetHold,
    CircuitBreaker,
    DecisionRecord,
    InsufficientCapacity,
    Observation,
    ObservationKind,
    RegistrationFailure,
    State,
    TerminationRefusal,
)
from tests.thorough import examples
from tests.unit.burst.journal.journals import FULL, NODES, attempt


def test_an_empty_journal_is_loaded_as_an_empty_state(store: Store) -> None:
    assert store.load() == State()


def test_every_field_of_a_saved_state_is_loaded(store: Store) -> None:
    store.save(State(), FULL)
    assert store.load() == FULL
    assert Store(store.path).load() == FULL
    assert isinstance(store.load().attempts["lb-1"].nodes, tuple)
    store.save(FULL, State())
    assert Store(store.path).load() == State()


numbers = st.floats(0, 2e9, allow_nan=False)
names = st.sampled_from(["a", "b", 'c"\n', "ünï|,"])
claims = st.tuples(st.integers(1, 9), names, st.none() | numbers)
states = st.builds(
    State,
    attempts=st.dictionaries(names, st.builds(attempt, names, ended=st.none() | numbers, code=names), max_size=3),
    insufficient_capacity=st.dictionaries(
        names, st.builds(InsufficientCapacity, numbers, st.integers(0, 9), names), max_size=3
    ),
    breakers=st.dictionaries(
        names, st.builds(CircuitBreaker, names, names, numbers, st.integers(0, 9), numbers), max_size=3
    ),
    holds=st.dictionaries(
        names,
        st.builds(BudgetHold, names, names, numbers, numbers, numbers, claims=st.lists(claims).map(tuple)),
        max_size=3,
    ),
    spent=st.dictionaries(st.tuples(names, names, names), numbers, max_size=3),
    backoffs=st.dictionaries(
        st.integers(1, 9), st.builds(Backoff, numbers, st.integers(0, 9), names, names, st.booleans()), max_size=3
    ),
    drained=st.dictionaries(names, names, max_size=2),
    terminated_at=st.dictionaries(names, numbers, max_size=3),
    charged_until=st.dictionaries(names, numbers, max_size=3),
    node_addresses=st.dictionaries(names, names, max_size=3),
    topology_read=st.dictionaries(names, names, max_size=3),
    first_seen=st.dictionaries(st.builds(Observation, st.sampled_from(ObservationKind), names), numbers, max_size=3),
    min_nodes_requested_at=st.dictionaries(names, numbers, max_size=3),
    registration_failures=st.dictionaries(names, st.builds(RegistrationFailure, names, numbers), max_size=3),
    last_observation_at=st.none() | numbers,
    throttled_until=st.dictionaries(names, numbers, max_size=2),
    termination_refusals=st.dictionaries(
        names, st.builds(TerminationRefusal, names, names, numbers, numbers), max_size=2
    ),
)


@settings(max_examples=examples(20, 60), deadline=None)
@given(st.lists(states, min_size=1, max_size=5))
def test_the_last_of_several_saves_is_read_back(steps: list[State]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, before = Store(Path(folder) / "burst.db"), State()
        for after in steps:
            store.save(before, after)
            before = store.load()
            assert before == after
        assert Store(store.path).load() == steps[-1]
        store.close()


def test_orders_are_loaded_in_sequence_and_removed_once_done(store: Store) -> None:
    store.append("resume", ["p5-1", "p5-2"], {7: ("p5-1", "p5-2")}, 1.0)
    store.append("suspend", ["p5-3"], {}, 2.0)
    first, second = store.load().orders
    assert (first.kind, first.nodes, first.jobs, first.at) == ("resume", ("p5-1", "p5-2"), {7: ("p5-1", "p5-2")}, 1.0)
    assert (second.kind, second.nodes, second.jobs) == ("suspend", ("p5-3",), {})
    before = store.load()
    store.append("resume", ["p5-4"], {}, 3.0)  # while a pass is deciding
    store.save(before, replace(before, orders=()))
    assert [order.nodes for order in store.load().orders] == [("p5-4",)]


def test_a_number_of_an_order_is_not_used_again(store: Store) -> None:
    store.append("resume", ["p5-1"], {}, 1.0)
    before = store.load()
    store.save(before, State())
    store.append("resume", ["p5-1"], {}, 2.0)
    assert store.load().orders[0].seq > before.orders[0].seq


def test_an_order_with_an_unreadable_resume_file_keeps_the_node_list(store: Store) -> None:
    store.load()
    for text in ("not json", "[]", '{"jobs":[{"job_id":1,"nodes_resume":"p5-["}]}', '{"jobs":[{"job_id":"x"}]}', "{}"):
        connection = connect(str(store.path), 1)
        write_order(connection, "resume", "p5-[1-2]", text, 1.0)
        connection.close()
    connection = connect(str(store.path), 1)
    write_order(connection, "resume", "p5-[", None, 1.0)
    write_order(connection, "resume", "p5-1", '{"jobs":[{"job_id":18,"nodes":"p5-1"}]}', 1.0)  # Slurm 22.05
    connection.close()
    orders = store.load().orders
    assert [order.nodes for order in orders] == [("p5-1", "p5-2")] * 5 + [(), ("p5-1",)]
    assert [dict(order.jobs) for order in orders] == [{}] * 6 + [{18: ("p5-1",)}]


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("first_seen", '["node-on-the-moon", "g-1"]', "1.0"),
        ("first_seen", '"g-1"', "1.0"),
        ("first_seen", "not JSON", "1.0"),
        ("first_seen", '["node-down", "g-1"]', '{"at": 1}'),
        ("terminated_at", "i-1", '"yesterday"'),
        ("terminated_at", "i-1", "null"),
        ("registration_failures", "lb-1", '{"pool": "p5"}'),
        ("last_observation_at", "", "[]"),
        ("suspects", "down:g-1", "1.0"),
    ],
)
def test_rows_that_cannot_be_read_are_left_out(kind: str, key: str, value: str) -> None:
    assert RowReader().state({(kind, key): value}, ()) == State()


def test_two_writers_keep_each_others_rows(store: Store) -> None:
    """An operator drains a pool during a pass of the daemon."""
    other = Store(store.path)
    before = store.load()
    concurrent = other.load()
    other.save(concurrent, replace(concurrent, drained={"p5": "an operator"}))
    store.save(before, replace(before, attempts={"lb-1": attempt()}))
    loaded = store.load()
    assert dict(loaded.drained) == {"p5": "an operator"} and set(loaded.attempts) == {"lb-1"}


def test_a_journal_without_changes_is_read_once(store: Store) -> None:
    store.append("resume", ["p5-1"], {7: ("p5-1",)}, 1000.0)
    state = store.load()
    assert store.load() is state
    store.take_lease("ctl01", 1000.0, 60.0)
    Store(store.path).append("suspend", ["p5-2"], {}, 1001.0)
    assert [order.nodes for order in store.load().orders] == [("p5-1",), ("p5-2",)]
    after = replace(store.load(), orders=())
    store.save(store.load(), after)
    assert store.load() == after


def test_an_unchanged_state_writes_nothing(store: Store) -> None:
    store.save(State(), FULL)
    before = (store.path.with_name("burst.db-wal").stat().st_size, store.path.stat().st_size)
    store.save(store.load(), store.load())
    assert (store.path.with_name("burst.db-wal").stat().st_size, store.path.stat().st_size) == before


def test_a_busy_journal_is_waited_for(store: Store) -> None:
    store.load()
    other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
    store.save(State(), FULL)
    assert store.load() == FULL


def test_only_one_controller_holds_the_lease(store: Store) -> None:
    other = Store(store.path)
    assert store.take_lease("ctl01", 1000.0, 60.0)
    assert not other.take_lease("ctl02", 1059.0, 60.0)
    assert store.take_lease("ctl01", 1030.0, 60.0)
    assert not other.take_lease("ctl02", 1061.0, 60.0)
    assert other.take_lease("ctl02", 1090.0, 60.0)
    assert not store.take_lease("ctl01", 1100.0, 60.0)


def test_a_lease_from_the_future_may_be_taken_after_a_clock_was_set_back(store: Store) -> None:
    assert store.take_lease("ctl01", 90_000.0, 60.0)
    assert store.take_lease("ctl02", 1000.0, 60.0)


def test_records_are_filtered_by_job_and_limit(store: Store) -> None:
    records = [
        DecisionRecord(float(n), "launch", (n % 3, 100), NODES, "p5", "OK", "x", 1.5, {"rejected": {"a": "b"}})
        for n in range(9)
    ]
    store.record(records[:5])
    store.record(records[5:])
    assert store.records() == tuple(records)
    assert store.records(job=1) == tuple(records[1::3])
    assert [record.at for record in store.records(limit=2)] == [7.0, 8.0]
    assert store.records(job=5) == ()


def test_the_other_controller_continues_from_the_snapshot(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    first, second = Store(tmp_path / "one.db"), Store(tmp_path / "two.db")
    second.take_lease("ctl02", 500.0, 60.0)
    second.save(State(), State(drained={"old": "long ago"}))
    first.take_lease("ctl01", 1000.0, 60.0)
    first.append("resume", ["p5-1"], {7: ("p5-1",)}, 1.0)
    first.save(first.load(), replace(FULL, orders=first.load().orders))
    first.snapshot(shared)
    second.append("suspend", ["p5-2"], {}, 2.0)
    assert second.restore(shared)
    restored = second.load()
    assert replace(restored, orders=()) == FULL
    assert sorted(order.nodes for order in restored.orders) == [("p5-1",), ("p5-2",)]
    assert not second.take_lease("ctl02", 1010.0, 60.0)  # the other controller may still act
    assert second.take_lease("ctl02", 1061.0, 60.0)
    assert not second.restore(shared)  # its own journal is newer than the copy
    assert not second.restore(tmp_path / "nowhere")
    (shared / "burst-journal.json").write_text("{")
    assert not Store(tmp_path / "three.db").restore(shared)
