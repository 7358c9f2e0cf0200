"""Prometheus metrics, and the lines of the decision log."""

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from landbridge.burst.daemon.metrics import Metrics, serve
from landbridge.burst.journal.decisions import DecisionLog
from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    BudgetHold,
    CircuitBreaker,
    CloudInstance,
    DecisionRecord,
    Ec2View,
    Gang,
    InstanceStatus,
    InsufficientCapacity,
    Launch,
    NodeKeep,
    Observation,
    ObservationKind,
    Offering,
    SlurmNode,
    SlurmView,
    State,
    StatusRead,
    TerminationRefusal,
)

OFFERING = Offering("p5/a/on-demand", "on_demand", "p5.48xlarge", "subnet-1", "a", "on-demand", "lt-1", "1")
GANG = Gang("g", "7", "p5", ("p5-1", "p5-2"), (7,), True)
ATTEMPT = Attempt("t", "g", "p5", OFFERING.key, GANG.nodes, (7,), "vision", True, 2000.0, 1000.0, 5.0, 2.5)
LAUNCH = Launch(GANG, OFFERING, (ATTEMPT,), {})
LINE = re.compile(r'^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+$')


def slurm(at: float, **states: set[str]) -> SlurmView:
    names = {
        name.replace("_", "-"): SlurmNode(name.replace("_", "-"), frozenset(words)) for name, words in states.items()
    }
    return SlurmView(at, {}, names)


def ec2(at: float, *nodes: str) -> Ec2View:
    instances = (CloudInstance(f"i-{n}", n, "running", "", "s", "t", "on-demand", 1.0, "p5") for n in nodes)
    return Ec2View(at, tuple(instances))


def samples(metrics: Metrics) -> dict[str, float]:
    lines = metrics.text.splitlines()
    assert lines[-1] == "# EOF" and metrics.text.endswith("\n")
    values = [line for line in lines if not line.startswith("#")]
    for line in values:
        assert LINE.match(line), line
    return {
        line.rpartition(" ")[0].removeprefix("landbridge_burst_"): float(line.rpartition(" ")[2]) for line in values
    }


def test_jobs_on_nodes_apart_are_counted() -> None:
    metrics = Metrics()
    seen = {Observation(ObservationKind.JOB_APART, "7"): 1.0, Observation(ObservationKind.NODE_DOWN, "p5-1"): 1.0}
    metrics.seen(slurm(1000.0), None, State(first_seen=seen))
    metrics.passed(0.1, 1000.0, True)
    assert samples(metrics)["jobs_apart"] == 1.0


def test_failing_instances_unread_statuses_and_keeps_are_exported() -> None:
    metrics = Metrics()
    event = InstanceStatus(event="instance-stop", event_at=2000.0)
    state = State(
        instance_statuses={"i-1": event, "i-2": event, "i-3": InstanceStatus(("system",))},
        status_reads={"": StatusRead(1060.0, 1000.0), "far": StatusRead(1060.0, code="UnauthorizedOperation")},
        keeps={"p5-1": NodeKeep(2000.0, 1000.0, "debug", "ann")},
    )
    metrics.seen(slurm(1000.0), None, state)
    metrics.passed(0.1, 1000.0, True)
    values = samples(metrics)
    assert values['scheduled_events{code="instance-stop"}'] == 2
    assert values["impaired_instances"] == values["kept_nodes"] == 1
    assert values['unread_statuses{code="UnauthorizedOperation",region="far"}'] == 1
    assert 'unread_statuses{code="",region=""}' not in values


def test_launches_refusals_and_registration_times_are_counted() -> None:
    metrics = Metrics()
    metrics.performed(LAUNCH, ActionOutcome("InsufficientInstanceCapacity", "x"), 1000.0)
    metrics.performed(LAUNCH, ActionOutcome(instances={"p5-1": "i-1", "p5-2": "i-2"}), 1000.0)
    powering_up = {"ALLOCATED", "POWERING_UP"}
    metrics.seen(slurm(1030.0, p5_1=powering_up, p5_2=powering_up), None, State())
    metrics.seen(slurm(1045.0, p5_1={"ALLOCATED"}, p5_2=powering_up), None, State())
    metrics.seen(slurm(1100.0, p5_1={"ALLOCATED"}, p5_2={"ALLOCATED"}), None, State())
    metrics.seen(slurm(1200.0, p5_1={"ALLOCATED"}, p5_2={"ALLOCATED"}), None, State())
    metrics.passed(0.2, 1200.0, True)
    values = samples(metrics)
    labels = 'offering="p5/a/on-demand",pool="p5"'
    assert values[f"launched_instances_total{{{labels}}}"] == 2
    assert values[f'refused_launches_total{{code="InsufficientInstanceCapacity",{labels}}}'] == 1
    assert values['ready_seconds_count{pool="p5"}'] == 2
    assert values['ready_seconds_sum{pool="p5"}'] == 45 + 100
    assert values['ready_seconds_bucket{pool="p5",le="60.0"}'] == 1
    assert values['ready_seconds_bucket{pool="p5",le="+Inf"}'] == 2
    assert values['pass_seconds_bucket{le="0.25"}'] == values["active"] == 1


