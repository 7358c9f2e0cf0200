"""AWS client for checks: short timeouts, few retries, each query once, and every failure an AwsRefusal with its IAM
action.
"""

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.aws_api.refusal import AwsRefusal

T = TypeVar("T")
# A person waits: three attempts with exponential backoff, and a dead network is told in seconds.
SETTINGS = Config(
    retries={"mode": "standard", "total_max_attempts": 3},
    connect_timeout=3,
    read_timeout=20,
    max_pool_connections=16,
    user_agent_extra="landbridge",
)
#: Where a service's name in IAM is not boto3's.
_IAM_NAMES = {"service-quotas": "servicequotas", "efs": "elasticfilesystem"}
#: Operations whose permission has another name. Source: Service Authorization Reference, Amazon S3.
_IAM_ACTIONS = {"s3:HeadBucket": "s3:ListBucket"}


def iam_action(service: str, operation: str) -> str:
    """Return the IAM action of a call: `ec2:DescribeSubnets` for ("ec2", "describe_subnets")."""
    # Service Quotas spells one of its operations with AWS in capitals.
    words = "".join(word.upper() if word == "aws" else word.capitalize() for word in operation.split("_"))
    name = f"{_IAM_NAMES.get(service, service)}:{words}"
    return _IAM_ACTIONS.get(name, name)


class AwsClient:
    """Clients of one region's services with this process's credentials. Safe to use from several threads.

    The same question is asked once: whoever repeats it gets the first answer, or waits for it.
    """

    def __init__(self, region: str, endpoint: str | None = None, session: boto3.session.Session | None = None) -> None:
        self.region, self._endpoint = region, endpoint
        self._session = session
        self._clients: dict[tuple[str, str], Any] = {}
        self._answers: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    def at(self, region: str) -> "AwsClient":
        """Return the client of another region; this one for its own region and for services without a region."""
        return self if region in ("", self.region) else AwsClient(region, self._endpoint, self._session)

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

        question = ("all", service, operation, key, parameters)
        return tuple(self._once(question, lambda: self._call(service, operation, None, read)))

    def _call(self, service: str, operation: str, region: str | None, use: Callable[[Any], T]) -> T:
        action = iam_action(service, operation)
        try:
            return use(self._client(service, region or self.region))
        except ClientError as error:
            told = error.response.get("Error", {})
            raise AwsRefusal(action, str(told.get("Code", "Unknown")), str(told.get("Message", ""))) from error
        except BotoCoreError as error:
            raise AwsRefusal(action, type(error).__name__, str(error)) from error

    def _client(self, service: str, region: str) -> Any:
        # Making clients is not safe in threads, and takes a tenth of a second each.
        with self._lock:
            if self._session is None:
                self._session = boto3.session.Session(region_name=self.region)
            key = (service, region)
            if key not in self._clients:
                make: Any = self._session.client
                self._clients[key] = make(service, region_name=region, endpoint_url=self._endpoint, config=SETTINGS)
            return self._clients[key]

    def _once(self, question: tuple[Any, ...], answer: Callable[[], T]) -> T:
        key = json.dumps(question, sort_keys=True, default=str)
        with self._lock:
            known = self._answers.get(key)
            mine = known is None
            if known is None:
                known = self._answers[key] = Future()
        if mine:
            try:
                known.set_result(answer())
            except BaseException as error:
                known.set_exception(error)
                raise
        result: T = known.result()
        return result
