"""Jobs that Slurm requeues when a node goes down; it ends the others."""

import json

import pytest

from landbridge.burst.slurm.slurm_json import job_of


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
