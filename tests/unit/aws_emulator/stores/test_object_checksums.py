"""The emulated S3 refuses what S3 refuses: a body that is not that of its checksum, and a second conditional write."""

import base64
import hashlib
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

BUCKET = "datasets-bucket"
BODY = b"a block of a dataset"
OTHER = base64.b64encode(hashlib.sha256(b"another body").digest()).decode()
OWN = base64.b64encode(hashlib.sha256(BODY).digest()).decode()


@pytest.fixture
def s3(cloud: EmulatorProcess) -> Any:
    client = client_of(cloud, "s3")
    client.create_bucket(Bucket=BUCKET)
    return client


def refusal(operation: Any, **parameters: Any) -> tuple[str, int]:
    with pytest.raises(ClientError) as refused:
        operation(Bucket=BUCKET, **parameters)
    response = refused.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.parametrize(
    "checksum",
    [{"ChecksumSHA256": OTHER}, {"ChecksumCRC32": "AAAAAA=="}, {"ContentMD5": base64.b64encode(bytes(16)).decode()}],
    ids=["sha256", "crc32", "md5"],
)
def test_an_upload_with_the_checksum_of_another_body_is_refused(s3: Any, checksum: dict[str, str]) -> None:
    assert refusal(s3.put_object, Key="block", Body=BODY, **checksum) == ("BadDigest", 400)
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET)


def test_a_part_with_the_checksum_of_another_body_is_refused(s3: Any) -> None:
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="file", ChecksumAlgorithm="SHA256")["UploadId"]
    part = {"Key": "file", "UploadId": upload, "PartNumber": 1, "Body": BODY}
    assert refusal(s3.upload_part, **part, ChecksumSHA256=OTHER) == ("BadDigest", 400)
    assert "Parts" not in s3.list_parts(Bucket=BUCKET, Key="file", UploadId=upload)


def test_the_checksum_of_an_upload_is_stored(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="block", Body=BODY, ChecksumSHA256=OWN)
    assert s3.head_object(Bucket=BUCKET, Key="block", ChecksumMode="ENABLED")["ChecksumSHA256"] == OWN
    assert s3.get_object(Bucket=BUCKET, Key="block")["Body"].read() == BODY


def test_a_conditional_write_does_not_replace_an_object(s3: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="manifest", Body=BODY, IfNoneMatch="*")
    again = {"Key": "manifest", "Body": b"other", "IfNoneMatch": "*"}
    assert refusal(s3.put_object, **again) == ("PreconditionFailed", 412)
    assert s3.get_object(Bucket=BUCKET, Key="manifest")["Body"].read() == BODY
