"""Decisions of the reconciliation: gates, budget, refusals, results that are not known, triggers."""

from collections.abc import Mapping
from typing import Any

import pytest

from landbridge.pipelines.definition.model import PipelineGate, ScheduleTrigger
from landbridge.pipelines.reconcile.cost import PipelineNodeRate, job_cost
from landbridge.pipelines.reconcile.gates import gate_fault, metrics_of
from landbridge.pipelines.reconcile.triggers import last_slot
from landbridge.pipelines.reconcile.view import Measurement
from landbridge.pipelines.runs.record import RunRecord, StepState
from landbridge.pipelines.runs.request import RequestError, RunRequest
from landbridge.pipelines.service.slurm import SlurmCommandError, accounted_of, outcome_of, queued_of
from tests.unit.pipelines.pipeline_world import World, request, source

TWO = [{"name": "train"}, {"name": "evaluate", "needs": ["train"]}]
GATED = [{"name": "train", "metrics": "m.json", "gates": [{"metric": "accuracy", "at_least": 0.9}]}]


@pytest.mark.parametrize(
    ("gate", "value", "champion", "is_passed"),
    [
        ({"at_least": 0.9}, 0.9, None, True),
        ({"at_least": 0.9}, 0.89, None, False),
        ({"at_most": 10}, 11, None, False),
        ({"champion": "c"}, 0.5, None, True),
        ({"champion": "c"}, 0.5, {"m": 0.5}, True),
        ({"champion": "c"}, 0.49, {"m": 0.5}, False),
        ({"champion": "c", "margin": 0.02}, 0.49, {"m": 0.5}, True),
        ({"champion": "c", "better": "lower"}, 0.49, {"m": 0.5}, True),
        ({"champion": "c", "better": "lower"}, 0.51, {"m": 0.5}, False),
        ({"champion": "c"}, 0.5, {"other": 1.0}, False),
        ({"at_least": 0.9}, None, None, False),
    ],
)
def test_a_gate(
    gate: dict[str, Any], value: float | None, champion: Mapping[str, float] | None, is_passed: bool
) -> None:
    measurement = Measurement({} if value is None else {"m": value}, {"c": champion})
    fault = gate_fault(PipelineGate(metric="m", **gate), measurement)
    assert (fault == "") is is_passed, fault


def test_metrics_are_finite_numbers() -> None:
    assert metrics_of({"metrics": {"a": 1, "b": "x", "c": True}, "name": "digits"}) == {"a": 1.0}
    for data in ([], {"a": float("nan")}, {"metrics": 3}):
        with pytest.raises(ValueError):
            metrics_of(data)


def test_a_gate_that_is_not_passed_ends_the_run() -> None:
    world = World(measurements=lambda run, step: Measurement({"accuracy": 0.5}))
    run = world.ask(request([*GATED, {"name": "publish", "needs": ["train"]}]))
    world.settle()
    record = world.ended[run]
    assert record.outcome == "failed" and record.reason == "step train: gate: accuracy is 0.5; at least 0.9 is needed"
    assert record.steps["publish"].state is StepState.SKIPPED and not world.jobs_of(run, "publish")


def test_metrics_that_appear_late_are_read_and_absent_ones_end_the_step() -> None:
    answers = [Measurement(fault="no file"), Measurement({"accuracy": 0.95})]
    world = World(measurements=lambda run, step: answers.pop(0) if answers else Measurement(fault="no file"))
    first = world.ask(request(GATED))
    world.settle()
    assert world.ended[first].outcome == "succeeded"
    second = world.ask(request(GATED, key="2"))
    world.settle()
    assert world.ended[second].steps["train"].reason == "no file"


def test_no_step_starts_over_budget() -> None:
    world = World()
    run = world.ask(request(TWO, budget_usd=0.5))
    world.settle()
    assert world.ended[run].outcome == "over budget" and not world.jobs_of(run, "evaluate")
    assert world.ended[run].reason == "the steps have cost 1.00 USD; the budget is 0.50 USD"


