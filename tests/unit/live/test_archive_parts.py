"""Bundles in parts, with a session of the role `archive`: uploads of several parts, and downloads of several ranges."""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from landbridge.aws_api.object_files import LEAST_PART, MOST_PARTS, PART_BYTES, get_file, part_bytes, put_file
from landbridge.aws_api.objects import DataAccess, ObjectBucket, TransferRate
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.live.models.archive import archive, restore
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.signers import trust_of
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.live.datasets.conftest import BUCKET, REGION, StorageHost, host  # noqa: F401 - fixture
from tests.unit.live.test_archive_pass import Timer, timer  # noqa: F401 - fixture
from tests.unit.models.conftest import Operator, operator, other_registry, registry_uri  # noqa: F401 - fixtures
from tests.unit.models.test_large_weights import write_safetensors

SIZE = 2 * LEAST_PART + 7
#: Disk that has room for a model of 12 MiB, and not for its bundle too.
DISK = SimpleNamespace(total=2**40, used=2**40 - 20 * 2**20, free=20 * 2**20)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of three parts."""
    path = tmp_path / "bundle"
    path.write_bytes(os.urandom(SIZE))
    return path


def uploads(timer: Timer) -> list[str]:  # noqa: F811
    """Return the keys of uploads that did not end."""
    answer = client_of(timer.host.cloud, "s3").list_multipart_uploads(Bucket=BUCKET)
    return [each["Key"] for each in answer.get("Uploads", ())]


def test_the_parts_of_a_file_are_large_enough_for_10000_of_them() -> None:
    assert part_bytes(140 * 10**9) == PART_BYTES
    for size in (1, PART_BYTES * MOST_PARTS, PART_BYTES * MOST_PARTS + 1, 5 * 2**40):
        assert part_bytes(size) * MOST_PARTS >= size and part_bytes(size) >= LEAST_PART
    assert part_bytes(5 * 2**40) % 2**20 == 0


def test_the_role_adds_a_file_in_parts_and_replaces_none(timer: Timer, file: Path, tmp_path: Path) -> None:  # noqa: F811
    bucket, operators = timer.bucket, timer.host.operator
    assert put_file(bucket, "models/m/1.tar", file, part=LEAST_PART)
    assert bucket.calls["upload_part"] == 3 and bucket.calls["put_object"] == 0
    before = operators.head("models/m/1.tar")
    assert before is not None and before.size == SIZE
    # Another program wrote the key after the archive listed it.
    assert not put_file(bucket, "models/m/1.tar", file, part=LEAST_PART)
    assert operators.head("models/m/1.tar") == before and uploads(timer) == []
    assert get_file(operators, "models/m/1.tar", tmp_path / "copy", part=LEAST_PART)
    assert (tmp_path / "copy").read_bytes() == file.read_bytes()
    assert not get_file(operators, "models/m/2.tar", tmp_path / "other")
    with pytest.raises(AwsRefusal) as refused:
        get_file(bucket, "models/m/1.tar", tmp_path / "denied", part=LEAST_PART)
    assert refused.value.code in ("403", "AccessDenied")


def test_an_object_that_is_replaced_while_it_is_read_is_no_file(timer: Timer, file: Path, tmp_path: Path) -> None:  # noqa: F811
    operators = timer.host.operator
    assert put_file(operators, "models/m/1.tar", file, part=LEAST_PART)
    counted: list[int] = []

    def replace_once(count: int) -> None:
        if not counted:
            operators.put("models/m/1.tar", b"x", sha256(b"x").hexdigest())
        counted.append(count)

    access = DataAccess(REGION, timer.host.cloud.endpoint, "default", str(timer.host.cloud.operator_credentials))
    reader = access.bucket(BUCKET, 1, TransferRate(None), replace_once)
    assert not get_file(reader, "models/m/1.tar", tmp_path / "copy", part=LEAST_PART)
    assert counted == [LEAST_PART]


def test_a_file_of_one_part_is_one_request(timer: Timer, file: Path) -> None:  # noqa: F811
    bucket = timer.bucket
    assert put_file(bucket, "models/m/1.tar", file) and not put_file(bucket, "models/m/1.tar", file)
    assert (bucket.calls["put_object"], bucket.calls["create_multipart_upload"]) == (2, 0)
    facts = timer.host.operator.head("models/m/1.tar")
    assert facts is not None and facts.sha256 == sha256(file.read_bytes()).hexdigest()


def test_the_role_needs_the_condition_at_the_end_of_an_upload_and_only_below_models(
    timer: Timer,  # noqa: F811
    file: Path,
) -> None:
    bucket = timer.bucket
    upload = bucket.call("create_multipart_upload", Key="models/m/1.tar")["UploadId"]
    words = {"Key": "models/m/1.tar", "UploadId": upload}
    etag = bucket.call("upload_part", PartNumber=1, Body=b"x", **words)["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    with pytest.raises(AwsRefusal) as refused:
        bucket.call("complete_multipart_upload", MultipartUpload=parts, **words)
    assert (refused.value.code, refused.value.action) == ("AccessDenied", "s3:PutObject")
    bucket.call("abort_multipart_upload", **words)
    with pytest.raises(AwsRefusal) as refused:
        put_file(bucket, "mlflow/x", file, part=LEAST_PART)
    assert refused.value.code == "AccessDenied" and uploads(timer) == []


def test_an_upload_that_fails_leaves_no_parts_and_a_later_one_succeeds(timer: Timer, file: Path) -> None:  # noqa: F811
    cloud, bucket = timer.host.cloud, timer.bucket
    statements = client_of(cloud, "iam").get_role_policy(RoleName="acme-archive", PolicyName="landbridge")
    document = statements["PolicyDocument"]
    # The key's owner has taken the right to decrypt.
    without = [each for each in document["Statement"] if each["Sid"] != "JoinPartsOfArchive"]
    set_policy(timer, {**document, "Statement": without})
    with pytest.raises(AwsRefusal) as refused:
        put_file(bucket, "models/m/1.tar", file, part=LEAST_PART)
    assert refused.value.code == "AccessDenied" and "kms:Decrypt" in refused.value.message
    assert uploads(timer) == [] and timer.host.keys("models/") == []
    set_policy(timer, document)
    assert put_file(bucket, "models/m/1.tar", file, part=LEAST_PART)


def set_policy(timer: Timer, document: object) -> None:  # noqa: F811
    """Set the policy of the role."""
    iam = client_of(timer.host.cloud, "iam")
    iam.put_role_policy(RoleName="acme-archive", PolicyName="landbridge", PolicyDocument=json.dumps(document))


def test_parts_and_ranges_are_paced_and_counted(timer: Timer, file: Path, tmp_path: Path) -> None:  # noqa: F811
    waits: list[float] = []
    counted: list[int] = []
    access = DataAccess(REGION, timer.host.cloud.endpoint, "default", str(timer.host.cloud.operator_credentials))
    rate = TransferRate(float(LEAST_PART), clock=lambda: 0.0, sleep=waits.append)
    bucket: ObjectBucket = access.bucket(BUCKET, 2, rate, counted.append)
    assert put_file(bucket, "models/m/1.tar", file, part=LEAST_PART)
    assert sum(counted) == SIZE and max(waits) == pytest.approx(SIZE / LEAST_PART, rel=0.01)
    assert get_file(bucket, "models/m/1.tar", tmp_path / "copy", part=LEAST_PART)
    assert sum(counted) == 2 * SIZE and max(waits) == pytest.approx(2 * SIZE / LEAST_PART, rel=0.01)


def test_a_model_of_several_parts_is_archived_by_the_role_and_restored(
    timer: Timer,  # noqa: F811
    other_registry: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digest = write_safetensors(tmp_path / "model", 12 * 2**20, "parted")
    timer.person.publish(tmp_path / "model")
    registry, trust = ModelRegistry(timer.person.uri), trust_of([timer.person.trust.read_text()], ())
    bucket = timer.bucket
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda place: DISK)
        step, history = archive(registry, ["parted"], trust, "internal", bucket, part=LEAST_PART)
    assert (step.state, history.state) == ("refused", "copied") and "needs twice its size" in step.reason
    steps = list(archive(registry, ["parted"], trust, "internal", bucket, part=LEAST_PART))
    assert [step.state for step in steps] == ["copied", "present"] and bucket.calls["upload_part"] == 3
    assert {step.state for step in archive(registry, ["parted"], trust, "internal", bucket, part=LEAST_PART)} == {
        "present"
    }
    target = ModelRegistry(other_registry)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda place: DISK)
        (step,) = restore(target, trust, "internal", timer.host.operator, part=LEAST_PART)
    assert step.state == "refused" and "needs twice its size" in step.reason
    states = [step.state for step in restore(target, trust, "internal", timer.host.operator, part=LEAST_PART)]
    assert states == ["copied", "copied"]
    restored = target.version("parted", "1")
    with target.downloaded(restored, target.files(restored)) as folder:
        assert sha256((folder / "model.safetensors").read_bytes()).hexdigest() == digest
