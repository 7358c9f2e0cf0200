"""Operator commands that read and edit the journal."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    CircuitBreaker,
    DecisionRecord,
    InsufficientCapacity,
    State,
)
from landbridge.burst.operator import edits
from landbridge.cli.main import build
from tests.unit.burst.situations import (
    NOW,
    site,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a controller's settings, and a journal in which the circuit breaker of pool p5 is open; return the settings
    file."""
    raw = json.loads((Path(__file__).parents[1] / "data" / "burst.json").read_text())
    state = tmp_path / "state"
    state.mkdir()
    raw |= {"state_dir": str(state), "socket": str(tmp_path / "s"), "metrics": None}
    path = tmp_path / "burst.json"
    path.write_text(json.dumps(raw))
    pool = next(iter(raw["pools"]))
    dry = raw["pools"][pool]["offerings"][0]["key"]
    with closing(Store(state / "burst.db")) as store:
        store.save(
            State(),
            State(
                breakers={pool: CircuitBreaker("UnauthorizedOperation", "no", NOW, 1, NOW)},
                insufficient_capacity={
                    dry: InsufficientCapacity(NOW, 1, "ICE"),
                    "elsewhere": InsufficientCapacity(NOW, 1, "ICE"),
                },
            ),
        )
    return path


def command(file: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["burst", *words, "--config", str(file)])
    return done.exit_code, done.output


def journal(file: Path) -> tuple[State, tuple[DecisionRecord, ...]]:
    with closing(Store(file.parent / "state" / "burst.db")) as store:
        return store.load(), store.records()


def pool_of(file: Path) -> str:
    return str(next(iter(json.loads(file.read_text())["pools"])))


def test_drain_and_undrain_are_rows_a_record_and_an_order(file: Path) -> None:
    pool = pool_of(file)
    assert command(file, "drain", pool, "--why", "new image")[0] == 0
    state, records = journal(file)
    assert state.drained == {pool: "new image"} and pool in state.breakers
    assert [order.kind for order in state.orders] == ["wake"]
    assert [(record.event, record.pool, record.text) for record in records] == [("drain", pool, "new image")]
    assert command(file, "undrain", pool)[0] == 0
    assert journal(file)[0].drained == {}
    code, output = command(file, "undrain", pool)
    assert code == 2 and "not drained" in output


def test_a_breaker_is_reset_with_its_pools_insufficient_capacity(file: Path) -> None:
    pool = pool_of(file)
    assert command(file, "reset-breaker", pool)[0] == 0
    state, _ = journal(file)
    assert state.breakers == {} and list(state.insufficient_capacity) == ["elsewhere"]
    assert command(file, "reset-breaker", pool)[0] == 2


def test_an_unknown_pool_is_an_error_that_lists_the_existing_pools(file: Path) -> None:
    code, output = command(file, "drain", "p6")
    assert code == 2 and pool_of(file) in output
    assert journal(file)[0].drained == {}


def test_an_edit_keeps_a_concurrent_write_of_the_daemon(file: Path) -> None:
    with closing(Store(file.parent / "state" / "burst.db")) as store:
        before = store.load()

        def change(state: State) -> State:
            # The daemon finishes a pass between the read and the write of the edit.
            with closing(Store(store.path)) as other:
                other.save(
                    before,
                    State(
                        breakers={}, insufficient_capacity=before.insufficient_capacity, throttled_until={"r/gpu": 5.0}
                    ),
                )
            return edits.drain(site(), "gpu", "why")(state)

        edits.edit(store, file.parent / "nobody", change, DecisionRecord(NOW, "drain", pool="gpu"))
        edited = store.load()
    assert (dict(edited.drained), edited.breakers, edited.throttled_until) == ({"gpu": "why"}, {}, {"r/gpu": 5.0})


def test_history_is_filtered_by_job_pool_time_and_number(file: Path) -> None:
    with closing(Store(file.parent / "state" / "burst.db")) as store:
        store.record(
            [
                DecisionRecord(NOW, "launched", (1,), ("g-1", "g-2"), "gpu", usd=4.5),
                DecisionRecord(NOW + 60, "exhausted", (2,), (), "big", "CAPACITY", "none"),
                DecisionRecord(NOW + 120, "exhausted", (1,), (), "gpu", "QUOTA", "0 vCPUs"),
            ]
        )
    assert command(file, "history", "--job", "2")[1] == "2027-01-15T08:01:00Z  exhausted  big  job 2  CAPACITY  none\n"
    first = command(file, "history", "--pool", "gpu")[1].splitlines()
    assert [line.split("  ")[1] for line in first] == ["launched", "exhausted"] and "g-[1-2]" in first[0]
    assert len(command(file, "history", "--since", "2027-01-15T08:01")[1].splitlines()) == 2
    assert len(command(file, "history", "--limit", "1")[1].splitlines()) == 1
    data = json.loads(command(file, "history", "--format", "json", "--job", "1")[1])
    assert [record["event"] for record in data] == ["launched", "exhausted"]
    assert command(file, "history", "--since", "noon")[0] == 2


def test_missing_settings_or_a_missing_journal_is_reported(tmp_path: Path, file: Path) -> None:
    code, output = command(tmp_path / "none.json", "history")
    assert code == 2 and "none.json" in output
    (file.parent / "state" / "burst.db").unlink()
    code, output = command(file, "drain", pool_of(file))
    assert code == 2 and "the journal does not exist" in output
    assert not (file.parent / "state" / "burst.db").exists()
