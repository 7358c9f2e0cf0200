"""Uploads in parts: the emulated S3 refuses what S3 refuses."""

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.identity.s3_actions import context, key_use
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.storage.object_checksums import LARGEST_BODY, check_upload
from tests.unit.aws_emulator.conftest import ONCE, client_of

BUCKET, ACCOUNT = "parts-bucket", "123456789012"
LEAST = 5 * 2**20


@pytest.fixture
def s3(cloud: EmulatorProcess) -> Any:
    client = client_of(cloud, "s3")
    client.create_bucket(Bucket=BUCKET)
    return client


def send(s3: Any, key: str, *bodies: bytes) -> tuple[str, dict[str, Any]]:
    """Begin an upload and send its parts; return its id and the list of parts."""
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
    parts = []
    for number, body in enumerate(bodies, 1):
        words = {"Bucket": BUCKET, "Key": key, "UploadId": upload, "PartNumber": number}
        parts.append({"PartNumber": number, "ETag": s3.upload_part(**words, Body=body)["ETag"]})
    return upload, {"Parts": parts}


def refusal(operation: Any, **parameters: Any) -> str:
    with pytest.raises(ClientError) as refused:
        operation(Bucket=BUCKET, **parameters)
    return str(refused.value.response["Error"]["Code"])


def test_the_end_of_an_upload_in_parts_with_the_condition_replaces_no_object(s3: Any) -> None:
    upload, parts = send(s3, "x", bytes(LEAST), b"end")
    s3.put_object(Bucket=BUCKET, Key="x", Body=b"first")
    words = {"Key": "x", "UploadId": upload, "MultipartUpload": parts}
    assert refusal(s3.complete_multipart_upload, **words, IfNoneMatch="*") == "PreconditionFailed"
    assert s3.get_object(Bucket=BUCKET, Key="x")["Body"].read() == b"first"
    s3.complete_multipart_upload(Bucket=BUCKET, **words)
    assert s3.head_object(Bucket=BUCKET, Key="x")["ContentLength"] == LEAST + 3


def test_a_part_below_5_mib_is_refused_unless_it_is_the_last_one(s3: Any) -> None:
    upload, parts = send(s3, "x", bytes(LEAST - 1), b"end")
    words = {"Key": "x", "UploadId": upload, "MultipartUpload": parts}
    assert refusal(s3.complete_multipart_upload, **words) == "EntityTooSmall"
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET)


@pytest.mark.parametrize("query", ["", "partNumber=1&uploadId=x"])
def test_a_body_of_more_than_5_gib_is_refused(query: str) -> None:
    request = {"REQUEST_METHOD": "PUT", "PATH_INFO": "/b/k", "QUERY_STRING": query}
    check_upload({**request, "CONTENT_LENGTH": str(LARGEST_BODY)})
    with pytest.raises(CloudError) as refused:
        check_upload({**request, "CONTENT_LENGTH": str(LARGEST_BODY + 1)})
    assert (refused.value.code, refused.value.status) == ("EntityTooLarge", 400)


@pytest.mark.parametrize(
    ("method", "path", "query", "creates"),
    [
        ("PUT", "/b/k", "", "true"),
        ("POST", "/b/k", "uploads", "false"),
        ("PUT", "/b/k", "partNumber=1&uploadId=x", "false"),
        ("POST", "/b/k", "uploadId=x", "true"),
        ("DELETE", "/b/k", "uploadId=x", None),
        ("PUT", "/b/k", "tagging", None),
        ("GET", "/b/k", "", None),
        ("PUT", "/b", "", None),
    ],
)
def test_a_request_says_whether_it_creates_an_object(method: str, path: str, query: str, creates: str | None) -> None:
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query}
    assert context(environ).get("s3:ObjectCreationOperation") == creates
    uses = key_use("PutObject" if method in ("PUT", "POST") else "AbortMultipartUpload", environ)
    if creates is not None:
        assert uses == ("kms:Decrypt" if "uploadId" in query else "kms:GenerateDataKey")


def test_parts_in_a_bucket_with_a_key_need_the_right_to_decrypt(cloud: EmulatorProcess, s3: Any) -> None:
    key = client_of(cloud, "kms").create_key()["KeyMetadata"]["Arn"]
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}}
    s3.put_bucket_encryption(Bucket=BUCKET, ServerSideEncryptionConfiguration={"Rules": [rule]})
    iam = client_of(cloud, "iam")
    trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="writer", AssumeRolePolicyDocument=json.dumps({"Statement": [trust]}))
    write = {"Effect": "Allow", "Action": ["s3:PutObject", "kms:GenerateDataKey"], "Resource": "*"}

    def permit(*statements: dict[str, Any]) -> None:
        text = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_role_policy(RoleName="writer", PolicyName="p", PolicyDocument=text)

    permit(write)
    role = f"arn:aws:iam::{ACCOUNT}:role/writer"
    keys = client_of(cloud, "sts").assume_role(RoleArn=role, RoleSessionName="host")["Credentials"]
    writer = boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=cloud.endpoint,
        config=ONCE,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )
    writer.put_object(Bucket=BUCKET, Key="whole", Body=b"x")
    upload = writer.create_multipart_upload(Bucket=BUCKET, Key="x")["UploadId"]
    part = {"Key": "x", "UploadId": upload, "PartNumber": 1, "Body": b"x"}
    assert refusal(writer.upload_part, **part) == "AccessDenied"
    via_s3 = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
    permit(write, {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": key, "Condition": via_s3})
    assert writer.upload_part(Bucket=BUCKET, **part)["ETag"]
