"""Bucket of a data class as `landbridge up` creates it, jobs with the role of the class, and training processes."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from landbridge_checkpoints import CheckpointStore

from landbridge.plan.aws.access.job_roles import JobRolePlan, permissions
from landbridge.plan.aws.storage.data_hub import bucket_policy
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.demo.cluster import wait_for
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.live.conftest import cloud, emulator  # noqa: F401

ROOT = Path(__file__).resolve().parents[3]
ACCOUNT, REGION = "123456789012", "us-east-1"
BUCKET = f"acme-internal-{ACCOUNT}"
URL = f"s3://{BUCKET}/vision"


@dataclass
class Training:
    """Training process of a job and its output."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def text(self) -> str:
        return self.log.read_text()

    def wait_for(self, text: str) -> None:
        wait_for(
            text, lambda: (text in self.text(), self.process.poll()), lambda state: state[0] or state[1] is not None
        )
        assert text in self.text(), self.text()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL, self.text()

    def finished(self) -> "Training":
        assert self.process.wait(120) == 0, self.text()
        return self

    @property
    def losses(self) -> dict[int, str]:
        return {int(step): loss for step, loss in re.findall(r"^step (\d+) loss=(\S+)$", self.text(), re.MULTILINE)}


@dataclass
class Hub:
    """Bucket of the class, and the jobs of its users."""

    cloud: EmulatorProcess
    folder: Path
    variables: dict[str, str]
    trainings: list[Training] = field(default_factory=list)

    @property
    def s3(self) -> Any:
        return client_of(self.cloud, "s3")

    def environ(self, restarts: int = 0, job: str = "7") -> dict[str, str]:
        """Return the variables of a job at its n-th start, as Slurm and the task prolog set them."""
        slurm = {"SLURM_JOB_ID": job, "SLURM_RESTART_COUNT": str(restarts), "SLURM_CLUSTER_NAME": "acme"}
        return {**self.variables, **slurm, "LANDBRIDGE_CHECKPOINT_URL": URL}

    def train(self, site: str, restarts: int = 0, job: str = "7", **words: Any) -> Training:
        """Start the training loop at a site, which has a local folder of its own."""
        words = {"run": "run", "local": str(self.folder / site), "steps": 12, "every": 3, **words}
        log = self.folder / f"{site}-{job}-{restarts}-{len(self.trainings)}.log"
        path = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'examples/checkpoints'}"}
        command = [sys.executable, "-m", "tests.unit.checkpoints_of_jobs.trainer", json.dumps(words)]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, cwd=ROOT, env={**path, **self.environ(restarts, job)}, stdout=stream, stderr=subprocess.STDOUT
            )
        self.trainings.append(Training(process, log))
        return self.trainings[-1]

    def store(self, site: str, restarts: int = 0, job: str = "7", **words: Any) -> tuple[CheckpointStore, list[str]]:
        """Return a store in this process, and its messages."""
        messages: list[str] = []
        words = {"local": self.folder / site, "environ": self.environ(restarts, job), "say": messages.append, **words}
        return CheckpointStore("run", **words), messages

    def keys(self, folder: str = "") -> list[str]:
        """Return the keys of the run below a folder."""
        page = self.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"vision/run/{folder}")
        return [entry["Key"].removeprefix("vision/run/") for entry in page.get("Contents", ())]

    def steps(self) -> list[int]:
        """Return the steps of the complete checkpoints in the bucket."""
        return [int(key.split("/")[1].split("-")[0]) for key in self.keys("manifests/")]

    def latest(self) -> dict[str, Any]:
        """Return the content of the pointer."""
        body = self.s3.get_object(Bucket=BUCKET, Key="vision/run/latest.json")["Body"].read()
        return dict(json.loads(body))

    def held(self, method: str) -> None:
        """Wait until a call of S3 is held."""
        wait_for("the held call", lambda: self.cloud.control()["held"], {f"s3:{method}": 1}.__eq__)


def save(store: CheckpointStore, step: int, text: str = "weights") -> str:
    """Save a checkpoint with two files, wait for its upload, and return its name."""
    with store.writing(step, {"step": step}) as folder:
        (folder / "shard").mkdir()
        (folder / "shard/0.bin").write_text(f"{text} {step}" * 100)
        (folder / "meta.json").write_text(json.dumps({"step": step}))
    assert store.finish(60)
    return max(path.parent.parent.name for path in folder.parent.parent.glob(f"{step:012d}-*/files/meta.json"))


@pytest.fixture
def hub(cloud: EmulatorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:  # noqa: F811
    yield from hub_with(cloud, tmp_path, monkeypatch, may_delete=True)


@pytest.fixture
def hub_without_delete(
    cloud: EmulatorProcess,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Hub]:
    """Return the bucket of a class without `jobs_may_delete`, which is the default."""
    yield from hub_with(cloud, tmp_path, monkeypatch, may_delete=False)


def hub_with(
    cloud: EmulatorProcess,  # noqa: F811
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    may_delete: bool,
) -> Iterator[Hub]:
    """Yield the bucket; this process has the credentials of a job."""
    s3, iam = client_of(cloud, "s3"), client_of(cloud, "iam")
    key = client_of(cloud, "kms").create_key()["KeyMetadata"]["Arn"]
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_policy(Bucket=BUCKET, Policy=bucket_policy(f"arn:aws:s3:::{BUCKET}", key))
    trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
    plan = JobRolePlan(data_class="internal", name="acme-job-internal", may_delete=may_delete)
    iam.create_role(RoleName=plan.name, AssumeRolePolicyDocument=_document([trust]))
    rights = _document(permissions(plan, f"arn:aws:s3:::{BUCKET}", key))
    iam.put_role_policy(RoleName=plan.name, PolicyName="landbridge", PolicyDocument=rights)
    role = f"arn:aws:iam::{ACCOUNT}:role/{plan.name}"
    keys = client_of(cloud, "sts").assume_role(RoleArn=role, RoleSessionName="job-7")["Credentials"]
    variables = {
        "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
        "AWS_SESSION_TOKEN": keys["SessionToken"],
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    hub = Hub(cloud, folder, variables)
    yield hub
    cloud.control(reset=True, faults={})
    for training in hub.trainings:
        with contextlib.suppress(ProcessLookupError):
            training.process.kill()
        training.process.wait()


def _document(statements: list[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})
