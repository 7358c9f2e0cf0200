"""Prolog of a node in AWS: it refuses jobs whose data may not be there, also when PrologSlurmctld was killed."""
# ruff: noqa: F811 - fixtures are imported

import pytest

from tests.roles.jobs.job_node import Node
from tests.roles.jobs.test_job_program import module, node  # noqa: F401

CLASSES = """# landbridge-class internal role/sandbox-job-internal
# landbridge-class restricted -
# landbridge-account clinic restricted
# landbridge-account vision internal
ClusterName=sandbox # landbridge-account secret internal
"""


@pytest.mark.parametrize(
    ("account", "in_aws", "reason"),
    [
        ("vision", True, ""),
        ("root", True, ""),
        ("Clinic", True, "data of account 'clinic' (restricted) may not be in AWS"),
        ("secret", True, "data of account 'secret' (no class) may not be in AWS"),
        ("", True, "data of account '' (no class) may not be in AWS"),
        ("clinic", False, ""),
    ],
)
def test_a_node_in_aws_refuses_jobs_whose_data_may_not_be_there(
    node: Node, account: str, in_aws: bool, reason: str
) -> None:
    (node.folder / "slurm.conf").write_text(CLASSES)
    node.settings["in_aws"] = in_aws
    assert node.run("prolog_slurmd", SLURM_JOB_ACCOUNT=account) == bool(reason)
    assert node.failed.partition("class: ")[2] == reason
    assert (node.root / "7").exists() is not bool(reason)


def test_a_node_in_aws_that_cannot_read_the_data_classes_takes_no_job(node: Node) -> None:
    node.settings["in_aws"] = True
    assert node.run("prolog_slurmd", SLURM_JOB_ACCOUNT="vision") == 1 and "slurm.conf cannot be read" in node.failed
