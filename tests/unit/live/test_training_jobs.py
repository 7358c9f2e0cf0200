"""`landbridge sagemaker` at the emulated API: submitted once, killed anywhere, refused, stopped, charged, and found again."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from landbridge import paths
from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources import SWEPT
from landbridge.burst.journal.store import Store
from landbridge.burst.model import State
from landbridge.burst.model.training_job import TRAINING
from landbridge.cli.main import build as program
from landbridge.environment import load_environment
from landbridge.live.models.registry import ModelRegistry
from landbridge.live.sweep import find_leftovers, remove
from landbridge.models.approvals import DIGEST_KEY, VERSION_KEY
from landbridge.models.version_tags import CLASS_TAG, DIGEST_TAG
from landbridge.plan.roles.burst import accounts
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.core.samples import ROOT, changed
from tests.unit.how_to.pages import steps
from tests.unit.live.sweep.test_sweep_names import NOW
from tests.unit.training_jobs.jobs import outputs, script

PAGE = ROOT / "docs/how-to/train-in-sagemaker.md"
TRUST = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip


@dataclass(frozen=True)
class Site:
    """Controller's host: the environment `acme`, its stack outputs, burst.json, and a journal."""

    cloud: EmulatorProcess
    folder: Path

    @property
    def store(self) -> Store:
        return Store(self.folder / "burst.db")

    @property
    def state(self) -> State:
        return self.store.load()

    @property
    def names(self) -> list[str]:
        """Return the jobs that AWS has."""
        listed = client_of(self.cloud, "sagemaker").list_training_jobs(MaxResults=100)["TrainingJobSummaries"]
        return sorted(job["TrainingJobName"] for job in listed)

    def run(self, *words: str, code: int = 0) -> str:
        result = CliRunner().invoke(program(), ["sagemaker", *words, *([] if words[0] == "list" else ["-s", "acme"])])
        assert result.exit_code == code, result.output
        return result.output

    def submit(self, *words: str, code: int = 0) -> str:
        return self.run("submit", "train.sh", *words, code=code)

    def earlier(self, seconds: float) -> None:
        """Make the journal's jobs older."""

        def change(state: State) -> State:
            from dataclasses import replace

            jobs = {
                name: replace(job, created_at=job.created_at - seconds) for name, job in state.training_jobs.items()
            }
            return replace(state, training_jobs=jobs)

        self.store.update(change)


