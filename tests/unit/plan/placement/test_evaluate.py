"""Decision about a job: hard filters, marginal cost, and their order."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landbridge.catalog import Price, onprem_costs, platforms, price_of
from landbridge.environment import Environment, load_environment
from landbridge.findings import DataPath
from landbridge.plan.placement.destinations import destinations_of
from landbridge.plan.placement.evaluate import PlacementDecision, RankedDestination, place_job
from landbridge.plan.placement.job import DataInput, PlacementJob, SiteState
from landbridge.plan.placement.timing import copy_hours, link_gbps
from landbridge.plan.slurm.partitions import partition_names
from tests.thorough import examples
from tests.unit.core.samples import ROOT, SHIPPED, environment, shipped
from tests.unit.plan.placement.estate import CLASSES, estate

JOB = PlacementJob("vision", 8, 10.0)
BUSY = SiteState(idle_gpus=0, wait_hours=12.0)
#: Hourly cost of a waiting GPU in tests, so that sums are round.
PRICED: dict[DataPath, Any] = {("placement", "delay_usd_gpu_hour"): 2.0}


def names(decision: PlacementDecision) -> list[str]:
    return [ranked.destination.name for ranked in decision.ranked]


def refused(decision: PlacementDecision) -> dict[str, list[str]]:
    return {
        rejected.destination.name: [refusal.filter for refusal in rejected.refusals] for rejected in decision.rejected
    }


def parts(ranked: RankedDestination) -> dict[str, float | None]:
    return {part.name: part.usd for part in ranked.cost.parts}


ONPREM, AWS = "on-prem dgx-h100", "p5 on_demand us-east-1"


def test_an_idle_site_costs_its_energy_only() -> None:
    decision = place_job(environment(PRICED), JOB, SiteState())
    assert names(decision) == [ONPREM, AWS] and not decision.rejected
    inputs, power = onprem_costs().inputs, platforms()["dgx-h100"].power_kw
    pue, usd_kwh = inputs["pue"].base, inputs["usd_kwh"].base
    assert power is not None and pue is not None and usd_kwh is not None
    assert parts(decision.ranked[0]) == {"energy": pytest.approx(10 * power * pue * usd_kwh)}
    # Half a node has half of its energy; AWS bills whole instances.
    half = place_job(environment(PRICED), replace(JOB, gpus=4), SiteState())
    assert parts(half.ranked[0])["energy"] == pytest.approx(5 * power * pue * usd_kwh)
    price = price_of("on_demand", "p5.48xlarge", "us-east-1")
    assert isinstance(price, Price)
    boot_hours = decision.ranked[1].timing.boot_hours
    assert parts(half.ranked[1])["instances"] == pytest.approx(price.usd * (10 + boot_hours))


def test_waiting_costs_hours_times_gpus_times_its_price() -> None:
    decision = place_job(environment(PRICED), JOB, BUSY)
    onprem = next(ranked for ranked in decision.ranked if ranked.destination.name == ONPREM)
    assert parts(onprem)["waiting"] == 12 * 8 * 2.0
    assert place_job(environment(PRICED), JOB, SiteState(idle_gpus=8, wait_hours=12.0)).ranked[0].timing.wait_hours == 0


def test_the_price_of_waiting_decides_between_a_queue_and_aws() -> None:
    def first(usd: float) -> str:
        return names(place_job(environment({("placement", "delay_usd_gpu_hour"): usd}), JOB, BUSY))[0]

    # 12 hours of 8 GPUs against 10 hours of an instance at 55.04 USD: the break-even is near 5.7 USD.
    assert [first(usd) for usd in (0.0, 5.0, 6.5, 50.0)] == [ONPREM, ONPREM, AWS, AWS]


def test_a_class_has_its_own_price_of_waiting() -> None:
    classes = {"inference": {"accounts": ["vision"], "delay_usd_gpu_hour": 40.0}}
    chosen = environment({**PRICED, ("placement", "classes"): classes})
    decision = place_job(chosen, JOB, BUSY)
    assert decision.workload == "inference" and names(decision)[0] == AWS
    assert names(place_job(chosen, replace(JOB, workload="burst"), BUSY))[0] == ONPREM


def test_data_at_the_other_site_is_copied_first_and_costs_egress() -> None:
    chosen = environment(PRICED)
    gbps = link_gbps(chosen)
    assert gbps is not None and copy_hours(1000, gbps) == pytest.approx(1000 * 8 / gbps / 3600)
    with_data_onprem = place_job(chosen, replace(JOB, inputs=(DataInput(1000, "onprem"),)), SiteState())
    aws = next(ranked for ranked in with_data_onprem.ranked if ranked.destination.name == AWS)
    assert aws.timing.start_hours == pytest.approx(copy_hours(1000, gbps)) and "egress" not in parts(aws)
    with_data_in_aws = place_job(chosen, replace(JOB, inputs=(DataInput(1000, "aws"),)), SiteState())
    onprem = next(ranked for ranked in with_data_in_aws.ranked if ranked.destination.name == ONPREM)
    # Internet egress and the transit gateway.
    assert parts(onprem)["egress"] == pytest.approx(1000 * (0.09 + 0.02))
    out = place_job(chosen, replace(JOB, output_gb=100.0), SiteState())
    assert parts(out.ranked[-1])["egress"] == pytest.approx(11.0)


@pytest.mark.parametrize(
    ("changes", "job", "place", "expected"),
    [
        ({}, {"account": "clinic"}, AWS, ["residency"]),
        ({}, {"account": "stranger"}, AWS, ["residency"]),
        ({}, {"gpu": "a100"}, AWS, ["gpu"]),
        ({}, {"gpu_memory_gib": 141.0}, ONPREM, ["gpu"]),
        ({}, {"gpus": 17}, ONPREM, ["gpu"]),
        ({}, {"partition": "onprem"}, AWS, ["partition"]),
        ({}, {"partition": "p5"}, ONPREM, ["partition"]),
        ({}, {"workload": "baseline"}, AWS, ["class", "instrument"]),
        ({}, {"inputs": (DataInput(1.0, "onprem", "restricted"),)}, AWS, ["residency"]),
        ({}, {"inputs": (DataInput(5e6, "onprem"),), "deadline_hours": 48.0}, AWS, ["deadline"]),
        ({("placement", "gravity_gb"): 500}, {"inputs": (DataInput(501, "onprem"),)}, AWS, ["gravity"]),
        ({("placement", "gravity_gb"): 500}, {"inputs": (DataInput(501, "aws"),)}, ONPREM, ["gravity"]),
        (
            {("aws", "pools", 0, "capacity"): [{"kind": "spot"}]},
            {"workload": "inference"},
            "p5 spot us-east-1",
            ["instrument"],
        ),
    ],
)
def test_a_filter_refuses_a_destination(
    changes: dict[DataPath, Any], job: dict[str, Any], place: str, expected: list[str]
) -> None:
    clinic = {("scheduler", "accounts", "clinic"): {"users": ["bob"], "data_class": "restricted"}}
    decision = place_job(environment({**clinic, **changes}), replace(JOB, **job), SiteState())
    assert refused(decision)[place] == expected
    for rejected in decision.rejected:
        assert all(refusal.citation and refusal.text for refusal in rejected.refusals)


def test_a_refusal_by_residency_cites_the_key_and_the_law() -> None:
    decision = place_job(shipped("hybrid"), PlacementJob("clinic", 8, 1.0), SiteState())
    assert names(decision) == [ONPREM] and decision.ranked[0].obligations
    (refusal,) = decision.rejected[0].refusals
    assert refusal.citation == "data_classes.restricted.sites; 45 CFR 164.308(b), 164.312, 164.314"


def test_a_deadline_excludes_the_queue() -> None:
    decision = place_job(environment(PRICED), replace(JOB, deadline_hours=12.0), BUSY)
    assert names(decision) == [AWS] and refused(decision) == {ONPREM: ["deadline"]}


def test_experiments_use_spot_and_baseline_stays_at_home() -> None:
    changes: dict[DataPath, Any] = {("aws", "pools", 0, "capacity"): [{"kind": "on_demand"}, {"kind": "spot"}]}
    chosen = environment(changes)
    spot = place_job(chosen, replace(JOB, workload="experiments"), BUSY)
    assert "p5 spot us-east-1" in names(spot)
    assert names(place_job(chosen, replace(JOB, workload="baseline"), BUSY)) == [ONPREM]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_job_of_a_shipped_environment_has_a_destination(path: Path) -> None:
    chosen = shipped(path.name.split(".")[1])
    for account in chosen.scheduler.accounts:
        # The smallest job, in every partition.
        decision = place_job(
            chosen, PlacementJob(account, 1, 1.0, partition=",".join(partition_names(chosen))), SiteState()
        )
        assert decision.ranked, account


def test_a_slurm_that_runs_already_has_destinations_in_aws_only() -> None:
    chosen = load_environment(ROOT / "tests" / "unit" / "rules" / "full-existing.yaml").environment
    assert chosen is not None and chosen.existing_slurm is not None
    assert names(place_job(chosen, PlacementJob("vision", 1, 1.0), SiteState())) == [AWS]
    assert names(place_job(chosen, PlacementJob("vision", 1, 1.0, partition="p5"), SiteState())) == [AWS]


def test_capacity_that_is_paid_in_advance_adds_no_cost_of_instances() -> None:
    decision = place_job(shipped("hybrid"), replace(JOB, gpus=16), BUSY)
    assert names(decision)[0] == "p5 capacity_block us-east-1"
    assert parts(decision.ranked[0])["instances"] == 0


def test_a_destination_without_a_known_price_is_ranked_last() -> None:
    chosen = environment(
        {("aws", "pools", 0, "instance"): "p3.2xlarge", ("onprem", "nodes", 0, "platform"): "dgx-h100"}
    )
    tokyo = chosen.model_copy(update={"region": "eu-south-2"})
    decision = place_job(tokyo, PlacementJob("vision", 1, 1.0), SiteState(idle_gpus=0, wait_hours=1000.0))
    assert decision.ranked[0].destination.name == ONPREM and decision.ranked[-1].cost.usd is None


def test_other_regions_are_destinations_for_the_classes_that_may_be_there() -> None:
    chosen = estate()
    ohio = "p5 on_demand us-east-2"
    assert ohio in names(place_job(chosen, JOB, SiteState()))
    assert refused(place_job(chosen, replace(JOB, account="lab"), SiteState()))[ohio] == ["residency"]

    data = DataInput(1000, "aws")
    decision = place_job(chosen, replace(JOB, inputs=(data,)), SiteState())
    costs = {ranked.destination.name: parts(ranked) for ranked in decision.ranked}
    assert "between regions" not in costs[AWS] and costs[ohio]["between regions"] == pytest.approx(1000 * 0.02)


JOBS = st.builds(
    PlacementJob,
    account=st.sampled_from(["vision", "lab", "ward", "clinic", "web", "vault", "root", ""]),
    gpus=st.integers(1, 64),
    hours=st.floats(0.1, 200),
    name=st.sampled_from(["", "train-1", "serve-2"]),
    partition=st.sampled_from(["", "onprem", "p5", "gpu,p5"]),
    gpu_memory_gib=st.sampled_from([0.0, 40.0, 141.0]),
    inputs=st.lists(
        st.builds(DataInput, st.floats(0, 1e5), st.sampled_from(["onprem", "aws"]), st.sampled_from(["", "secret"])),
        max_size=2,
    ).map(tuple),
    output_gb=st.floats(0, 1e4),
    deadline_hours=st.none() | st.floats(1, 500),
)
STATES = st.builds(SiteState, st.none() | st.integers(0, 16), st.floats(0, 100))
ESTATES: dict[bool, Environment] = {}


@settings(deadline=None, max_examples=examples(40, 120), suppress_health_check=[HealthCheck.too_slow])
@given(job=JOBS, state=STATES, with_classes=st.booleans())
def test_each_destination_is_ranked_or_refused_and_the_order_is_by_cost(
    job: PlacementJob, state: SiteState, with_classes: bool
) -> None:
    if with_classes not in ESTATES:
        ESTATES[with_classes] = estate(CLASSES if with_classes else {})
    chosen = ESTATES[with_classes]
    decision = place_job(chosen, job, state)
    assert {*names(decision), *refused(decision)} == {destination.name for destination in destinations_of(chosen)}
    usd = [math.inf if ranked.cost.usd is None else ranked.cost.usd for ranked in decision.ranked]
    assert all(earlier <= later + 1e-5 for earlier, later in pairwise(usd))
    for ranked in decision.ranked:
        assert (ranked.cost.usd or 0) >= 0 and ranked.timing.start_hours >= 0
        assert job.deadline_hours is None or ranked.timing.end_hours <= job.deadline_hours
        assert "secret" not in [data.data_class for data in job.inputs] or ranked.destination.site == "onprem"
    # The decision is a function of its arguments.
    assert place_job(chosen, job, state) == decision


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(wait=st.floats(0, 500), longer=st.floats(0.1, 500))
def test_a_longer_wait_never_makes_the_site_cheaper(wait: float, longer: float) -> None:
    if False not in ESTATES:
        ESTATES[False] = estate()

    def site_usd(hours: float) -> float:
        decision = place_job(ESTATES[False], JOB, SiteState(0, hours))
        (usd,) = [ranked.cost.usd for ranked in decision.ranked if ranked.destination.site == "onprem"]
        assert usd is not None
        return usd

    assert site_usd(wait) < site_usd(wait + longer)
