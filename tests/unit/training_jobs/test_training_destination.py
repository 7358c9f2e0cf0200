"""SageMaker as a destination of the placement: its price and every reason against it."""

from dataclasses import replace
from typing import Any

import pytest

from landbridge.catalog.models.training_jobs import training_facts
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.placement.destinations import SAGEMAKER, destinations_of
from landbridge.plan.placement.evaluate import PlacementDecision, place_job
from landbridge.plan.placement.job import PlacementJob, SiteState
from landbridge.plan.training.batch_job import BatchJob, parse_batch_job
from landbridge.plan.training.destinations import batch_placement, training_destinations
from tests.unit.core.samples import environment
from tests.unit.training_jobs.jobs import place, script

JOB = PlacementJob("vision", 8, 10.0)
PRICED: dict[DataPath, Any] = {("placement", "delay_usd_gpu_hour"): 2.0}


def decide(chosen: Environment, job: PlacementJob = JOB, state: SiteState | None = None) -> PlacementDecision:
    """Return the decision about SageMaker alone."""
    return place_job(chosen, job, state or SiteState(), training_destinations(chosen, job))


def reasons(chosen: Environment, job: PlacementJob = JOB, state: SiteState | None = None) -> dict[str, str]:
    """Return the texts of the refusal by filter."""
    (rejected,) = decide(chosen, job, state).rejected
    return {refusal.filter: refusal.text for refusal in rejected.refusals}


def test_its_cost_is_the_billed_time_of_the_cheapest_type_with_a_known_price() -> None:
    (ranked,) = decide(place(PRICED)).ranked
    price = training_facts().usd_hour("us-east-1", "ml.g4dn.xlarge")
    assert price is not None and ranked.destination.name == "sagemaker ml.g4dn.xlarge us-east-1"
    parts = {part.name: part.usd for part in ranked.cost.parts}
    # The time of the start is waited for, and not billed.
    assert parts["instances"] == pytest.approx(8 * 10 * price)
    assert parts["waiting"] == pytest.approx(training_facts().start_seconds / 3600 * 8 * 2.0)
    (h100,) = decide(place(), replace(JOB, gpu="h100")).ranked
    assert h100.destination.name == "sagemaker ml.p5.48xlarge us-east-1" and h100.destination.node_gpus == 8


def test_it_is_ranked_beside_the_pools_and_the_site() -> None:
    chosen, busy = place(PRICED), SiteState(idle_gpus=0, wait_hours=100.0)
    places = (*destinations_of(chosen), *training_destinations(chosen, JOB))
    ranked = [each.destination.name.split()[0] for each in place_job(chosen, JOB, busy, places).ranked]
    assert ranked == ["sagemaker", "p5", "on-prem"]
    assert place_job(chosen, JOB, SiteState(), places).ranked[0].destination.instrument == "owned"


def test_without_the_key_it_is_no_destination() -> None:
    assert training_destinations(environment(), JOB) == ()


@pytest.mark.parametrize(
    ("changes", "job", "filter", "text"),
    [
        ({("mlops", "sagemaker"): {"data_classes": []}}, {"account": "unknown"}, "residency", "unknown"),
        ({}, {"gpu": "h200"}, "price", "no instance type with h200 GPUs has a known price"),
        ({}, {"hours": 1000.0}, "deadline", "at most 28 days"),
        ({}, {"comment": "data=digits:v1"}, "gravity", "does not unpack"),
        ({("budget", "accounts"): {"vision": {"monthly_usd": 20, "hard": True}}}, {}, "budget", "the limit is 20.00 USD"),
        (
            {("placement", "classes"): {"burst": {"accounts": ["vision"], "instruments": ["owned", "on_demand"]}}},
            {},
            "instrument",
            "do not use sagemaker capacity",
        ),
        ({("placement", "classes"): {"baseline": {"accounts": ["vision"]}}}, {}, "class", "do not run in AWS"),
    ],
)  # fmt: skip
def test_every_reason_against_it_is_stated(
    changes: dict[DataPath, Any], job: dict[str, Any], filter: str, text: str
) -> None:
    assert text in reasons(place(changes), replace(JOB, **job))[filter]


def test_a_class_that_is_not_one_of_its_jobs_is_refused() -> None:
    other: dict[DataPath, Any] = {
        ("data_classes", "open"): {"sites": ["onprem", "aws"]},
        ("mlops", "sagemaker"): {"data_classes": ["open"]},
    }
    assert "may not use data of class internal" in reasons(place(other))["residency"]


def test_a_soft_cap_refuses_nothing_and_the_journal_counts_before_the_caps_of_the_file() -> None:
    soft: dict[DataPath, Any] = {("budget", "accounts"): {"vision": {"monthly_usd": 20}}}
    assert decide(place(soft)).ranked
    assert "the limit is 5.00 USD" in reasons(place(soft), state=SiteState(left_usd=5.0))["budget"]
    hard: dict[DataPath, Any] = {("budget", "accounts"): {"vision": {"monthly_usd": 20, "hard": True}}}
    assert decide(place(hard), state=SiteState(left_usd=1000.0)).ranked


def test_the_destination_of_a_job_file_is_the_instance_type_of_its_submission() -> None:
    batch = parse_batch_job(script("#SBATCH --nodes=2", "#SBATCH --partition=gpu"))
    assert isinstance(batch, BatchJob)
    placed = batch_placement(batch)
    assert (placed.gpus, placed.hours, placed.partition) == (2, 2.0, "gpu")
    (chosen,) = training_destinations(place(), placed, batch)
    (named,) = training_destinations(place(), placed, batch, "ml.g5.12xlarge")
    assert (chosen.name.split()[1], named.name.split()[1]) == ("ml.g4dn.xlarge", "ml.g5.12xlarge")
    # Two nodes are billed, although four GPUs would fit into one.
    (ranked,) = place_job(place(), placed, SiteState(), (named,)).ranked
    assert next(part.usd for part in ranked.cost.parts if part.name == "instances") == pytest.approx(2 * 2 * 7.09)
    assert named.instrument == SAGEMAKER
