"""Bucket of S3 for large transfers: parallel, paced, with a checksum on each upload, and AwsRefusal for failures."""

import base64
import contextlib
import io
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.aws_api.client import iam_action
from landbridge.aws_api.refusal import AwsRefusal

T = TypeVar("T")
_CHUNK = 1 << 20
_READ_ATTEMPTS = 4
_CUT_OFF = ("ReadTimeoutError", "ResponseStreamingError", "IncompleteReadError")
#: Codes of an object that does not exist.
ABSENT = ("404", "NoSuchKey", "NotFound")


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """Object: size, time of its last write by S3's clock, ETag, and its SHA-256 and CRC-32 as hex digits if S3 has them.

    `storage_class` is empty for S3 Standard, and where it was not asked for.
    """

    key: str
    size: int
    modified: datetime
    etag: str
    sha256: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    crc32: str | None = None
    storage_class: str = ""


class TransferRate:
    """Bandwidth limit that all threads of a transfer share; None: no limit."""

    def __init__(
        self,
        bytes_per_second: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.bytes_per_second = bytes_per_second
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._free_at = clock()

    def take(self, count: int) -> None:
        """Wait until `count` further bytes may pass."""
        if self.bytes_per_second is None:
            return
        with self._lock:
            start = max(self._free_at, self._clock())
            self._free_at = start + count / self.bytes_per_second
            wait = self._free_at - self._clock()
        if wait > 0:
            self._sleep(wait)


class _PacedBody(io.BytesIO):
    """Request body that is sent no faster than a rate."""

    def __init__(self, body: bytes, rate: TransferRate) -> None:
        super().__init__(body)
        self._rate = rate

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        self._rate.take(len(chunk))
        return chunk


class ObjectBucket:
    """Bucket with the calls that datasets need, safe for use from several threads. `calls` counts them by operation."""

    def __init__(
        self, name: str, client: Any, workers: int, rate: TransferRate, progress: Callable[[int], None] | None = None
    ) -> None:
        self.name, self.workers, self.rate = name, workers, rate
        self.calls: Counter[str] = Counter()
        self._client, self._lock = client, threading.Lock()
        self.progress = progress or (lambda count: None)
        # After the signature, which reads the body too.
        for operation in ("PutObject", "UploadPart"):
            client.meta.events.register(f"before-send.s3.{operation}", self._replace_body)

    def _replace_body(self, request: Any, **_: Any) -> None:
        """Pace a body; without a limit send it at once, since botocore's stream is read in pieces of 16 KiB."""
        if isinstance(request.body, io.BytesIO):
            body = request.body.getvalue()
            request.body = body if self.rate.bytes_per_second is None else _PacedBody(body, self.rate)

    def head(self, key: str) -> ObjectFacts | None:
        """Return the facts of an object; None without one. Raises AwsRefusal."""
        try:
            response = self.call("head_object", Key=key, ChecksumMode="ENABLED")
        except AwsRefusal as refused:
            if refused.code in ABSENT:
                return None
            raise
        return ObjectFacts(
            key,
            response["ContentLength"],
            response["LastModified"],
            response["ETag"],
            _hex(response.get("ChecksumSHA256")),
            response.get("Metadata", {}),
            _hex(response.get("ChecksumCRC32")),
        )

    def put(
        self,
        key: str,
        body: bytes,
        sha256: str,
        *,
        if_absent: bool = False,
        if_etag: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> bool:
        """Write an object; S3 compares its SHA-256. Return false if a condition does not hold. Raises AwsRefusal."""
        condition = {"IfNoneMatch": "*"} if if_absent else {} if if_etag is None else {"IfMatch": if_etag}
        described = {} if metadata is None else {"Metadata": dict(metadata)}
        checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
        try:
            self.call("put_object", Key=key, Body=body, ChecksumSHA256=checksum, **condition, **described)
        except AwsRefusal as refused:
            if condition and refused.code in ("PreconditionFailed", "ConditionalRequestConflict", *ABSENT):
                return False
            raise
        self.progress(len(body))
        return True

    def get(self, key: str) -> bytes | None:
        """Return the bytes of an object; None without one. Raises AwsRefusal."""
        return self._get(Key=key)

    def get_range(self, key: str, etag: str, start: int, length: int) -> bytes | None:
        """Return bytes of an object with this ETag; None without such an object. Raises AwsRefusal."""
        try:
            return self._get(Key=key, IfMatch=etag, Range=f"bytes={start}-{start + length - 1}")
        except AwsRefusal as refused:
            if refused.code in ("PreconditionFailed", "412"):
                return None
            raise

    def _get(self, **parameters: str) -> bytes | None:
        for attempt in range(_READ_ATTEMPTS):
            try:
                return self._use("get_object", self._read, **parameters)
            except AwsRefusal as refused:
                if refused.code in ABSENT:
                    return None
                # The SDK repeats requests, but not a response that ends early.
                if refused.code not in _CUT_OFF or attempt + 1 == _READ_ATTEMPTS:
                    raise
        return None

    def _read(self, response: Any) -> bytes:
        if self.rate.bytes_per_second is None:
            # One call: pieces of a stream are copied several times.
            body = bytes(response["Body"].read())
            self.progress(len(body))
            return body
        pieces = []
        for piece in response["Body"].iter_chunks(_CHUNK):
            self.rate.take(len(piece))
            self.progress(len(piece))
            pieces.append(piece)
        return b"".join(pieces)

    def copy(self, key: str, sources: Sequence[str], metadata: Mapping[str, str]) -> None:
        """Write an object from the bytes of other objects, inside S3. Raises AwsRefusal.

        Of several sources, each but the last has at least 5 MiB. The object appears when it is complete.
        """
        origins = [{"Bucket": self.name, "Key": source} for source in sources]
        if len(origins) == 1:
            words = {"CopySource": origins[0], "Metadata": dict(metadata), "MetadataDirective": "REPLACE"}
            self.call("copy_object", Key=key, **words)
            return
        upload = self.call("create_multipart_upload", Key=key, Metadata=dict(metadata))["UploadId"]
        try:
            parts = []
            for number, origin in enumerate(origins, 1):
                answer = self.call("upload_part_copy", Key=key, UploadId=upload, PartNumber=number, CopySource=origin)
                parts.append({"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]})
            self.call("complete_multipart_upload", Key=key, UploadId=upload, MultipartUpload={"Parts": parts})
        except AwsRefusal:
            # The bucket's lifecycle removes the rest of an upload that a killed process has left.
            with contextlib.suppress(AwsRefusal):
                self.call("abort_multipart_upload", Key=key, UploadId=upload)
            raise

    def list(self, prefix: str) -> Iterator[ObjectFacts]:
        """Yield the objects below a prefix. Raises AwsRefusal."""
        token: dict[str, str] = {}
        while True:
            page = self.call("list_objects_v2", Prefix=prefix, **token)
            for item in page.get("Contents", ()):
                storage_class = item.get("StorageClass", "STANDARD")
                words = {} if storage_class == "STANDARD" else {"storage_class": storage_class}
                yield ObjectFacts(item["Key"], item["Size"], item["LastModified"], item["ETag"], **words)
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, keys: Sequence[str]) -> dict[str, str]:
        """Delete at most 1,000 objects; return the error by key of those that S3 refused. Raises AwsRefusal."""
        objects = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        response = self.call("delete_objects", Delete=objects)
        return {error["Key"]: f"{error['Code']}: {error['Message']}" for error in response.get("Errors", ())}

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return the response of a call. Raises AwsRefusal."""
        return self._use(operation, dict, **parameters)

    def _use(self, operation: str, read: Callable[[Any], T], **parameters: Any) -> T:
        """Return what `read` makes of the response of a call, whose body may fail too. Raises AwsRefusal."""
        with self._lock:
            self.calls[operation] += 1
        action = iam_action("s3", operation)
        try:
            return read(getattr(self._client, operation)(Bucket=self.name, **parameters))
        except ClientError as error:
            details = error.response.get("Error", {})
            raise AwsRefusal(action, str(details.get("Code", "Unknown")), str(details.get("Message", ""))) from error
        except BotoCoreError as error:
            raise AwsRefusal(action, type(error).__name__, str(error)) from error


@dataclass(frozen=True)
class DataAccess:
    """AWS credentials of a data transfer: a profile of a credentials file, or the process's credentials."""

    region: str
    endpoint: str | None = None
    profile: str | None = None
    credentials_file: str | None = None
    fips: bool = False

    def bucket(
        self, name: str, workers: int, rate: TransferRate, progress: Callable[[int], None] | None
    ) -> ObjectBucket:
        """Return a bucket. Raises AwsRefusal for credentials that cannot be used."""
        return ObjectBucket(name, self._client("s3", workers), workers, rate, progress)

    def caller(self) -> str:
        """Return the ARN of the credentials. Raises AwsRefusal."""
        try:
            return str(self._client("sts", 1).get_caller_identity()["Arn"])
        except ClientError as error:
            details = error.response.get("Error", {})
            raise AwsRefusal("sts:GetCallerIdentity", details.get("Code", ""), details.get("Message", "")) from error
        except BotoCoreError as error:
            raise AwsRefusal("sts:GetCallerIdentity", type(error).__name__, str(error)) from error

    def _client(self, service: str, workers: int) -> Any:
        try:
            core = botocore.session.Session(profile=self.profile)
            if self.credentials_file is not None:
                core.set_config_variable("credentials_file", self.credentials_file)
            session: Any = boto3.session.Session(botocore_session=core, region_name=self.region)
            return session.client(
                service,
                endpoint_url=self.endpoint,
                config=Config(
                    retries={"mode": "standard", "total_max_attempts": 6},
                    connect_timeout=5,
                    read_timeout=60,
                    max_pool_connections=workers + 2,
                    user_agent_extra="landbridge-data",
                    use_fips_endpoint=self.fips,
                    # Other sums of the SDK would read each block once more.
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                ),
            )
        except BotoCoreError as error:
            raise AwsRefusal(f"{service}:*", type(error).__name__, str(error)) from error


def _hex(checksum: str | None) -> str | None:
    """Return a whole object's checksum as hex digits; None without one, and after an upload in parts."""
    if checksum is None or "-" in checksum:
        return None
    return base64.b64decode(checksum).hex()
