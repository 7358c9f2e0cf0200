"""Prefix of an S3 bucket: objects with a SHA-256 that S3 compares, conditional writes, and a bandwidth limit."""

import base64
import hashlib
import io
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from landbridge_checkpoints.objects import ListedObject, Unreachable
from landbridge_checkpoints.rate import UploadRate, upload_rate

_URL = re.compile(r"^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?$")
_ABSENT = ("404", "NoSuchKey", "NotFound")
_CONDITION = ("PreconditionFailed", "ConditionalRequestConflict", *_ABSENT)
T = TypeVar("T")


class _PacedBody(io.BytesIO):
    """Request body that is sent no faster than a rate."""

    def __init__(self, body: bytes, rate: UploadRate) -> None:
        super().__init__(body)
        self._rate = rate

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        self._rate.take(len(chunk))
        return chunk


class BucketPrefix:
    """Objects below `s3://BUCKET/PREFIX`. Credentials, region and endpoint are those of every AWS SDK in a job."""

    def __init__(self, url: str, workers: int, limit_mbit: float | None = None) -> None:
        match = _URL.match(url)
        if match is None:
            raise ValueError(f"{url!r} is not s3://BUCKET/PREFIX")
        self.url = url.rstrip("/")
        self._bucket, prefix = match[1], (match[2] or "").strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._rate = upload_rate(limit_mbit)
        self._client: Any = None
        self._workers, self._lock = workers, threading.Lock()

    def get(self, key: str) -> tuple[bytes, str] | None:
        """Return the bytes and the ETag of an object; None without one. Raises Unreachable."""
        try:
            return self._call("get_object", _body, Key=self._prefix + key)
        except _Refused as refused:
            if refused.code in _ABSENT:
                return None
            raise

    def put(self, key: str, body: bytes, *, if_absent: bool = False, if_etag: str | None = None) -> str | None:
        """Write an object and return its ETag; None if its condition does not hold. Raises Unreachable."""
        condition = {"IfNoneMatch": "*"} if if_absent else {} if if_etag is None else {"IfMatch": if_etag}
        checksum = base64.b64encode(hashlib.sha256(body).digest()).decode()
        words = {"Key": self._prefix + key, "Body": body, "ChecksumSHA256": checksum, **condition}
        try:
            return self._call("put_object", _etag, **words)
        except _Refused as refused:
            if condition and refused.code in _CONDITION:
                return None
            raise

    def list(self, folder: str) -> Iterator[ListedObject]:
        """Yield the objects below a folder. Raises Unreachable."""
        token: dict[str, str] = {}
        while True:
            page: dict[str, Any] = self._call("list_objects_v2", dict, Prefix=self._prefix + folder, **token)
            for entry in page.get("Contents", ()):
                yield ListedObject(entry["Key"].removeprefix(self._prefix), entry["LastModified"])
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects. Raises Unreachable, also if S3 refuses one of them."""
        for start in range(0, len(keys), 1000):
            objects = [{"Key": self._prefix + key} for key in keys[start : start + 1000]]
            response: dict[str, Any] = self._call("delete_objects", dict, Delete={"Objects": objects, "Quiet": True})
            for error in response.get("Errors", ()):
                raise Unreachable(f"s3:DeleteObject {error['Key']}: {error['Code']}: {error['Message']}")

    def _call(self, operation: str, read: Callable[[Any], T], **words: Any) -> T:
        try:
            return read(getattr(self._connected(), operation)(Bucket=self._bucket, **words))
        except ClientError as error:
            details = error.response.get("Error", {})
            raise _Refused(operation, str(details.get("Code")), str(details.get("Message"))) from error
        # OSError and ValueError: a response that ends early, and a job without credentials or region.
        except (BotoCoreError, OSError, ValueError) as error:
            raise Unreachable(f"{operation}: {type(error).__name__}: {error}") from error

    def _connected(self) -> Any:
        """Return the client; it is created at the first call, since that needs a region."""
        with self._lock:
            if self._client is None:
                retries = {"mode": "standard", "total_max_attempts": 3}
                config = Config(
                    retries=retries,  # type: ignore[arg-type]
                    connect_timeout=10,
                    read_timeout=60,
                    max_pool_connections=self._workers + 2,
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                )
                self._client = boto3.session.Session().client("s3", config=config)
                # After the signature, which reads the body too.
                self._client.meta.events.register("before-send.s3.PutObject", self._pace)
            return self._client

    def _pace(self, request: Any, **_: Any) -> None:
        if self._rate.bytes_per_second is not None and isinstance(request.body, io.BytesIO):
            request.body = _PacedBody(request.body.getvalue(), self._rate)


def _body(response: Any) -> tuple[bytes, str]:
    return bytes(response["Body"].read()), _etag(response)


def _etag(response: Any) -> str:
    return str(response["ETag"])


class _Refused(Unreachable):
    """Error of S3 with its code."""

    def __init__(self, operation: str, code: str, message: str) -> None:
        super().__init__(f"{operation}: {code}: {message}")
        self.code = code
