"""What every resource kind of the stand-in is made of."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from ipaddress import ip_address
from typing import Any, ClassVar
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

Bag = dict[str, Any]


_THROTTLED = frozenset(
    {"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "SlowDown"}
)
#: Source: pulumi-aws, provider configuration, maxRetries: 25 unless told otherwise.
_MOST_ATTEMPTS = 25


class Refused(Exception):
    """The stand-in will not do this; the message is for the person who ran Pulumi."""


class Cloud:
    """The emulated AWS behind one endpoint of this machine, never the real one.

    Credentials are those that boto3 finds; where it finds none, made-up ones do, unless the emulator insists on its own.
    """

    def __init__(self, endpoint: str, region: str) -> None:
        host = urlsplit(endpoint).hostname or ""
        if not _local(host):
            raise Refused(f"the stand-in provider talks to an emulated AWS on this machine only, not to {endpoint}")
        self.endpoint, self.region = endpoint, region
        self._clients: dict[str, Any] = {}
        self._elsewhere: dict[str, Cloud] = {}
        os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")  # a machine's own role is nothing for an emulator
        #: What this process has made: AWS may need a moment to find it again.
        self.fresh: set[str] = set()
        self._session = boto3.Session(region_name=region)
        keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
        self._keys = keys if self._session.get_credentials() is None else {}

    def at(self, region: str | None) -> "Cloud":
        """The same AWS in another region; None is this one."""
        if region is None or region == self.region:
            return self
        if region not in self._elsewhere:
            self._elsewhere[region] = Cloud(self.endpoint, region)
            self._elsewhere[region].fresh = self.fresh
        return self._elsewhere[region]

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service."""
        if service not in self._clients:
            # One try: an action that the emulator lacks answers 500, and a retry would only be slower.
            config = Config(
                retries={"total_max_attempts": 1}, connect_timeout=3, read_timeout=60, s3={"addressing_style": "path"}
            )
            self._clients[service] = self._session.client(
                service, endpoint_url=self.endpoint, config=config, **self._keys
            )
            # Before botocore's own handler, which gives up at once.
            self._clients[service].meta.events.register_first("needs-retry.*", self._wait)
        return self._clients[service]

    def _wait(self, response: Any, attempts: int, request_dict: Any, **_: Any) -> float | None:
        """As the real provider does: throttled calls are made again, and what is new is looked for until it is found."""
        error = response[1].get("Error", {}) if response else {}
        code = str(error.get("Code", ""))
        if code in _THROTTLED and attempts < _MOST_ATTEMPTS:
            return min(0.02 * 2**attempts, 0.5)
        asked = str(request_dict.get("body"))
        if code.endswith((".NotFound", "NoSuchEntity")) and attempts < _MOST_ATTEMPTS:
            return 0.05 if any(f"'{one}'" in asked for one in self.fresh) else None
        return None

    @cached_property
    def account(self) -> str:
        """The emulated account's number."""
        return str(self.client("sts").get_caller_identity()["Account"])

    def arn(self, service: str, rest: str) -> str:
        """Return the ARN of something of this account and region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{rest}"

    @cached_property
    def partition(self) -> str:
        """The part of AWS that the region is in: `aws`, `aws-us-gov`, `aws-cn`."""
        return str(self._session.get_partition_for_region(self.region))


def _local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


class Kind(ABC):
    """One resource type: how it is made, looked at, changed and removed."""

    token: ClassVar[str]
    #: Inputs that AWS cannot change in place.
    replaces: ClassVar[frozenset[str]] = frozenset()
    #: The input that is the name, where Pulumi makes one up if there is none.
    autoname: ClassVar[str | None] = None

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        #: The id of what is being made, once it is there.
        self.there: str | None = None

    def exists(self, id_: str) -> str:
        """Say that the thing is there: what fails from here on leaves it half made, and the engine remembers it."""
        self.there = id_
        self.cloud.fresh.add(id_)
        return id_

    def finish(self, id_: str, news: Bag) -> None:
        """Do what creating may have left undone and reading does not show. Most kinds have nothing of the sort."""
        return

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        """Which of the changed inputs AWS cannot change in place: `replaces`, and what depends on the values."""
        return changed & (cls.replaces | {"region"})

    @property
    def ec2(self) -> Any:
        """Shorthand: most kinds are EC2's."""
        return self.cloud.client("ec2")

    @abstractmethod
    def create(self, news: Bag) -> tuple[str, Bag]:
        """Make it; return its id and what AWS adds to the inputs."""

    @abstractmethod
    def read(self, id_: str, state: Bag) -> Bag | None:
        """Return the properties that can be seen from outside, or None where it is gone."""

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        """Change it in place; return what AWS changed besides. Kinds that can do this say so."""
        raise Refused(f"{self.token}: the sandbox cannot change {', '.join(sorted(changed))} in place")

    @abstractmethod
    def delete(self, id_: str, state: Bag) -> None:
        """Remove it; already gone is fine."""


def error_code(error: ClientError) -> str:
    """Return AWS's error code."""
    return str(error.response.get("Error", {}).get("Code", ""))


def missing(error: ClientError) -> bool:
    """Tell whether AWS says that the thing is not there."""
    code = error_code(error)
    named = (
        "NoSuchEntity",
        "NoSuchBucket",
        "NotFoundException",
        "ResourceNotFoundException",
        "404",
        "InvalidPlacementGroup.Unknown",
    )
    return "NotFound" in code or code.startswith("NoSuch") or code in named


def found(call: Callable[..., Any], key: str, **arguments: Any) -> Any | None:
    """Call a describe and return the one thing in it, or None where there is none."""
    try:
        answer = call(**arguments)[key]
    except ClientError as error:
        if missing(error):
            return None
        raise
    return answer[0] if answer else None


def gone(call: Callable[..., Any], **arguments: Any) -> None:
    """Call a delete; that it is already gone is what was wanted."""
    try:
        call(**arguments)
    except ClientError as error:
        if not missing(error):
            raise


def tag_list(tags: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Tags as AWS writes them."""
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def tag_map(tags: list[dict[str, str]] | None) -> dict[str, str] | None:
    """Tags as Pulumi writes them; none at all is None, as in an input that was not given."""
    return {tag["Key"]: tag["Value"] for tag in tags or [] if not tag["Key"].startswith("aws:")} or None
