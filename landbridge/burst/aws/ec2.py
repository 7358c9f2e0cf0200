"""EC2 client of the controller: describe, launch, terminate, renew leases. Every failure is an AwsError, after a few repetitions."""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.aws.client import clients
from landbridge.burst.aws.instances import instance_of, launch_outcome
from landbridge.burst.aws.launch_call import launch_call
from landbridge.burst.aws.unattached import UnattachedKind, UnattachedResource
from landbridge.burst.model import ActionOutcome, Attempt, Ec2View, Offering
from landbridge.burst.model.errors import AwsError, facts
from landbridge.tags import CLUSTER, LAUNCH, LEASE_EXPIRES, POOL
from landbridge.timestamps import iso

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client

    from landbridge.burst.config.config import BurstConfig

T = TypeVar("T")
#: The profiles of the credentials file: one launches and moves leases, one ends. A site with one set of credentials has the first.
LAUNCHING, ENDING = "default", "terminate"
#: Everything that costs something, or may again, or holds an address or a disk.
STATES = ("pending", "running", "stopping", "stopped", "shutting-down")
MISMATCH, GONE = "IdempotentParameterMismatch", "InvalidInstanceID.NotFound"
NO_LONGER = ("InvalidVolume.NotFound", "InvalidNetworkInterfaceID.NotFound")
_ID = re.compile(r"\bi-[0-9a-f]{8,17}\b")


class Ec2:
    """EC2 of one cluster in one region: the policy's own, or another one."""

    def __init__(self, config: "BurstConfig", region: str = "") -> None:
        self._cluster = config.policy.cluster
        home_region = config.policy.region
        self.region = "" if region in ("", home_region) else region
        both = clients(self.region or home_region, config.endpoint, config.credentials_file, (LAUNCHING, ENDING))
        self._client: EC2Client = both[0]
        self._ending: EC2Client = both[1]

    def view(self) -> Ec2View:
        """Return every instance of the cluster's pools, in pages of EC2's maximum size."""
        at = time.time()
        descriptions = self._describe({"Name": "instance-state-name", "Values": list(STATES)})
        ours = (
            instance_of(description, self.region)
            for description in descriptions
            if any(tag["Key"] == POOL for tag in description["Tags"])
        )
        return Ec2View(at, tuple(ours))

    def run(self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> ActionOutcome:
        """Make one launch call: all nodes of the attempt where `all_or_nothing`, else as many as there is room for.

        The same attempt again is the same call: EC2 answers it with the instances it has started already.
        """
        call = launch_call(attempt, offering, tags, all_or_nothing)
        try:
            answer: Any = _repeat(lambda: self._client.run_instances(**call))
        except AwsError as error:
            if error.code != MISMATCH:
                raise
            started = list(self._describe({"Name": "client-token", "Values": [attempt.token]}))
            if not started:
                raise
            answer = {"Instances": started}
        return launch_outcome(answer["Instances"], attempt)

    def terminate(self, ids: Iterable[str]) -> None:
        """End instances; one that is gone already is as it should be."""
        for part in _parts(ids, "terminate"):
            _present(part, lambda some: self._ending.terminate_instances(InstanceIds=some))

    def renew(self, ids: Iterable[str], until: float) -> None:
        """Move the lease of instances; those that are gone need none."""
        tags: Any = [{"Key": LEASE_EXPIRES, "Value": iso(until)}]
        for part in _parts(ids, "tag"):
            _present(part, lambda some: self._client.create_tags(Resources=some, Tags=tags))

    def unattached(self) -> list[UnattachedResource]:
        """Volumes and interfaces that a launch of this cluster made and no instance has."""
        query: Any = {
            "Filters": [
                {"Name": f"tag:{CLUSTER}", "Values": [self._cluster]},
                {"Name": "tag-key", "Values": [LAUNCH]},
                {"Name": "status", "Values": ["available"]},
            ],
            "MaxResults": facts()["calls"]["describe"],
        }
        volumes = _repeat(lambda: self._ending.describe_volumes(**query))["Volumes"]
        interfaces = _repeat(lambda: self._ending.describe_network_interfaces(**query))["NetworkInterfaces"]
        # A page is enough: what is left of it is found by the next look.
        resources = [_leftover("volume", volume["VolumeId"], volume["Tags"]) for volume in volumes]
        return resources + [
            _leftover("network-interface", interface["NetworkInterfaceId"], interface["TagSet"])
            for interface in interfaces
        ]

    def delete(self, resource: UnattachedResource) -> None:
        """Delete it; EC2 refuses where it has an instance by now. One that is gone already is as it should be."""
        ending, name = self._ending, resource.id
        try:
            if resource.kind == "volume":
                _repeat(lambda: ending.delete_volume(VolumeId=name))
            else:
                _repeat(lambda: ending.delete_network_interface(NetworkInterfaceId=name))
        except AwsError as error:
            if error.code not in NO_LONGER:
                raise

    def _describe(self, *filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Instances as EC2 describes them, one page in memory at a time."""
        cluster_filter = {"Name": f"tag:{CLUSTER}", "Values": [self._cluster]}
        query: dict[str, Any] = {"Filters": [cluster_filter, *filters], "MaxResults": facts()["calls"]["describe"]}
        while True:
            page: Any = _repeat(lambda: self._client.describe_instances(**query))
            yield from page["Instances"]
            if not page.get("NextToken"):
                return
            query["NextToken"] = page["NextToken"]


def _leftover(kind: UnattachedKind, id: str, raw: Iterable[Mapping[str, Any]]) -> UnattachedResource:
    tags = {tag["Key"]: tag.get("Value", "") for tag in raw}
    return UnattachedResource(kind, id, tags.get(POOL, ""), tags.get(LAUNCH, ""))


def _present(ids: list[str], call: Callable[[list[str]], Any]) -> None:
    """Make a call for instances; EC2 refuses it for all where it does not know one, so those are left out."""
    try:
        _repeat(lambda: call(ids))
    except AwsError as error:
        unknown = set(_ID.findall(error.message)) & set(ids)
        if error.code != GONE or not unknown:
            raise
        if present := [instance_id for instance_id in ids if instance_id not in unknown]:
            _present(present, call)


def _parts(ids: Iterable[str], what: str) -> list[list[str]]:
    values, size = sorted(set(ids)), int(facts()["calls"][what])
    return [values[start : start + size] for start in range(0, len(values), size)]


def _repeat(function: Callable[[], T]) -> T:
    """Call, and repeat after a wait where EC2 throttles, or where the result of the call is unknown."""
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
        # Several controllers of one account must not come back together.
        time.sleep(remaining_waits[0] * random.uniform(0.75, 1.25))


def _call(function: Callable[[], T]) -> T:
    """One API call; every failure becomes an AwsError with a code that `errors` can classify."""
    try:
        return function()
    except ClientError as error:
        fault = error.response.get("Error", {})
        raise AwsError(str(fault.get("Code", "Unknown")), str(fault.get("Message", ""))) from error
    except BotoCoreError as error:
        raise AwsError(type(error).__name__, str(error)) from error