@pytest.fixture
def site(cloud: EmulatorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    ec2 = client_of(cloud, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.60.1.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="jobs", Description="jobs", VpcId=vpc)["GroupId"]
    role = client_of(cloud, "iam").create_role(
        RoleName="acme-sagemaker-internal", AssumeRolePolicyDocument=json.dumps(TRUST)
    )
    (tmp_path / "stacks").mkdir()
    file = tmp_path / "stacks/Pulumi.acme.yaml"
    changes: dict[Any, Any] = {
        ("aws", "endpoints"): {"operator": cloud.endpoint},
        ("mlops", "sagemaker"): {"usd_hour": {"ml.p5.48xlarge": 55.0}},
        ("budget", "accounts"): {"vision": {"monthly_usd": 20, "hard": True}},
    }
    file.write_text(changed(changes))
    environment = load_environment(file).environment
    assert environment is not None
    settings = {
        "cluster": "acme",
        "region": "us-east-1",
        "accounts": accounts(environment),
        "pools": {},
        "state_dir": str(tmp_path),
    }
    (tmp_path / "burst.json").write_text(json.dumps(settings))
    (tmp_path / "train.sh").write_text(script())
    Store(tmp_path / "burst.db").load()
    for name, value in {
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "LANDBRIDGE_BURST_CONFIG": str(tmp_path / "burst.json"),
        "LOGNAME": "alice",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    output_file = paths.outputs_file("acme")
    output_file.write_text(outputs(role["Role"]["Arn"], (subnet,), group).model_dump_json())
    yield Site(cloud, tmp_path)
    cloud.control(reset=True)


def test_the_commands_of_the_page_submit_stop_and_list_jobs(site: Site) -> None:
    for step in steps(PAGE):
        if step.file:
            (site.folder / step.file).write_text(step.text)
            continue
        assert step.command is not None
        invoked = CliRunner().invoke(program(), shlex.split(step.command)[1:])
        assert invoked.exit_code == 0, f"{step.command}\n{invoked.output}"
        assert step.output.strip() in invoked.output
    first, spot = site.names
    assert [job.status for job in site.state.training_jobs.values() if job.spot] == ["Stopped"]
    shown = client_of(site.cloud, "sagemaker").describe_training_job(TrainingJobName=spot)
    assert {first, spot} == set(site.state.training_jobs) and shown["InputDataConfig"][0]["ChannelName"] == "digits"


def test_a_job_is_created_once_held_and_charged_by_its_billed_seconds(site: Site) -> None:
    assert "at most 1.47 USD" in site.submit()
    (name,) = site.names
    assert "submitted already (InProgress)" in site.submit() and site.names == [name]
    tags = client_of(site.cloud, "sagemaker").list_tags(
        ResourceArn=f"arn:aws:sagemaker:us-east-1:123456789012:training-job/{name}"
    )
    assert {"Key": "landbridge:account", "Value": "vision"} in tags["Tags"]
    assert "1.47 held" in site.run("list")
    site.cloud.control(training={name: {"seconds": 3000, "billable": 1800}})
    assert "1800 s billed, 0.37 USD" in site.run("sync")
    assert site.run("sync") == ""
    assert sum(site.state.spent.values()) == pytest.approx(0.3682)
    assert {pool for _, _, pool in site.state.spent} == {TRAINING}
    assert "0.37 USD spent this month, 0.00 held" in site.run("list")
    _, charges = site.store.load_with_charges()
    assert sum(charge.node_seconds for charge in charges) == pytest.approx(1800)
    assert "submitted already (Completed)" in site.submit()


@pytest.mark.parametrize("is_created", [False, True])
def test_a_command_without_an_answer_leaves_a_job_that_is_submitted_once(site: Site, *, is_created: bool) -> None:
    site.cloud.control(faults={"CreateTrainingJob": {"cut": True, "after": is_created, "times": 3}})
    site.submit(code=2)
    (job,) = site.state.training_jobs.values()
    assert job.status == "" and job.held_usd > 1 and site.names == [job.name] * is_created
    site.cloud.control(reset=True)
    assert ("submitted already" in site.submit()) is is_created
    assert site.names == [job.name] and list(site.state.training_jobs) == [job.name]


def test_a_killed_command_leaves_nothing_without_an_owner(site: Site) -> None:
    site.cloud.control(faults={"CreateTrainingJob": {"hold": 60}})
    words = [sys.executable, "-m", "landbridge.cli.main", "sagemaker", "submit", "train.sh", "-s", "acme"]
    with subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        deadline = time.monotonic() + 60
        while not site.cloud.control()["held"] and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    (job,) = site.state.training_jobs.values()
    assert job.status == "" and site.names == []
    # AWS has the job neither now nor after the time in which a call may still take effect.
    assert site.run("sync") == ""
    site.earlier(3600)
    assert "released" in site.run("sync") and site.state.training_jobs == {}
    # The call takes effect late: the job has an owner again.
    site.cloud.control(reset=True)
    deadline = time.monotonic() + 60
    while not site.names and time.monotonic() < deadline:
        time.sleep(0.02)
    assert "added" in site.run("sync")
    added = site.state.training_jobs[job.name]
    assert (added.account, added.user, added.held_usd) == ("vision", "alice", job.held_usd)


def test_after_the_loss_of_the_journal_jobs_are_found_by_their_tags(site: Site) -> None:
    site.submit()
    site.submit("--key", "2")
    first, second = site.names
    client_of(site.cloud, "sagemaker").stop_training_job(TrainingJobName=first)
    for file in site.folder.glob("burst.db*"):
        file.unlink()
    Store(site.folder / "burst.db").load()
    assert site.run("sync").count("added") == 2
    assert "Stopped" in site.run("sync")
    assert {name: job.ended is None for name, job in site.state.training_jobs.items()} == {first: False, second: True}


def test_a_hard_cap_and_a_restricted_class_are_refused_before_the_call(site: Site) -> None:
    assert "account vision has 0.00 of 20.00 USD" in site.submit("--instance-type", "ml.p5.48xlarge", code=1)
    (site.folder / "train.sh").write_text(script("#SBATCH --account=unknown", without="=vision"))
    assert "not one of those that may use AWS" in site.submit(code=1)
    assert site.names == [] and site.state.training_jobs == {}
    assert site.cloud.control()["asked"].get("sagemaker:CreateTrainingJob", 0) == 0


def test_a_refusal_by_aws_holds_nothing(site: Site) -> None:
    site.cloud.control(quotas={"ml.g4dn.xlarge for training job usage": 0})
    refused = " ".join(site.submit(code=1).split())
    assert "ResourceLimitExceeded" in refused and 'raise the quota "ml.g4dn.xlarge for training job usage"' in refused
    assert site.state.training_jobs == {} and site.names == []


def test_a_running_job_is_a_leftover_only_without_the_environment(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.submit()
    jobs = tuple(entry for entry in SWEPT if entry.noun == "training job")
    monkeypatch.setattr("landbridge.live.sweep.leftovers.SWEPT", jobs)

    def aws() -> AwsClient:
        return AwsClient("us-east-1", site.cloud.endpoint)

    assert find_leftovers(aws(), "acme", (), NOW, standing=True).items == ()
    leftovers = find_leftovers(aws(), "acme", (), NOW, standing=False).items
    assert [item.id for item in leftovers] == site.names and leftovers[0].billed
    assert find_leftovers(aws(), "acm", (), NOW, standing=False).items == ()
    assert all(result.reason is None for result in remove(aws, leftovers, pause_seconds=0))
    assert "Stopping" in site.run("sync") and "Stopped" in site.run("sync")


def test_model_packages_are_approved_as_the_champion_moves(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    aws, uri = client_of(site.cloud, "sagemaker"), f"sqlite:///{site.folder}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    registry = ModelRegistry(uri)
    registry.ensure("models")
    aws.create_model_package_group(ModelPackageGroupName="acme-models")
    arns = []
    for digest in ("aa", "bb"):
        version = registry.create("models", {DIGEST_TAG: digest, CLASS_TAG: "internal"})
        metadata = {VERSION_KEY: version.version, DIGEST_KEY: digest}
        created = aws.create_model_package(
            ModelPackageGroupName="acme-models",
            ModelApprovalStatus="PendingManualApproval",
            CustomerMetadataProperties=metadata,
        )
        arns.append(created["ModelPackageArn"])

    def approvals() -> list[str]:
        return [aws.describe_model_package(ModelPackageName=arn)["ModelApprovalStatus"] for arn in arns]

    registry.set_alias("models", "champion", "1")
    assert "Approved, model version 1 is champion" in site.run("approve")
    assert approvals() == ["Approved", "PendingManualApproval"] and site.run("approve") == ""
    registry.set_alias("models", "champion", "2")
    site.run("approve", "models")
    assert approvals() == ["PendingManualApproval", "Approved"]
    registry.set_tags(registry.version("models", "2"), {DIGEST_TAG: "other"})
    site.run("approve", code=1)
    assert approvals() == ["PendingManualApproval", "Rejected"]
    assert "no model package group" in site.run("approve", "vision", code=1)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"RoleArn": "arn:aws:iam::123456789012:role/other"}, "Could not assume role"),
    ({"StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60}}, "EnableManagedSpotTraining"),
    ({"EnableManagedSpotTraining": True}, "MaxWaitTimeInSeconds"),
    ({"StoppingCondition": {"MaxRuntimeInSeconds": 500_000}}, "Longest run time"),
    ({"TrainingJobName": "a--b-"}, "TrainingJobName"),
    ({"VpcConfig": {"Subnets": ["subnet-x"], "SecurityGroupIds": ["sg-x"]}}, "does not exist"),
    ({"ResourceConfig": {"InstanceType": "ml.g9.large", "InstanceCount": 1, "VolumeSizeInGB": 1}}, "InstanceType"),
    ({"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 1, "VolumeKmsKeyId": "k"}}, "local storage"),]  # fmt: skip


def test_the_emulated_api_refuses_what_aws_refuses(site: Site) -> None:
    request, aws = json.loads(site.submit("--dry-run")), client_of(site.cloud, "sagemaker")
    for change, words in REFUSED:
        with pytest.raises(ClientError, match=words):
            aws.create_training_job(**{**request, **change})
    assert site.names == []
    aws.create_training_job(**request)
    with pytest.raises(ClientError, match="ResourceInUse"):
        aws.create_training_job(**request)
    site.cloud.control(training={request["TrainingJobName"]: {"seconds": 1}})
    with pytest.raises(ClientError, match="in status Completed"):
        aws.stop_training_job(TrainingJobName=request["TrainingJobName"])
