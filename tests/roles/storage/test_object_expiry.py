"""Program that expires earlier versions in the site's object store, with the emulated S3, and its decision about single versions."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.roles.jobs.program_module import loaded
from tests.unit.aws_emulator.conftest import client_of

PROGRAM = Path(__file__).parents[3] / "ansible/roles/object_store/files/landbridge-object-expire"
BUCKET = "acme-internal"
NOW = datetime(2026, 11, 26)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent") as process:
        yield process


@pytest.fixture
def s3(cloud: EmulatorProcess) -> Any:
    cloud.control(wipe=True)
    client = client_of(cloud, "s3")
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return client


def expire(
    cloud: EmulatorProcess, folder: Path, noncurrent_days: int, *buckets: str
) -> "subprocess.CompletedProcess[str]":
    lines = cloud.operator_credentials.read_text().splitlines()
    keys = dict(line.split(" = ") for line in lines if " = " in line)
    settings = {
        "endpoint": cloud.endpoint,
        "ca": "",
        "region": "us-east-1",
        "buckets": [*buckets, BUCKET],
        "noncurrent_days": noncurrent_days,
        "upload_days": noncurrent_days,
    }
    (folder / "expiry.json").write_text(json.dumps(settings))
    environ = {
        "PATH": os.environ["PATH"],
        "ROOT_ACCESS_KEY": keys["aws_access_key_id"],
        "ROOT_SECRET_KEY": keys["aws_secret_access_key"],
    }
    command = [sys.executable, "-I", str(PROGRAM), str(folder / "expiry.json")]
    return subprocess.run(command, env=environ, capture_output=True, text=True)


def remaining(s3: Any) -> list[tuple[str, str]]:
    listed = s3.list_object_versions(Bucket=BUCKET)
    versions = [(entry["Key"], entry["VersionId"]) for entry in listed.get("Versions", ())]
    return sorted(versions + [(entry["Key"], "marker") for entry in listed.get("DeleteMarkers", ())])


def test_replaced_and_deleted_versions_expire_and_current_ones_remain(
    cloud: EmulatorProcess, s3: Any, tmp_path: Path
) -> None:
    s3.put_object(Bucket=BUCKET, Key="model", Body=b"1")
    current = s3.put_object(Bucket=BUCKET, Key="model", Body=b"22")["VersionId"]
    s3.put_object(Bucket=BUCKET, Key="gone", Body=b"333")
    s3.delete_object(Bucket=BUCKET, Key="gone")
    before = remaining(s3)
    early = expire(cloud, tmp_path, 30)
    assert (early.returncode, early.stdout) == (
        0,
        f"{BUCKET}: 0 versions expired (0 bytes), 0 uploads aborted, 0 failed\n",
    ), early.stderr
    assert remaining(s3) == before
    # The emulated S3 gives every upload a date of 2010.
    s3.create_multipart_upload(Bucket=BUCKET, Key="half")
    first = expire(cloud, tmp_path, 0)
    assert first.stdout == f"{BUCKET}: 3 versions expired (4 bytes), 1 uploads aborted, 0 failed\n", first.stderr
    assert remaining(s3) == [("model", current)]
    assert not s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads")
    assert s3.get_object(Bucket=BUCKET, Key="model")["Body"].read() == b"22"


def test_more_versions_than_one_page_and_one_request(cloud: EmulatorProcess, s3: Any, tmp_path: Path) -> None:
    for number in range(1101):
        s3.put_object(Bucket=BUCKET, Key=f"k{number % 3}", Body=b"x")
    done = expire(cloud, tmp_path, 0)
    assert done.stdout == f"{BUCKET}: 1098 versions expired (1098 bytes), 0 uploads aborted, 0 failed\n", done.stderr
    assert [key for key, _ in remaining(s3)] == ["k0", "k1", "k2"]


def test_a_missing_bucket_fails_the_run_and_not_the_other_bucket(
    cloud: EmulatorProcess, s3: Any, tmp_path: Path
) -> None:
    done = expire(cloud, tmp_path, 30, "absent")
    assert done.returncode == 1 and done.stderr.startswith("absent: NoSuchBucket")
    assert done.stdout.startswith(f"{BUCKET}: 0 versions expired")


@pytest.mark.parametrize(
    ("ages", "expired"),
    [
        # Days since each version was written, the current one first; a version counts from the day of its successor.
        ([("v", 1), ("v", 90)], []),
        ([("v", 31), ("v", 90)], [90]),
        ([("v", 90), ("v", 91), ("v", 92)], [91, 92]),
        ([("v", 10), ("v", 40), ("v", 50)], [50]),
        ([("marker", 10), ("v", 50)], []),
        ([("marker", 31), ("v", 50)], [50, 31]),
        ([("marker", 5)], [5]),
        ([("v", 400)], []),
    ],
)
def test_a_version_expires_thirty_days_after_it_was_replaced(ages: list[tuple[str, int]], expired: list[int]) -> None:
    module = loaded(PROGRAM, "object_expire")
    entries = [{"LastModified": NOW - timedelta(days=days), "marker": kind == "marker"} for kind, days in ages]
    expired_entries = module.expired_versions(entries, NOW - timedelta(days=30))
    assert [(NOW - entry["LastModified"]).days for entry in expired_entries] == expired
