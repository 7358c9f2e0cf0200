"""Emulated AWS for the cache of datasets: a bucket, a staged dataset and a role of jobs for each class."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from landbridge.aws_api.objects import DataAccess, TransferRate
from landbridge.catalog.aws.datasets import datasets
from landbridge.datasets import DatasetManifest, manifest_key
from landbridge.live.datasets import scan, upload
from landbridge.live.staging.cloud_files import write_cloud_files
from landbridge.plan.aws.access.iam_policies import hub
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

ACCOUNT, REGION = "123456789012", "us-east-1"
CLASSES = ("internal", "partner")


def stage(process: EmulatorProcess, source: Path, sizes: list[int]) -> None:
    """Create the buckets and the roles, and stage `corpus:v1` with files of these sizes, which are written below `source`, in each bucket."""
    for number, size in enumerate(sizes):
        (source / f"part-{number % 2}").mkdir(parents=True, exist_ok=True)
        (source / f"part-{number % 2}/file ü{number}").write_bytes(os.urandom(size))
    files, findings = scan(source)
    assert findings == []
    s3, iam = client_of(process, "s3"), client_of(process, "iam")
    for name in CLASSES:
        s3.create_bucket(Bucket=f"{name}-bucket")
        trust = [{"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}]
        allowed = hub([f"arn:aws:s3:::{name}-bucket"], [f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{name}"])
        trusted, document = (json.dumps({"Version": "2012-10-17", "Statement": each}) for each in (trust, allowed))
        iam.create_role(RoleName=f"job-{name}", AssumeRolePolicyDocument=trusted)
        iam.put_role_policy(RoleName=f"job-{name}", PolicyName="landbridge", PolicyDocument=document)
        access = DataAccess(REGION, process.endpoint, "default", str(process.operator_credentials))
        bucket = access.bucket(f"{name}-bucket", 2, TransferRate(None), None)
        named = {"name": "corpus", "version": "v1", "data_class": name}
        upload(bucket, source, files, facts=datasets(), created=datetime.now(UTC), **named)
        body = bucket.get(manifest_key("corpus", "v1"))
        assert body is not None
        write_cloud_files(bucket, DatasetManifest.parse(body))


def credentials(process: EmulatorProcess, data_class: str) -> list[str]:
    """Return access key, secret key and token of the role of a class's jobs."""
    role = f"arn:aws:iam::{ACCOUNT}:role/job-{data_class}"
    keys = client_of(process, "sts").assume_role(RoleArn=role, RoleSessionName="job")["Credentials"]
    return [keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"]]
