"""Base classes of the provider's resource types, and the client of the emulated AWS."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import Any, ClassVar
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from sandbox import botocore_files

botocore_files.share()

Bag = dict[str, Any]


_THROTTLING_CODES = frozenset(
    {"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException", "SlowDown"}
)
#: Source: pulumi-aws, provider configuration, maxRetries: the default is 25.
_MAX_ATTEMPTS = 25


class ProviderError(Exception):
    """Error for the user of Pulumi: the sandbox's provider does not support the program's request."""


class EmulatedAws:
    """Client of the emulated AWS at one endpoint of this machine; a public address is refused.

    It uses the credentials that boto3 finds. If boto3 finds none, it uses invented ones, which the emulator accepts
    unless it was started with access keys.
    """

    def __init__(self, endpoint: str, region: str) -> None:
        host = urlsplit(endpoint).hostname or ""
        if not _is_local(host):
            raise ProviderError(
                f"the sandbox's provider only connects to an emulated AWS on this machine, not to {endpoint}"
            )
        self.endpoint, self.region = endpoint, region
        self._clients: dict[str, Any] = {}
        self._other_regions: dict[str, EmulatedAws] = {}
        os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")  # do not use the role of this host
        #: Ids of resources that this process created. AWS is eventually consistent: a read may miss them at first.
        self.fresh: set[str] = set()
        self._session = boto3.Session(region_name=region)
        keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
        self._keys = keys if self._session.get_credentials() is None else {}

    def at(self, region: str | None) -> "EmulatedAws":
        """Return the client for another region; None is this region."""
        if region is None or region == self.region:
            return self
        if region not in self._other_regions:
            self._other_regions[region] = EmulatedAws(self.endpoint, region)
            self._other_regions[region].fresh = self.fresh
        return self._other_regions[region]

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service."""
        if service not in self._clients:
            # One attempt: an action that the emulator lacks answers 500, and a retry would only take longer.
            # AWS's SDK for Go, which the real provider uses, has no read timeout; tests hold answers for long.
            config = Config(
                retries={"total_max_attempts": 1}, connect_timeout=3, read_timeout=900, s3={"addressing_style": "path"}
            )
            # The name of the service is known at run time only.
            create_client: Any = self._session.client
            self._clients[service] = create_client(service, endpoint_url=self.endpoint, config=config, **self._keys)
            # Runs before botocore's own handler, which never retries because of total_max_attempts.
            self._clients[service].meta.events.register_first("needs-retry.*", self._wait)
        return self._clients[service]

    def _wait(self, response: Any, attempts: int, request_dict: Any, **_: Any) -> float | None:
        """Retry as the real provider does: throttled calls, and reads of a new resource until AWS finds it."""
        error = response[1].get("Error", {}) if response else {}
        code = str(error.get("Code", ""))
        if code in _THROTTLING_CODES and attempts < _MAX_ATTEMPTS:
            return min(0.02 * 2**attempts, 0.5)
        body = str(request_dict.get("body"))
        if code.endswith((".NotFound", "NoSuchEntity")) and attempts < _MAX_ATTEMPTS:
            return 0.05 if any(f"'{id_}'" in body for id_ in self.fresh) else None
        return None

    @cached_property
    def account(self) -> str:
        """Return the id of the emulated account."""
        return str(self.client("sts").get_caller_identity()["Account"])

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource of this account and region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"

    @cached_property
    def partition(self) -> str:
        """Return the AWS partition of the region: `aws`, `aws-us-gov`, `aws-cn`."""
        return str(self._session.get_partition_for_region(self.region))


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


@dataclass(frozen=True)
class CloudFormationType:
    """CloudFormation resource type whose schema (as cfn-lint ships it) also checks a resource's inputs."""

    type: str
    #: Paths in the schema with the resource's properties; "" is the schema itself. For each property the first path
    #: that has it is used.
    at: tuple[str, ...] = ("",)
    #: Names of properties in the schema, if they differ from the SDK's name with a capital letter.
    names: Mapping[str, str] = field(default_factory=dict)
    #: Names of cfn-lint's additional schemas of the type.
    more: tuple[str, ...] = ()
    #: Properties that are not checked because the schema is older than AWS.
    without: tuple[str, ...] = ()


