"""Operator commands that read and edit the journal."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    Attempt,
    Backoff,
    BudgetHold,
    CircuitBreaker,
    CloudInstance,
    DecisionRecord,
    Ec2View,
    InsufficientCapacity,
    PromotionPolicy,
    SlurmJob,
    SlurmNode,
    State,
    TerminationRefusal,
)
from landbridge.burst.operator import edits
from landbridge.burst.operator.explain import ADVICE, ENDED_ADVICE, explain_job
from landbridge.burst.operator.status import account_spending, node_statuses, pool_statuses
from landbridge.cli.main import build
from landbridge.timestamps import month_of
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    OFF,
    OFFERINGS,
    RISING,
    decide,
    ec2,
    end,
    job,
    launched,
    only_launch,
    site,
    slurm,
    success,
)

MONTH = month_of(NOW)
PENDING = SlurmJob(7, "PENDING", partition="gpu", account="lab", submitted=NOW - 60)


def instance(id: str, node: str, **fields: object) -> CloudInstance:
    return CloudInstance(id, node, "running", "10.0.0.1", "subnet-a", "p5", "on-demand", NOW, pool="gpu", **fields)  # type: ignore[arg-type]


def nodes(**states: tuple[str, ...]) -> dict[str, SlurmNode]:
    return {
        name.replace("_", "-"): SlurmNode(name.replace("_", "-"), frozenset(words)) for name, words in states.items()
    }


def test_nodes_of_slurm_and_instances_of_ec2_are_joined_by_name() -> None:
    instances = (instance("i-1", "g-1"), instance("i-2", "g-2"), instance("i-3", "g-2"), instance("i-4", ""))
    rows = node_statuses(instances, nodes(g_1=BUSY, g_2=BUSY, g_3=OFF, g_4=BUSY, g_5=RISING), State(), site())
    assert {(row.node, row.instance): row.remark for row in rows} == {
        ("", "i-4"): "instance without name",
        ("g-1", "i-1"): "",
        ("g-2", "i-2"): "several instances of this node",
        ("g-2", "i-3"): "several instances of this node",
        ("g-4", ""): "node without instance",
        ("g-5", ""): "node boots without an instance",
    }


def test_an_instance_whose_node_is_off_or_down_or_unknown_is_reported() -> None:
    instances = tuple(instance(f"i-{number}", f"g-{number}") for number in (1, 2, 3))
    down = SlurmNode("g-2", frozenset({"DOWN", "CLOUD"}), "Not responding")
    rows = node_statuses(instances, nodes(g_1=OFF) | {"g-2": down}, State(), site())
    assert [row.remark for row in rows] == [
        "instance of a node that is powered down",
        "node is down: Not responding",
        "no such node in Slurm",
    ]


@pytest.mark.parametrize("words", [("IDLE", "CLOUD", "DRAIN"), ("DOWN", "CLOUD")])
def test_a_node_that_an_operator_keeps_is_reported_with_its_price(words: tuple[str, ...]) -> None:
    decision = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(decision)
    state = end(decision, launch, success(launch))
    (machine,) = launched(launch, success(launch))
    node = SlurmNode("g-1", frozenset(words), "ann looks at the GPU")
    (row,) = node_statuses((machine,), {"g-1": node}, state, site())
    assert row.remark == "an operator keeps it for 10.00 USD an hour: ann looks at the GPU"


def test_an_instance_that_ec2_refuses_to_terminate_is_reported_before_other_remarks() -> None:
    refusal = TerminationRefusal("OperationNotPermitted", "x", NOW, NOW + 600)
    (row,) = node_statuses(
        (instance("i-1", "g-1"),), nodes(g_1=OFF), State(termination_refusals={"i-1": refusal}), site()
    )
    assert row.remark == "EC2 refuses to terminate it: OperationNotPermitted"


def test_pool_statuses_show_what_stops_a_pool_and_what_it_costs() -> None:
    state = State(
        insufficient_capacity={
            OFFERINGS[0].key: InsufficientCapacity(NOW + 60, 1, "ICE"),
            OFFERINGS[1].key: InsufficientCapacity(NOW - 1, 1, "ICE"),
        },
        breakers={"gpu": CircuitBreaker("UnauthorizedOperation", "no", NOW, 1, NOW + 600)},
        drained={"big": "rain"},
        holds={"i-1": BudgetHold("lab", "gpu", 10.0, NOW, NOW + 4 * 3600)},
        spent={(MONTH, "lab", "gpu"): 2.0, ("2026-01", "lab", "gpu"): 100.0, (MONTH, "", "big"): 5.0},
    )
    big, gpu = pool_statuses(site(), state, Ec2View(NOW, (instance("i-1", "g-1"),)), NOW)
    assert (big.name, big.drained, big.instances, big.spent_usd, big.dry) == ("big", "rain", 0, 5.0, ())
    assert (gpu.breaker, [dry.offering for dry in gpu.dry]) == ("UnauthorizedOperation: no", [OFFERINGS[0].key])
    assert (gpu.instances, gpu.spent_usd, gpu.held_usd) == (1, 2.0, 40.0)
    assert account_spending(state, NOW) == {"": (5.0, 0.0), "lab": (2.0, 40.0)}


def test_the_explanation_of_a_restricted_job_is_residency_alone() -> None:
    answer = explain_job(7, SlurmJob(7, "PENDING", partition="gpu", account="ward"), State(), site(), (), NOW)
    assert [(point.about, point.code) for point in answer.now] == [("job", ""), ("policy", "RESIDENCY")]
    assert "patients" in answer.now[1].text
    assert answer.do == (ADVICE["RESIDENCY"],)


def test_the_explanation_of_a_job_without_capacity_has_offerings_prices_and_the_next_attempt() -> None:
    rejected = [{"offering": OFFERINGS[0].key, "code": "CAPACITY", "why": "none left", "usd": 10.0}]
    records = [
        DecisionRecord(
            NOW - 30, "exhausted", (7,), ("g-1", "g-2"), "gpu", "CAPACITY", "none", details={"rejected": rejected}
        )
    ]
    state = State(backoffs={7: Backoff(NOW + 120, 2, "CAPACITY", "none left anywhere")})
    answer = explain_job(7, PENDING, state, site(), records, NOW)
    backoff = next(point for point in answer.now if point.about == "backoff")
    assert "none left anywhere" in backoff.text and "2027-01-15T08:02:00Z" in backoff.text
    assert [(point.text, point.usd) for point in answer.before if point.about == "offering"] == [
        (f"{OFFERINGS[0].key}: none left", 10.0)
    ]
    assert answer.do == (ADVICE["CAPACITY"],)


@pytest.mark.parametrize("job", [None, SlurmJob(7, "NODE_FAIL", partition="gpu", account="lab")])
def test_a_job_that_ended_with_its_nodes_is_to_be_submitted_again(job: SlurmJob | None) -> None:
    records = [
        DecisionRecord(NOW - 30, event, (7,), ("g-1",), "gpu", "CAPACITY", "none left")
        for event in ("down", "job-ends")
    ]
    state = State(backoffs={7: Backoff(NOW + 60, 1, "CAPACITY", "none left")})
    answer = explain_job(7, job, state, site(), records, NOW)
    assert answer.do == (ENDED_ADVICE,)
    assert "backoff" not in {point.about for point in answer.now}
    assert ("job-ends", "CAPACITY") in {(point.about, point.code) for point in answer.before}


def test_the_cause_of_an_ended_job_is_to_be_corrected_first() -> None:
    records = [DecisionRecord(NOW - 30, "job-ends", (7,), ("g-1",), "gpu", "DRAINED", "a new image")]
    answer = explain_job(7, None, State(), site(), records, NOW)
    assert answer.do == (ADVICE["DRAINED"].replace("POOL", "gpu"), ENDED_ADVICE)


def test_a_batch_job_that_slurm_requeued_after_all_is_tried_again() -> None:
    """Slurm 25.05 requeues a job without --requeue while its nodes boot (requeue_on_resume_failure)."""
    records = [DecisionRecord(NOW - 30, "job-ends", (7,), ("g-1",), "gpu", "CAPACITY", "none left")]
    state = State(backoffs={7: Backoff(NOW + 60, 1, "CAPACITY", "none left")})
    assert explain_job(7, PENDING, state, site(), records, NOW).do == (ADVICE["CAPACITY"],)


def test_the_explanation_of_a_running_job_has_its_launch_and_hold_and_no_advice() -> None:
    attempt = Attempt(
        "t", "g", "gpu", OFFERINGS[0].key, ("g-1",), (7,), "lab", True, NOW, NOW, 40.0, 10.0, ended=NOW,
        instances={"g-1": "i-1"},
    )  # fmt: skip
    state = State(attempts={"t": attempt}, holds={"i-1": BudgetHold("lab", "gpu", 10.0, NOW, NOW + 4 * 3600)})
    old = [DecisionRecord(NOW - 90, "exhausted", (7,), ("g-1",), "gpu", "CAPACITY", "none")]
    answer = explain_job(7, SlurmJob(7, "RUNNING", ("g-1",), "gpu", "lab"), state, site(), old, NOW)
    assert {point.about: point.usd for point in answer.now} == {
        "job": None,
        "policy": None,
        "launch": None,
        "hold": 40.0,
    }
    assert answer.do == ()


def test_the_explanation_of_a_job_waiting_on_prem_says_when_it_may_burst() -> None:
    policy = site(promotions=(PromotionPolicy("onprem", ("gpu",), 600.0),))
    job = SlurmJob(7, "PENDING", partition="onprem", account="lab", submitted=NOW, expected_start=NOW + 60)
    (text,) = (point.text for point in explain_job(7, job, State(), policy, (), NOW).now if point.about == "promotion")
    assert text == "may use gpu once it would wait more than 600 s; it does not, as far as Slurm can tell"


def test_an_unknown_job_is_reported_as_unknown() -> None:
    assert not explain_job(7, None, State(), site(), (), NOW).known


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
