"""EC2 of all regions with nodes behind one interface: an instance's region is remembered, and each call goes there.

The policy's own region has to answer, or nothing is known. Another one that does not is taken to be as it was seen last,
for as long as `STALE` seconds: its outage must not stop what starts at home, and a node there must not seem gone.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.unattached import UnattachedResource
from landbridge.burst.model import ActionOutcome, Attempt, CloudInstance, Ec2View, Offering
from landbridge.burst.model.errors import AwsError
from landbridge.burst.model.ports import Ec2Port

if TYPE_CHECKING:
    from landbridge.burst.config.config import BurstConfig

#: How long another region may be silent before passes see no EC2 at all: less than a lease, which is not renewed there.
MAX_STALE_SECONDS = 900.0


class RegionPort(Ec2Port, Protocol):
    """EC2 in one region, with what is left over there."""

    def unattached(self) -> list[UnattachedResource]: ...

    def delete(self, resource: UnattachedResource) -> None: ...


def ec2_of_regions(config: "BurstConfig") -> "Ec2 | Ec2Regions":
    """EC2 in the policy's regions: one client where there is one."""
    others = config.policy.regions[1:]
    return Ec2Regions(Ec2(config), {name: Ec2(config, name) for name in others}) if others else Ec2(config)


@dataclass
class Ec2Regions:
    """The policy's own region and the others, by name."""

    home: RegionPort
    others: Mapping[str, RegionPort]
    clock: Callable[[], float] = time.monotonic
    _where: dict[str, str] = field(default_factory=dict)  # regions of instances and unattached, empty for home
    _fresh: dict[str, tuple[str, float]] = field(
        default_factory=dict
    )  # of launches that may not be in sight yet, and when
    _last: dict[str, tuple[float, tuple[CloudInstance, ...]]] = field(default_factory=dict)

    def view(self) -> Ec2View:
        """Return the instances of all regions, described in parallel."""
        with ThreadPoolExecutor(len(self.others), thread_name_prefix="region") as pool:
            futures = {name: pool.submit(self._there, name) for name in self.others}
            home_view = self.home.view()
            by_region = {name: future.result() for name, future in futures.items()}
        now = self.clock()
        self._fresh = {id_: (name, at) for id_, (name, at) in self._fresh.items() if now - at < MAX_STALE_SECONDS}
        self._where = {id_: name for id_, (name, _) in self._fresh.items()}
        self._where |= {instance.id: "" for instance in home_view.instances}
        self._where |= {instance.id: name for name, instances in by_region.items() for instance in instances}
        return Ec2View(
            home_view.at,
            (*home_view.instances, *(instance for instances in by_region.values() for instance in instances)),
        )

    def run(self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> ActionOutcome:
        """Launch where the offering is."""
        region = offering.region if offering.region in self.others else ""
        outcome = self._at(region).run(attempt, offering, tags, all_or_nothing)
        now = self.clock()
        for instance_id in outcome.instances.values():
            self._where[instance_id], self._fresh[instance_id] = region, (region, now)
        return outcome

    def terminate(self, ids: Iterable[str]) -> None:
        """End instances, each where it is."""
        self._each(ids, lambda region, some: region.terminate(some))

    def renew(self, ids: Iterable[str], until: float) -> None:
        """Move leases, each where its instance is."""
        self._each(ids, lambda region, some: region.renew(some, until))

    def unattached(self) -> list[UnattachedResource]:
        """Those of every region; one that does not answer has its turn at the next look."""
        resources = self.home.unattached()
        for name, region in self.others.items():
            try:
                resources_of_region = region.unattached()
            except AwsError:
                continue
            self._where |= {resource.id: name for resource in resources_of_region}
            resources += resources_of_region
        return resources

    def delete(self, resource: UnattachedResource) -> None:
        """Delete it where it is."""
        self._at(self._where.get(resource.id, "")).delete(resource)

    def _at(self, region: str) -> RegionPort:
        return self.others.get(region, self.home)

    def _there(self, name: str) -> tuple[CloudInstance, ...]:
        try:
            instances = self.others[name].view().instances
        except AwsError:
            at, last_instances = self._last.get(name, (float("-inf"), ()))
            if self.clock() - at > MAX_STALE_SECONDS:
                raise
            return last_instances
        self._last[name] = (self.clock(), instances)
        return instances

    def _each(self, ids: Iterable[str], call: Callable[[RegionPort, list[str]], None]) -> None:
        """Make one call for each region; raise the first failure after all calls.

        The region of an instance that an earlier process launched, and that EC2 does not show yet, is unknown: the call is made
        in every region. EC2 refuses it where the instance is not; only a refusal by every region is a failure.
        """
        by_region: dict[str, list[str]] = {}
        unknown: list[str] = []
        for instance_id in ids:
            if instance_id in self._where:
                by_region.setdefault(self._where[instance_id], []).append(instance_id)
            else:
                unknown.append(instance_id)
        failed = [error for region, some in by_region.items() if (error := self._tried(region, some, call))]
        if unknown:
            refused = [self._tried(region, unknown, call) for region in ("", *self.others)]
            failed += [error for error in refused if error is not None] if all(refused) else []
        if failed:
            raise failed[0]

    def _tried(self, region: str, ids: list[str], call: Callable[[RegionPort, list[str]], None]) -> AwsError | None:
        try:
            call(self._at(region), ids)
        except AwsError as error:
            return error
        return None
