"""Data hub of the emulated AWS as `landbridge up` creates it, and a storage host with the profile of the role `mover`."""

import contextlib
import io
import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from landbridge.aws_api.objects import DataAccess, ObjectBucket, TransferRate
from landbridge.catalog.aws.datasets import DatasetFacts, datasets
from landbridge.cli.main import main
from landbridge.datasets.names import DESCRIBING
from landbridge.live.datasets import Uploaded, scan, upload
from landbridge.plan.aws.access.iam_policies import mover
from landbridge.plan.aws.storage.data_hub import bucket_policy
from landbridge.plan.outputs import (
    BucketOutput,
    DataHubOutput,
    IdentityOutput,
    NetworkOutput,
    SecretsOutput,
    StackOutputs,
)
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

ROOT = Path(__file__).resolve().parents[4]
ACCOUNT, REGION = "123456789012", "us-east-1"
BUCKET = f"acme-internal-{ACCOUNT}"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/acme-mover"
#: Blocks of 1 MiB: the tests move little.
SMALL = datasets().model_copy(update={"block_mib": datasets().block_mib.model_copy(update={"value": 1})})


@dataclass(frozen=True)
class Done:
    """Exit status and output of a command."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class StorageHost:
    """Checkout with an environment `acme`, its stack outputs, and a credentials file with the profile `mover`."""

    folder: Path
    cloud: EmulatorProcess

    @property
    def credentials(self) -> Path:
        return self.folder / "aws-profiles"

    def data(self, *words: str, mover: bool = True) -> Done:
        """Run `landbridge data` in this process: a new one needs a second to start."""
        command = ["landbridge", "data", *words, "-s", "acme", "--outputs", str(self.folder / "outputs.json")]
        return self._run([*command, *(["--credentials", str(self.credentials)] if mover else [])])

    def status(self, *words: str) -> Done:
        """Run `landbridge data status`, which needs no environment."""
        return self._run(["landbridge", "data", "status", *words])

    def _run(self, command: list[str]) -> Done:
        environ = {
            "HOME": str(self.folder / "home"),
            "COLUMNS": "200",
            "LANDBRIDGE_DEBUG": "1",  # an unexpected error fails the test
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SHARED_CREDENTIALS_FILE": str(self.cloud.operator_credentials),
        }
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            patch.dict(os.environ, environ),
            patch.object(sys, "argv", command),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            os.environ.pop("XDG_STATE_HOME", None)
            try:
                status = main()
            except SystemExit as ended:
                status = int(ended.code or 0)
        return Done(status, out.getvalue(), err.getvalue())

    def bucket(self, workers: int = 4, limit: float | None = None) -> ObjectBucket:
        """Return the bucket with the mover's credentials."""
        access = DataAccess(REGION, self.cloud.endpoint, "mover", str(self.credentials))
        return access.bucket(BUCKET, workers, TransferRate(limit), None)

    @property
    def operator(self) -> ObjectBucket:
        """Return the bucket with the operator's credentials, which may delete."""
        access = DataAccess(REGION, self.cloud.endpoint, "default", str(self.cloud.operator_credentials))
        return access.bucket(BUCKET, 4, TransferRate(None), None)

    def keys(self, prefix: str = "datasets/") -> list[str]:
        """Return the keys below a prefix."""
        return [facts.key for facts in self.operator.list(prefix)]

    def put(
        self, folder: Path, name: str = "corpus", version: str | None = None, facts: DatasetFacts = SMALL
    ) -> Uploaded:
        """Put a folder with small blocks."""
        files, findings = scan(folder)
        assert findings == []
        words: dict[str, Any] = {"name": name, "version": version, "data_class": "internal", "facts": facts}
        return upload(self.bucket(), folder, files, created=datetime.now(UTC), **words)


@pytest.fixture
def host(cloud: EmulatorProcess, tmp_path: Path) -> StorageHost:
    s3, kms, iam = (client_of(cloud, service) for service in ("s3", "kms", "iam"))
    key = kms.create_key()["KeyMetadata"]["Arn"]
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}}
    s3.put_bucket_encryption(Bucket=BUCKET, ServerSideEncryptionConfiguration={"Rules": [rule]})
    s3.put_bucket_policy(Bucket=BUCKET, Policy=bucket_policy(f"arn:aws:s3:::{BUCKET}", key))
    trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="acme-mover", AssumeRolePolicyDocument=_document([trust]))
    permissions = _document(mover([f"arn:aws:s3:::{BUCKET}"], [key]))
    iam.put_role_policy(RoleName="acme-mover", PolicyName="landbridge", PolicyDocument=permissions)
    keys = client_of(cloud, "sts").assume_role(RoleArn=ROLE, RoleSessionName="nfs01")["Credentials"]
    host = StorageHost(tmp_path / "checkout", cloud)
    (host.folder / "stacks").mkdir(parents=True)
    (host.folder / "home").mkdir()
    host.credentials.write_text(
        f"[mover]\naws_access_key_id = {keys['AccessKeyId']}\naws_secret_access_key = {keys['SecretAccessKey']}\n"
        f"aws_session_token = {keys['SessionToken']}\n"
    )
    (host.folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    text = (ROOT / "stacks/Pulumi.hybrid.yaml").read_text()
    text = text.replace(
        "    aws:\n      cidr", f"    aws:\n      endpoints: {{operator: {cloud.endpoint}}}\n      cidr"
    )
    (host.folder / "stacks/Pulumi.acme.yaml").write_text(text)
    outputs = StackOutputs(
        cluster="acme",
        region=REGION,
        network=NetworkOutput(vpc_id="vpc-0", cidr="10.60.0.0/16", subnets={}),
        data_hub=DataHubOutput(buckets={"internal": BucketOutput(name=BUCKET, key_arn=key)}),
        identity=IdentityOutput(node_instance_profile="-", node_role_arn="-", mover_role_arn=ROLE),
        secrets=SecretsOutput(slurm_key="-"),
        pools={},
    )
    (host.folder / "outputs.json").write_text(outputs.model_dump_json())
    return host


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a folder with small files, an empty one, an executable one and one of several blocks."""
    folder = tmp_path / "source"
    (folder / "shards/0").mkdir(parents=True)
    for number in range(40):
        (folder / f"shards/0/{number:03}.txt").write_text(f"record {number}\n" * 50)
    (folder / "empty").touch()
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "odd 'name' ü.txt").write_text("odd")
    (folder / "large.bin").write_bytes(b"".join(bytes([number]) * 2**20 for number in range(5)) + b"end")
    return folder


def contents(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """Return bytes and executable bit of each file of a folder, without the description and the manifest of a staged dataset."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in DESCRIBING]
    return {str(path.relative_to(folder)): (path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in files}


def _document(statements: list[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})
