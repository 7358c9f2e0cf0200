"""AWS client for checks: short timeouts, few retries, cached calls, and AwsRefusal with the IAM action for failures."""

import json
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.aws_api.refusal import AwsRefusal

T = TypeVar("T")
# An operator waits: three attempts with exponential backoff, and a network failure is reported within seconds.
SETTINGS = Config(
    retries={"mode": "standard", "total_max_attempts": 3},
    connect_timeout=3,
    read_timeout=20,
    max_pool_connections=16,
    user_agent_extra="landbridge",
)
FIPS_SETTINGS = SETTINGS.merge(Config(use_fips_endpoint=True))
#: IAM service prefixes that differ from boto3's service names.
_IAM_NAMES = {"service-quotas": "servicequotas", "efs": "elasticfilesystem"}
#: Operations whose IAM action has another name. Source: Service Authorization Reference, Amazon S3.
_IAM_ACTIONS = {
    "s3:HeadBucket": "s3:ListBucket",
    "s3:GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:UploadPart": "s3:PutObject",
    "s3:UploadPartCopy": "s3:PutObject",
    "s3:CompleteMultipartUpload": "s3:PutObject",
}


def iam_action(service: str, operation: str) -> str:
    """Return the IAM action of a call: `ec2:DescribeSubnets` for ("ec2", "describe_subnets")."""
    # Service Quotas has an operation with AWS in capitals.
    words = "".join(word.upper() if word == "aws" else word.capitalize() for word in operation.split("_"))
    name = f"{_IAM_NAMES.get(service, service)}:{words}"
    return _IAM_ACTIONS.get(name, name)


class AwsClient:
    """AWS client of one region with this process's credentials, safe for use from several threads.

    Each call is sent once: a repeated call gets the response of the first one, or waits for it. `fips_services` are the
    services whose FIPS endpoint is used.
    """

    def __init__(
        self,
        region: str,
        endpoint: str | None = None,
        session: boto3.session.Session | None = None,
        fips_services: Collection[str] = (),
    ) -> None:
        self.region, self._endpoint, self._fips_services = region, endpoint, fips_services
        self._session = session
        self._clients: dict[tuple[str, str], Any] = {}
        self._responses: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    def at(self, region: str) -> "AwsClient":
        """Return the client of another region; `self` for the same region and for services without a region."""
        if region in ("", self.region):
            return self
        return AwsClient(region, self._endpoint, self._session, self._fips_services)

    def ask(self, service: str, operation: str, *, region: str | None = None, **parameters: Any) -> Any:
        """Return the response of one call. Raises AwsRefusal."""
        return self._once(
            ("ask", service, operation, region, parameters),
            lambda: self._call(service, operation, region, lambda client: getattr(client, operation)(**parameters)),
        )

    def all(self, service: str, operation: str, key: str, **parameters: Any) -> tuple[Any, ...]:
        """Return the items under `key` of every page. Raises AwsRefusal."""

        def read(client: Any) -> tuple[Any, ...]:
            pages = client.get_paginator(operation).paginate(**parameters)
            return tuple(item for page in pages for item in page.get(key) or ())

        call_key = ("all", service, operation, key, parameters)
        return tuple(self._once(call_key, lambda: self._call(service, operation, None, read)))

    def _call(self, service: str, operation: str, region: str | None, use: Callable[[Any], T]) -> T:
        action = iam_action(service, operation)
        try:
            return use(self._client(service, region or self.region))
        except ClientError as error:
            details = error.response.get("Error", {})
            raise AwsRefusal(action, str(details.get("Code", "Unknown")), str(details.get("Message", ""))) from error
        except BotoCoreError as error:
            raise AwsRefusal(action, type(error).__name__, str(error)) from error

    def _client(self, service: str, region: str) -> Any:
        # Creation of boto3 clients is not thread-safe, and takes 0.1 s each.
        with self._lock:
            if self._session is None:
                self._session = boto3.session.Session(region_name=self.region)
            key = (service, region)
            if key not in self._clients:
                create: Any = self._session.client
                settings = FIPS_SETTINGS if service in self._fips_services else SETTINGS
                self._clients[key] = create(service, region_name=region, endpoint_url=self._endpoint, config=settings)
            return self._clients[key]

    def _once(self, call_key: tuple[Any, ...], call: Callable[[], T]) -> T:
        key = json.dumps(call_key, sort_keys=True, default=str)
        with self._lock:
            response = self._responses.get(key)
            is_first = response is None
            if response is None:
                response = self._responses[key] = Future()
        if is_first:
            try:
                response.set_result(call())
            except BaseException as error:
                response.set_exception(error)
                raise
        result: T = response.result()
        return result