@pytest.mark.parametrize(
    ("status", "out", "error", "kind"),
    [
        (0, "123\n", "", "job"),
        (0, "123;site\n", "", "job"),
        (0, "", "", "fault"),
        (1, "", "sbatch: error: Batch job submission failed: Invalid partition name specified", "refusal"),
        (1, "", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", "fault"),
        (124, "", "", "fault"),
        (127, "", "timeout: failed to run command 'sbatch'", "fault"),
        (-9, "", "", "fault"),
    ],
)
def test_the_outcome_of_sbatch(status: int, out: str, error: str, kind: str) -> None:
    outcome = outcome_of(status, out, error, ["Socket timed out"])
    assert [name for name in ("job", "refusal", "fault") if getattr(outcome, name)] == [kind]


def test_the_text_of_slurm() -> None:
    rates = {"p5-1": PipelineNodeRate(80.0, 8)}
    line = "7|x|digits-0123456789.train|x|ann|x|CANCELLED by 20001|x|1800|x|p5-1|x|cpu=4,gres/gpu=2,node=1\n"
    [job] = accounted_of(line, "|x|", rates)
    assert (job.id, job.state, job.usd) == (7, "CANCELLED", 10.0)
    [job] = queued_of("7|x|name|x|ann|x|PENDING|x|Priority|x|\n", "|x|")
    assert (job.id, job.state, job.why) == (7, "PENDING", "Priority")
    for text in ("7|x|name|x|\n", "a|x|name|x|ann|x|PENDING|x||x|\n"):
        with pytest.raises(SlurmCommandError):
            queued_of(text, "|x|")
    with pytest.raises(SlurmCommandError):
        accounted_of("slurm_persist_conn_open: failure\n", "|x|", rates)
    assert job_cost("dgx01", "", 60, rates) is None and job_cost("", "", 60, rates) == 0.0


def test_records_and_requests_are_read_as_they_were_written() -> None:
    world = World()
    world.ask(request(TWO))
    world.run(3)
    [record] = world.load().values()
    assert RunRecord.parse(record.to_json()) == record and record.steps["train"].job == 100


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"schema": 2}, "schema"),
        ({"trigger": "x"}, "not a trigger"),
        ({"folder": "a"}, "absolute"),
        ({"scripts": {}}, "cannot be read"),
        ({"definition": {}}, "missing"),
        ({"datasets": {"a": 1}}, "versions"),
    ],
)
def test_a_request_that_a_user_changed_is_refused(change: dict[str, Any], fault: str) -> None:
    with pytest.raises(RequestError, match=fault):
        RunRequest.parse({**request(TWO).to_json(), **change})


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"owner": "bob"}, "the owner is bob"),
        ({"account": "other"}, "there is no account other"),
        ({"data_class": "restricted"}, "data of class internal"),
    ],
)
def test_a_request_of_another_owner_account_or_class_is_refused(keys: dict[str, Any], fault: str) -> None:
    world = World()
    run = world.ask(request(TWO, **keys))
    world.run(1)
    assert fault in world.refused[run] and not world.jobs


def test_a_new_version_of_a_dataset_starts_one_run() -> None:
    world = World(versions={"corpus": {"v1": 5_000.0}})
    inputs = [{"kind": "dataset", "dataset": "corpus"}]
    pipeline = source([{"name": "train", "inputs": inputs}], triggers=[{"kind": "dataset", "dataset": "corpus"}])
    world.definitions["digits"] = {**pipeline.to_json(), "registered": 6_000.0, "datasets": ["corpus"]}
    world.run(20)
    assert not world.jobs
    world.versions["corpus"]["v2"] = world.now
    world.run(40)
    [record] = world.ended.values()
    assert record.outcome == "succeeded" and len(world.jobs) == 1
    assert record.request.comment("train") == f"pipeline={record.name}/train data=corpus:v2"


@pytest.mark.parametrize(
    ("at", "day", "now", "slot"),
    [
        ("02:00", None, 7_200.0, 7_200.0),
        ("02:00", None, 7_199.0, 7_200.0 - 86_400),
        # 1970-01-01 was a Thursday.
        ("00:00", "thursday", 86_400.0 * 3, 0.0),
    ],
)
def test_the_last_slot_of_a_schedule(at: str, day: Any, now: float, slot: float) -> None:
    assert last_slot(ScheduleTrigger(kind="schedule", at=at, day=day), now) == slot
