"""Talking to EC2: launch with CreateFleet, find and end by tag. The only module of the burst programs with boto3 in it."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import boto3
from botocore.config import Config as Settings
from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.config import Config, Subnet
from landbridge.burst.errors import AwsError, LaunchProblem
from landbridge.burst.request import Live, Request

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client

T = TypeVar("T")
ALIVE = ["pending", "running"]
VALUES_PER_FILTER = 200  # EC2's limit of values in one filter
IDS_PER_CALL = 500
#: The profile of the credentials file with which instances are ended; the default one launches.
ENDING = "terminate"
# Standard retries: exponential with jitter, on throttling and server errors; short timeouts, as nodes wait for each call.
SETTINGS = Settings(retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=3, read_timeout=20)


@dataclass(frozen=True)
class Launched:
    """The answer to one launch call."""

    ids: tuple[str, ...]
    problem: LaunchProblem | None


@dataclass(frozen=True)
class Machine:
    """An instance as DescribeInstances shows it."""

    id: str
    state: str
    address: str
    subnet: str
    tags: Mapping[str, str]

    def live(self) -> Live:
        return Live(self.id, self.subnet, self.tags.get("landbridge:node", ""), self.tags.get("landbridge:nodes", ""))


class Ec2:
    """EC2 of one cluster; every method raises AwsError when a call failed after its retries."""

    def __init__(self, config: Config) -> None:
        if config.credentials_file:
            os.environ.setdefault("AWS_SHARED_CREDENTIALS_FILE", config.credentials_file)
        self._config = config
        session = boto3.session.Session(region_name=config.region)
        self._client: EC2Client = session.client("ec2", endpoint_url=config.endpoint, config=SETTINGS)
        self._ending: EC2Client = self._client
        if ENDING in session.available_profiles:
            # Launching and ending are two roles; where a site has one set of credentials, it does both.
            other = boto3.session.Session(profile_name=ENDING, region_name=config.region)
            self._ending = other.client("ec2", endpoint_url=config.endpoint, config=SETTINGS)

    def launch(self, request: Request, count: int, subnet: Subnet, attempt: int) -> Launched:
        """Ask for `count` instances in one subnet: of a gang all or none, of a batch as many as there are."""
        override: dict[str, Any] = {"InstanceType": request.pool.instance_type, "SubnetId": subnet.id}
        if subnet.placement_group:
            override["Placement"] = {"GroupName": subnet.placement_group}
        template = {
            "LaunchTemplateId": request.pool.launch_template_id,
            "Version": request.pool.launch_template_version,
        }
        options: dict[str, Any] = {"SingleInstanceType": True, "SingleAvailabilityZone": True}
        options["MinTargetCapacity"] = count if request.whole else 1
        kind = "SpotOptions" if request.pool.market == "spot" else "OnDemandOptions"
        tags = [{"Key": key, "Value": value} for key, value in request.tags(self._config.cluster).items()]
        call: dict[str, Any] = {
            "Type": "instant",
            "ClientToken": request.token(self._config.cluster, attempt),
            "LaunchTemplateConfigs": [{"LaunchTemplateSpecification": template, "Overrides": [override]}],
            "TargetCapacitySpecification": {
                "TotalTargetCapacity": count,
                "DefaultTargetCapacityType": request.pool.market,
            },
            kind: options,
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
        }
        answer: Any = _call(lambda: self._client.create_fleet(**call))
        ids = tuple(i for group in answer.get("Instances", []) for i in group["InstanceIds"])
        errors = answer.get("Errors", [])
        if errors:
            return Launched(ids, LaunchProblem(errors[0]["ErrorCode"], errors[0]["ErrorMessage"]))
        if len(ids) < count:
            return Launched(ids, LaunchProblem("UnfulfillableCapacity", f"{len(ids)} of {count} instances"))
        return Launched(ids, None)

    def name(self, names: Mapping[str, str], tags: Mapping[str, Mapping[str, str]]) -> None:
        """Give instances (id -> node) their names; `tags` adds more for some nodes. The machines wait for this."""

        def one(pair: tuple[str, str]) -> None:
            instance, node = pair
            own = {"landbridge:node": node, "Name": node, **tags.get(node, {})}
            pairs = [{"Key": key, "Value": value} for key, value in own.items()]
            _call(lambda: self._client.create_tags(Resources=[instance], Tags=pairs))  # type: ignore[arg-type]

        with ThreadPoolExecutor(min(8, max(1, len(names)))) as pool:
            list(pool.map(one, names.items()))

    def machines(self, nodes: Iterable[str] | None = None, states: Sequence[str] = ALIVE) -> list[Machine]:
        """Instances of this cluster in the given states; with `nodes`, only those named after them."""
        filters: list[dict[str, Any]] = [
            {"Name": "tag:landbridge:cluster", "Values": [self._config.cluster]},
            {"Name": "instance-state-name", "Values": list(states)},
        ]
        if nodes is None:
            return self._describe(Filters=filters)
        found: list[Machine] = []
        for part in _parts(sorted(set(nodes)), VALUES_PER_FILTER):
            found += self._describe(Filters=[*filters, {"Name": "tag:landbridge:node", "Values": part}])
        return found

    def addresses(self, ids: Iterable[str]) -> dict[str, str]:
        """Private addresses by instance id."""
        wanted = list(ids)
        parts = _parts(wanted, IDS_PER_CALL)
        return {m.id: m.address for part in parts for m in self._describe(InstanceIds=part) if m.address}

    def terminate(self, ids: Iterable[str]) -> None:
        for part in _parts(sorted(set(ids)), IDS_PER_CALL):
            _call(lambda part=part: self._ending.terminate_instances(InstanceIds=part))  # type: ignore[misc]

    def _describe(self, **query: Any) -> list[Machine]:
        def read() -> list[Machine]:
            pages = self._client.get_paginator("describe_instances").paginate(**query)
            return [_machine(i) for page in pages for r in page["Reservations"] for i in r["Instances"]]

        return _call(read)


def _machine(raw: Any) -> Machine:
    return Machine(
        id=raw["InstanceId"],
        state=raw["State"]["Name"],
        address=raw.get("PrivateIpAddress", ""),
        subnet=raw.get("SubnetId", ""),
        tags={tag["Key"]: tag["Value"] for tag in raw.get("Tags", [])},
    )


def _parts(values: Sequence[str], size: int) -> list[list[str]]:
    return [list(values[start : start + size]) for start in range(0, len(values), size)]


def _call(function: Callable[[], T]) -> T:
    """Run one API call; every failure becomes an AwsError with a code that `errors` can classify."""
    try:
        return function()
    except ClientError as error:
        raise AwsError(
            error.response["Error"].get("Code", "Unknown"), error.response["Error"].get("Message", "")
        ) from error
    except BotoCoreError as error:
        raise AwsError(type(error).__name__, str(error)) from error
