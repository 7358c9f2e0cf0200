"""EC2 of the controller: describe, launch, terminate, renew leases. Each failure is an AwsError after some retries."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from landbridge.burst.aws.client import clients
from landbridge.burst.aws.ec2_clients import Ec2Clients
from landbridge.burst.aws.instance_status import QUERIES, status_of
from landbridge.burst.aws.instances import end_of, instance_of, launch_outcome, network_paths_of
from landbridge.burst.aws.launch_call import launch_call
from landbridge.burst.aws.terminate import call_for_existing, terminate_each
from landbridge.burst.aws.unattached import UnattachedKind, UnattachedResource
from landbridge.burst.model import ActionOutcome, Attempt, Ec2View, InstanceStatus, Offering
from landbridge.burst.model.errors import AwsError, facts
from landbridge.tags import CLUSTER, LAUNCH, LEASE_EXPIRES, POOL
from landbridge.timestamps import iso

if TYPE_CHECKING:
    from landbridge.burst.config.config import BurstConfig

#: Profiles of the credentials file: one launches and renews leases, one terminates. A site with one set of credentials
#: has only the first.
LAUNCHING, ENDING = "default", "terminate"
#: States of instances that cost money, may cost money again, or have an address or a volume.
STATES = ("pending", "running", "stopping", "stopped", "shutting-down")
MISMATCH = "IdempotentParameterMismatch"
ENDING_STATES = ("shutting-down", "terminated")
DELETED_CODES = ("InvalidVolume.NotFound", "InvalidNetworkInterfaceID.NotFound")


class Ec2:
    """EC2 of one cluster in one region: the policy's own region or another one."""

    def __init__(self, config: "BurstConfig", region: str = "") -> None:
        self._cluster = config.policy.cluster
        home_region = config.policy.region
        self.region = "" if region in ("", home_region) else region
        place = (self.region or home_region, config.endpoint, config.credentials_file)
        fips = config.fips_endpoints
        self._clients = Ec2Clients(lambda: clients(*place, (LAUNCHING, ENDING), fips))

    def view(self, expected: Collection[str] = ()) -> Ec2View:
        """Return every instance of the cluster's pools, in pages of EC2's maximum size, and the ends of `expected` ones.

        A terminated instance is described by its id, as it loses its tags.
        """
        at = time.time()
        descriptions = self._describe({"Name": "instance-state-name", "Values": list(STATES)})
        ours = tuple(
            instance_of(description, self.region)
            for description in descriptions
            if any(tag["Key"] == POOL for tag in description["Tags"])
        )
        alive = {instance.id for instance in ours if instance.state not in ENDING_STATES}
        ended = {
            description["InstanceId"]: end_of(description)
            for ids in _batches(set(expected) - alive, "filter_values")
            for description in self._pages({"Name": "instance-id", "Values": ids})
            if description["State"]["Name"] in ENDING_STATES
        }
        return Ec2View(at, ours, ended)

    def run(self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> ActionOutcome:
        """Make one launch call: for all nodes of the attempt if `all_or_nothing`, else for as many as EC2 has capacity
        for.

        A repeated attempt is the same call: EC2 returns the instances that it has already launched for it.
        """
        call = launch_call(attempt, offering, tags, all_or_nothing)
        try:
            answer: Any = self._clients.launching(lambda client: client.run_instances(**call))
        except AwsError as error:
            if error.code != MISMATCH:
                raise
            started = list(self._describe({"Name": "client-token", "Values": [attempt.token]}))
            if not started:
                raise
            answer = {"Instances": started}
        return launch_outcome(answer["Instances"], attempt)

    def terminate(self, ids: Iterable[str]) -> ActionOutcome:
        """Terminate instances; one that does not exist any more is not an error.

        The outcome has the instances that EC2 refuses to terminate, and the error of a call that failed for all.
        """
        return terminate_each(
            _batches(ids, "terminate"),
            lambda batch: self._clients.terminating(lambda client: client.terminate_instances(InstanceIds=batch)),
        )

    def renew(self, ids: Iterable[str], until: float) -> None:
        """Renew the lease of instances; one that does not exist any more is not an error."""
        tags: Any = [{"Key": LEASE_EXPIRES, "Value": iso(until)}]
        for ids_of_call in _batches(ids, "tag"):
            call_for_existing(
                ids_of_call,
                lambda batch: self._clients.launching(lambda client: client.create_tags(Resources=batch, Tags=tags)),
            )

    def network_paths(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the network path of each instance that has one; an instance that does not exist any more is not an error."""
        paths: dict[str, str] = {}

        def read(batch: list[str]) -> None:
            answer: Any = self._clients.launching(lambda client: client.describe_instance_topology(InstanceIds=batch))
            paths.update(network_paths_of(answer["Instances"]))

        for ids_of_call in _batches(ids, "topology"):
            call_for_existing(ids_of_call, read)
        return paths

    def instance_statuses(self, ids: Iterable[str]) -> dict[str, InstanceStatus]:
        """Return the statuses of the running instances that have a failed status check or a scheduled event.

        Queries for these instead of ids: one call may have 100 ids, and few of thousands of instances have either.
        """
        wanted, statuses = frozenset(ids), dict[str, InstanceStatus]()
        for filter_ in QUERIES:
            query: dict[str, Any] = {"Filters": [filter_], "MaxResults": facts()["calls"]["status"]}
            while True:
                page: Any = self._clients.launching(lambda client: client.describe_instance_status(**query))  # noqa: B023
                for description in page["InstanceStatuses"]:
                    status = status_of(description)
                    if description["InstanceId"] in wanted and status is not None:
                        statuses[description["InstanceId"]] = status
                if not page.get("NextToken"):
                    break
                query["NextToken"] = page["NextToken"]
        return statuses

    def unattached(self) -> list[UnattachedResource]:
        """Return the volumes and network interfaces that a launch of this cluster created and no instance has."""
        query: Any = {
            "Filters": [
                {"Name": f"tag:{CLUSTER}", "Values": [self._cluster]},
                {"Name": "tag-key", "Values": [LAUNCH]},
                {"Name": "status", "Values": ["available"]},
            ],
            "MaxResults": facts()["calls"]["describe"],
        }
        volumes = self._clients.terminating(lambda client: client.describe_volumes(**query))["Volumes"]
        interfaces = self._clients.terminating(lambda client: client.describe_network_interfaces(**query))[
            "NetworkInterfaces"
        ]
        # One page is enough: the next check finds the others.
        resources = [_unattached_resource("volume", volume["VolumeId"], volume["Tags"]) for volume in volumes]
        return resources + [
            _unattached_resource("network-interface", interface["NetworkInterfaceId"], interface["TagSet"])
            for interface in interfaces
        ]

    def delete(self, resource: UnattachedResource) -> None:
        """Delete a resource; EC2 refuses if it has an instance by now. One that does not exist any more is not an error."""
        name = resource.id
        try:
            if resource.kind == "volume":
                self._clients.terminating(lambda client: client.delete_volume(VolumeId=name))
            else:
                self._clients.terminating(lambda client: client.delete_network_interface(NetworkInterfaceId=name))
        except AwsError as error:
            if error.code not in DELETED_CODES:
                raise

    def _describe(self, *filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield instances of the cluster as EC2 describes them."""
        return self._pages({"Name": f"tag:{CLUSTER}", "Values": [self._cluster]}, *filters)

    def _pages(self, *filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield instances as EC2 describes them, with one page in memory at a time."""
        query: dict[str, Any] = {"Filters": list(filters), "MaxResults": facts()["calls"]["describe"]}
        while True:
            page: Any = self._clients.launching(lambda client: client.describe_instances(**query))
            yield from page["Instances"]
            if not page.get("NextToken"):
                return
            query["NextToken"] = page["NextToken"]


def _unattached_resource(kind: UnattachedKind, id: str, raw: Iterable[Mapping[str, Any]]) -> UnattachedResource:
    tags = {tag["Key"]: tag.get("Value", "") for tag in raw}
    return UnattachedResource(kind, id, tags.get(POOL, ""), tags.get(LAUNCH, ""))


def _batches(ids: Iterable[str], operation: str) -> list[list[str]]:
    values, size = sorted(set(ids)), int(facts()["calls"][operation])
    return [values[start : start + size] for start in range(0, len(values), size)]