def test_an_instance_without_a_powered_up_node_is_counted_in_seconds() -> None:
    metrics = Metrics()
    for at in (100.0, 115.0, 130.0):
        metrics.seen(slurm(at, p5_1={"IDLE"}, p5_2={"IDLE", "POWERED_DOWN"}), ec2(at, "p5-1", "p5-2", ""), State())
    metrics.passed(0.1, 130.0, True)
    values = samples(metrics)
    assert values["unowned_instances"] == 2
    assert values["unowned_instance_seconds_total"] == 2 * 30
    assert values['instances{pool="p5",state="running"}'] == 3
    assert values['ready_nodes{pool="p5"}'] == 1


def test_holds_spending_and_open_breakers_of_the_journal_are_exported() -> None:
    metrics = Metrics()
    state = State(
        insufficient_capacity={OFFERING.key: InsufficientCapacity(500.0, 1, "x")},
        breakers={"p5": CircuitBreaker('a "quoted"\ncode'.replace('"', "'"), "m", 1.0, 1, 2.0)},
        holds={n: BudgetHold("vision", "p5", 5.0, 1.0, 1.0 + 3600) for n in ("a", "b")},
        spent={("2026-11", "vision", "p5"): 1234.5},
        termination_refusals={n: TerminationRefusal("OperationNotPermitted", "m", 1.0, 2.0) for n in ("i-1", "i-2")},
    )
    metrics.seen(slurm(1.0), None, state)
    metrics.failed("ec2", "RequestLimitExceeded")
    metrics.passed(0.1, 1.0, False)
    values = samples(metrics)
    assert values['held_usd{account="vision",month="1970-01",pool="p5"}'] == 10
    assert values['spent_usd{account="vision",month="2026-11",pool="p5"}'] == 1234.5
    assert values['insufficient_capacity_until_seconds{offering="p5/a/on-demand"}'] == 500
    assert values['failures_total{code="RequestLimitExceeded",side="ec2"}'] == 1
    assert values['refused_terminations{code="OperationNotPermitted"}'] == 2
    assert values["active"] == 0
    assert any(name.startswith("breaker_open") for name in values)


def test_metrics_are_served_on_the_loopback() -> None:
    metrics = Metrics()
    metrics.passed(0.1, 1.0, True)
    server = serve(metrics, "127.0.0.1:0")
    address = f"http://127.0.0.1:{server.server_address[1]}"
    with urllib.request.urlopen(f"{address}/metrics", timeout=60) as answer:
        assert answer.read().decode() == metrics.text
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{address}/other", timeout=60)
    server.shutdown()
    server.server_close()


def test_decisions_are_lines_of_json_and_old_ones_are_dropped(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "decisions.jsonl", limit=2000, max_entries=2)
    for number in range(100):
        log.write([DecisionRecord(1_795_000_000.5 + number, "launch", (7,), ("p5-1",), usd=1.5, details={"n": number})])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert set(names) <= {"decisions.jsonl", "decisions.jsonl.1", "decisions.jsonl.2"} and len(names) >= 2
    lines = [json.loads(line) for line in (tmp_path / "decisions.jsonl.1").read_text().splitlines()]
    assert lines[0]["time"].startswith("2026-11-18T") and lines[0]["time"].endswith(".500Z")
    assert {key: lines[0][key] for key in ("event", "jobs", "nodes", "usd")} == {
        "event": "launch", "jobs": [7], "nodes": ["p5-1"], "usd": 1.5,
    }  # fmt: skip
    numbers = [
        json.loads(line)["details"]["n"]
        for name in reversed(names)
        for line in (tmp_path / name).read_text().splitlines()
    ]
    assert numbers == sorted(numbers)


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DecisionLog(tmp_path / "nowhere" / "x").write([DecisionRecord(1.0, "launch")])
    assert "launch" in capsys.readouterr().err
