"""Jobs that Slurm requeues when a node goes down; it ends the others."""

import json

import pytest

from landbridge.burst.model import SlurmJob
from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.slurm_json import job_of
from tests.unit.burst.slurm.commands import Install


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"batch_flag": True, "requeue": True}, True),
        ({"batch_flag": True, "requeue": False}, False),
        ({"batch_flag": False, "requeue": True}, False),
    ],
    ids=["sbatch", "sbatch --no-requeue", "salloc or srun"],
)
def test_only_batch_jobs_that_permit_it_are_requeued(fields: dict[str, bool], expected: bool) -> None:
    text = json.dumps({"jobs": [{"job_id": 7, "job_state": ["RUNNING"], **fields}]})
    (raw,) = json.loads(text)["jobs"]
    assert job_of(raw).is_requeued is expected


def test_jobs_are_requeued_or_cancelled_alone_and_a_heterogeneous_job_by_its_leader(commands: Install) -> None:
    calls = commands(scontrol="", scancel="")
    slurm.requeue(
        [
            SlurmJob(9, "RUNNING"),
            SlurmJob(12, "RUNNING", array_job=14, array_task=3),
            SlurmJob(21, "RUNNING", het_job=20),
            SlurmJob(20, "RUNNING", het_job=20),
            SlurmJob(30, "RUNNING", is_batch=False),
            SlurmJob(31, "RUNNING", may_requeue=False),
        ]
    )
    assert calls() == [["scancel", "30", "31"], ["scontrol", "requeue", "9,14_3,20"]]
