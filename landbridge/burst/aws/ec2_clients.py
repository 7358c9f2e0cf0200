"""Clients of EC2 in one region: a client that launches and one that terminates, retries, and failures as AwsError."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.model.errors import AwsError, ErrorKind, facts

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client

T = TypeVar("T")


class Ec2Clients:
    """Two clients, created at the first call, and again after a failure of the credentials: botocore reads the sources
    of credentials only when it creates a client.
    """

    def __init__(self, create: "Callable[[], Sequence[EC2Client]]") -> None:
        self._create = create
        self._clients: Sequence[EC2Client] | None = None
        self._lock = threading.Lock()

    def launching(self, call: "Callable[[EC2Client], T]") -> T:
        """Make a call with the credentials that launch. Raises AwsError."""
        return self._make(0, call)

    def terminating(self, call: "Callable[[EC2Client], T]") -> T:
        """Make a call with the credentials that terminate. Raises AwsError."""
        return self._make(1, call)

    def _make(self, index: int, call: "Callable[[EC2Client], T]") -> T:
        try:
            return _repeat(lambda: call(self._present()[index]))
        except AwsError as error:
            if error.kind is ErrorKind.CREDENTIALS:
                self._clients = None
            raise

    def _present(self) -> "Sequence[EC2Client]":
        with self._lock:
            if self._clients is None:
                self._clients = self._create()
            return self._clients


def _repeat(function: Callable[[], T]) -> T:
    """Make a call, and repeat it after a wait if EC2 throttles it or its result is unknown."""
    waits: Mapping[str, Sequence[float]] = facts()["repeats"]
    tries: Counter[str] = Counter()
    while True:
        try:
            return _call(function)
        except AwsError as error:
            remaining_waits = waits.get(error.kind, ())[tries[error.kind] :]
            if not remaining_waits:
                raise
            tries[error.kind] += 1
        # Several controllers of one account must not retry at the same time.
        time.sleep(remaining_waits[0] * random.uniform(0.75, 1.25))


def _call(function: Callable[[], T]) -> T:
    """Make one API call; raise every failure as AwsError with a code that `errors` can classify."""
    try:
        return function()
    except ClientError as error:
        fault = error.response.get("Error", {})
        raise AwsError(str(fault.get("Code", "Unknown")), str(fault.get("Message", ""))) from error
    except BotoCoreError as error:
        raise AwsError(type(error).__name__, str(error)) from error
