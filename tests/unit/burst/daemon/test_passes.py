"""Reconcile pass: the queries of Slurm, with stand-ins of its commands."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    ActionOutcome,
    Attempt,
    Backoff,
    BurstPolicy,
    Ec2View,
    InstanceStatus,
    Offering,
    PoolPolicy,
    PromotionPolicy,
    State,
)
from landbridge.burst.slurm import slurm
from tests.unit.burst.situations import instance
from tests.unit.burst.slurm.commands import Install, commands  # noqa: F401

NOW = 1_795_000_000.0
POLICY = BurstPolicy("probe", "us-east-1", {"p5": PoolPolicy("p5", "p5-", 6, ())}, {})


class EmptyEc2:
    """An EC2 without instances."""

    def view(self, expected: Collection[str] = ()) -> Ec2View:
        return Ec2View(NOW, ())

    def run(self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> ActionOutcome:
        raise AssertionError("launched")

    def terminate(self, ids: Iterable[str]) -> None: ...

    def renew(self, ids: Iterable[str], until: float) -> None: ...

    def network_paths(self, ids: Iterable[str]) -> Mapping[str, str]:
        return {}


@pytest.mark.parametrize(
    ("backoffs", "policy", "queries"),
    [
        ((), POLICY, []),
        ((7, 9), POLICY, [["--jobs=7,9"]]),
        (
            (7,),
            replace(POLICY, promotions=(PromotionPolicy("gpu", ("p5",), 600.0),)),
            [["--states=PENDING"], ["--jobs=7,7"]],  # squeue may have left a task of an array out
        ),
    ],
)
def test_a_pass_reads_the_pending_jobs_that_it_needs(
    backoffs: tuple[int, ...],
    policy: BurstPolicy,
    queries: list[list[str]],
    commands: Install,  # noqa: F811
    tmp_path: Path,
) -> None:
    calls = commands(sinfo="p5-[1-6] idle+cloud+powered_down\n", squeue="", scontrol="")
    store = Store(tmp_path / "burst.db")
    store.save(State(), State(backoffs={job: Backoff(NOW + 60, 1, "CAPACITY", "no room") for job in backoffs}))
    one_pass(store, EmptyEc2(), slurm, policy, NOW)
    assert [call[4:] for call in calls() if call[0] == "squeue"] == queries


@pytest.mark.parametrize(
    ("status", "is_read"),
    [(InstanceStatus(event="instance-stop"), True), (InstanceStatus(impaired=("system",)), True), (None, False)],
)
def test_a_pass_reads_the_address_of_a_node_with_a_failing_instance(
    status: InstanceStatus | None,
    is_read: bool,
    commands: Install,  # noqa: F811
    tmp_path: Path,
) -> None:
    class Ec2(EmptyEc2):
        def view(self, expected: Collection[str] = ()) -> Ec2View:
            return Ec2View(NOW, (instance("i-1", "p5-2"),))

        def instance_statuses(self, ids: Iterable[str]) -> Mapping[str, InstanceStatus]:
            return {}

    calls = commands(sinfo="p5-[1-6] idle+cloud\n", squeue="", scontrol='{"nodes": []}')
    store = Store(tmp_path / "burst.db")
    store.save(State(), State(instance_statuses={"i-1": status} if status else {}))
    one_pass(store, Ec2(), slurm, POLICY, NOW)
    assert [call[3] for call in calls() if call[:3] == ["scontrol", "show", "node"]] == (["p5-2"] if is_read else [])
