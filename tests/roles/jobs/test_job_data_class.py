"""Prolog of a node in AWS: it refuses jobs whose data may not be there, also when PrologSlurmctld was killed."""
# ruff: noqa: F811 - fixtures are imported

import pytest

from tests.roles.jobs.job_node import Node
from tests.roles.jobs.job_program import module, node  # noqa: F401

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


HUB, SITE, STORE = "s3://acme-internal-1/checkpoints", "s3://acme-restricted/checkpoints", "https://nfs01:7070"
PLACES = f"""{CLASSES}# landbridge-checkpoints internal {HUB}
# landbridge-checkpoints restricted {SITE}
# landbridge-store {STORE} us-east-1
"""
URL = "LANDBRIDGE_CHECKPOINT_URL"
HUB_LINES = ["export LANDBRIDGE_DATA_CLASS=internal", f"export {URL}={HUB}"]
OF_STORE = [
    f"export AWS_ENDPOINT_URL_S3={STORE}",
    "export AWS_REGION=us-east-1",
    "export AWS_DEFAULT_REGION=us-east-1",
    "export AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:8169/v1/jobs/7/store",
    "export AWS_CONTAINER_AUTHORIZATION_TOKEN=t7",
    "export AWS_EC2_METADATA_DISABLED=true",
]
OBJECTS = f"export LANDBRIDGE_OBJECT_STORE={STORE}"
SITE_LINES = ["export LANDBRIDGE_DATA_CLASS=restricted", f"export {URL}={SITE}", OBJECTS, *OF_STORE]


@pytest.mark.parametrize(
    ("account", "in_aws", "region", "chosen", "lines"),
    [
        ("vision", False, "us-east-1", {}, [*HUB_LINES, OBJECTS]),
        ("vision", True, "us-east-1", {}, HUB_LINES),
        ("Clinic", False, "us-east-1", {}, SITE_LINES),
        # A node without certificates reaches the object store only.
        ("vision", False, "", {}, [HUB_LINES[0], OBJECTS]),
        ("clinic", False, "", {}, SITE_LINES),
        ("vision", False, "", {URL: HUB}, [HUB_LINES[0], f"unset {URL}", OBJECTS]),
        ("secret", False, "us-east-1", {}, []),
        # The user's own place, the class's own, and those that a job of another class passed on.
        ("vision", True, "us-east-1", {URL: "s3://mine/x"}, HUB_LINES[:1]),
        ("vision", True, "us-east-1", {URL: HUB}, HUB_LINES[:1]),
        (
            "vision",
            True,
            "us-east-1",
            {URL: SITE, "AWS_ENDPOINT_URL_S3": STORE},
            [*HUB_LINES, "unset AWS_ENDPOINT_URL_S3"],
        ),
        ("clinic", False, "", {"AWS_ENDPOINT_URL_S3": "https://s3.example.org"}, SITE_LINES[:3]),
    ],
)
def test_a_task_gets_the_bucket_of_its_data_class(
    node: Node,
    capsys: pytest.CaptureFixture[str],
    account: str,
    in_aws: bool,
    region: str,
    chosen: dict[str, str],
    lines: list[str],
) -> None:
    (node.folder / "slurm.conf").write_text(PLACES)
    (node.root / "7").mkdir(parents=True)
    (node.root / "7/.credentials-token").write_text("t7")
    node.settings |= {"in_aws": in_aws, "aws": {"url": "http://127.0.0.1:8169", "region": region, "endpoint": ""}}
    assert node.run("prolog_task", SLURM_JOB_ACCOUNT=account, **chosen) == 0
    written = capsys.readouterr().out.splitlines()
    of_aws = {"AWS_CONTAINER", "AWS_EC2", "AWS_REGION", "AWS_DEFAULT"}
    at = next((index for index, line in enumerate(written) if "LANDBRIDGE" in line), len(written))
    # With a region the variables of the role's credentials are first, and those of the object store replace them.
    assert all(line.removeprefix("export ").startswith(tuple(of_aws)) for line in written[:at]) and bool(at) is bool(
        region
    )
    assert [line for line in written[at:] if "CA_BUNDLE" not in line] == lines
    assert sum("AWS_CA_BUNDLE" in line for line in written) == (f"export AWS_ENDPOINT_URL_S3={STORE}" in lines)


RESULTS = "LANDBRIDGE_RESULTS_URL"
ARRAY = {"SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": "3"}


@pytest.mark.parametrize(
    ("account", "region", "variables", "line"),
    [
        ("vision", "us-east-1", {}, f"export {RESULTS}=s3://acme-internal-1/results/acme-7"),
        ("vision", "us-east-1", ARRAY, f"export {RESULTS}=s3://acme-internal-1/results/acme-5/3"),
        ("vision", "", {}, ""),
        ("clinic", "us-east-1", {RESULTS: "s3://acme-internal-1/results/acme-6"}, f"unset {RESULTS}"),
    ],
)
def test_a_task_gets_the_place_of_its_results(
    node: Node, capsys: pytest.CaptureFixture[str], account: str, region: str, variables: dict[str, str], line: str
) -> None:
    (node.folder / "slurm.conf").write_text(f"{PLACES}# landbridge-results internal s3://acme-internal-1/results\n")
    (node.root / "7").mkdir(parents=True)
    (node.root / "7/.credentials-token").write_text("t7")
    node.settings["aws"] = {"url": "http://127.0.0.1:8169", "region": region, "endpoint": ""}
    assert node.run("prolog_task", SLURM_JOB_ACCOUNT=account, SLURM_CLUSTER_NAME="acme", **variables) == 0
    assert [text for text in capsys.readouterr().out.splitlines() if RESULTS in text] == [line] * bool(line)


def test_a_task_without_credentials_has_no_bucket(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    (node.folder / "slurm.conf").write_text(PLACES)
    assert node.run("prolog_task", SLURM_JOB_ACCOUNT="vision") == 0
    assert capsys.readouterr().out == f"{HUB_LINES[0]}\n"