class AwsResource(ABC):
    """Resource type of the provider: create, read, update and delete it.

    A subclass with a `token` registers itself in RESOURCE_TYPES when its module is imported.
    """

    token: ClassVar[str]
    #: The type's CloudFormation schema; None if CloudFormation has no such resource or no schema with properties.
    cloudformation: ClassVar[CloudFormationType | None]
    #: Inputs that AWS cannot change in place.
    replaces: ClassVar[frozenset[str]] = frozenset()
    #: The input with the resource's name, for types for which Pulumi generates a missing name.
    autoname: ClassVar[str | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        token = cls.__dict__.get("token")
        if token is None:
            return  # a base class of several types
        if "cloudformation" not in cls.__dict__:
            raise TypeError(f"{cls.__name__}: set `cloudformation` to a CloudFormationType, or to None")
        if token in RESOURCE_TYPES:
            raise TypeError(f"{cls.__name__}: {RESOURCE_TYPES[token].__name__} has the token {token} already")
        RESOURCE_TYPES[token] = cls

    def __init__(self, cloud: EmulatedAws) -> None:
        self.cloud = cloud
        #: Id of the resource that `create` creates, as soon as it exists in AWS.
        self.created_id: str | None = None

    def exists(self, id_: str) -> str:
        """Record that the resource exists: a later failure is then a partial creation, stored in the engine's state."""
        self.created_id = id_
        self.cloud.fresh.add(id_)
        return id_

    def finish(self, id_: str, news: Bag) -> None:
        """Complete steps of a partial creation that a read does not show. Most types have none."""
        return

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        """Return the changed inputs that require a replacement: those in `replaces`, and those with certain values."""
        return changed & (cls.replaces | {"region"})

    @property
    def ec2(self) -> Any:
        """Return the EC2 client."""
        return self.cloud.client("ec2")

    @abstractmethod
    def create(self, news: Bag) -> tuple[str, Bag]:
        """Create the resource; return its id and the outputs that AWS adds to the inputs."""

    @abstractmethod
    def read(self, id_: str, state: Bag) -> Bag | None:
        """Return the properties as AWS describes them, or None if the resource does not exist."""

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        """Update the resource in place; return the outputs that changed. By default no input can be updated."""
        raise ProviderError(f"{self.token}: the sandbox cannot change {', '.join(sorted(changed))} in place")

    @abstractmethod
    def delete(self, id_: str, state: Bag) -> None:
        """Delete the resource; do nothing if it does not exist."""


#: Every resource type of the provider, by Pulumi's type token.
RESOURCE_TYPES: dict[str, type[AwsResource]] = {}


def error_code(error: ClientError) -> str:
    """Return AWS's error code."""
    return str(error.response.get("Error", {}).get("Code", ""))


def missing(error: ClientError) -> bool:
    """Return whether the error means that the resource does not exist."""
    code = error_code(error)
    missing_codes = (
        "NoSuchEntity",
        "NoSuchBucket",
        "NotFoundException",
        "ResourceNotFoundException",
        "404",
        "InvalidPlacementGroup.Unknown",
    )
    return "NotFound" in code or code.startswith("NoSuch") or code in missing_codes


def first_or_none(call: Callable[..., Any], key: str, **arguments: Any) -> Any | None:
    """Call a describe operation and return the first item of its answer, or None."""
    try:
        answer = call(**arguments)[key]
    except ClientError as error:
        if missing(error):
            return None
        raise
    return answer[0] if answer else None


def ignore_missing(call: Callable[..., Any], **arguments: Any) -> None:
    """Call a delete operation; ignore the error that the resource does not exist."""
    try:
        call(**arguments)
    except ClientError as error:
        if not missing(error):
            raise


def tag_list(tags: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Return tags in AWS's form, a list of keys and values."""
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def tag_map(tags: list[dict[str, str]] | None) -> dict[str, str] | None:
    """Return tags in Pulumi's form, a map; None if there are none, as for an input that is not set."""
    return {tag["Key"]: tag["Value"] for tag in tags or [] if not tag["Key"].startswith("aws:")} or None
