"""EC2 of all regions with nodes behind one interface: it remembers each instance's region and makes each call there.

If the policy's own region does not answer, there is no view. For another region that does not answer, its last view is
used for up to `MAX_STALE_SECONDS`: its outage must not stop launches in the own region, and its nodes must not seem to
have lost their instances.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.unattached import UnattachedResource
from landbridge.burst.model import ActionOutcome, Attempt, Ec2View, InstanceStatus, Offering
from landbridge.burst.model.errors import AwsError
from landbridge.burst.model.ports import Ec2Port

if TYPE_CHECKING:
    from landbridge.burst.config.config import BurstConfig

#: Time after which a pass has no view of EC2 because another region does not answer. Less than a lease, which is not
#: renewed there in this time.
MAX_STALE_SECONDS = 900.0


class RegionPort(Ec2Port, Protocol):
    """EC2 in one region, with its unattached resources."""

    def unattached(self) -> list[UnattachedResource]: ...

    def delete(self, resource: UnattachedResource) -> None: ...


def ec2_of_regions(config: "BurstConfig") -> "Ec2 | Ec2Regions":
    """Return EC2 in the policy's regions: a plain client if there is only one."""
    others = config.policy.regions[1:]
    return Ec2Regions(Ec2(config), {name: Ec2(config, name) for name in others}) if others else Ec2(config)


@dataclass
class Ec2Regions:
    """EC2 in the policy's own region (`home`) and in the other regions, by name."""

    home: RegionPort
    others: Mapping[str, RegionPort]
    clock: Callable[[], float] = time.monotonic
    # id of an instance or unattached resource -> region, empty for home
    _region_by_id: dict[str, str] = field(default_factory=dict)
    # instance -> (region, time of launch); EC2 may not show it yet
    _launched: dict[str, tuple[str, float]] = field(default_factory=dict)
    _last_views: dict[str, tuple[float, Ec2View]] = field(default_factory=dict)

    def view(self, expected: Collection[str] = ()) -> Ec2View:
        """Return the instances of all regions, described in parallel; expected ones of unknown region are looked up in
        every region."""

        def expected_in(region: str) -> list[str]:
            return [id_ for id_ in expected if self._region_by_id.get(id_, region) == region]

        with ThreadPoolExecutor(len(self.others), thread_name_prefix="region") as pool:
            futures = {name: pool.submit(self._view_of, name, expected_in(name)) for name in self.others}
            home_view = self.home.view(expected_in(""))
            views = {name: future.result() for name, future in futures.items()}
        by_region = {name: view.instances for name, view in views.items()}
        ended = dict(home_view.ended)
        for view in views.values():
            ended |= view.ended
        now = self.clock()
        self._launched = {id_: (name, at) for id_, (name, at) in self._launched.items() if now - at < MAX_STALE_SECONDS}
        self._region_by_id = {id_: name for id_, (name, _) in self._launched.items()}
        self._region_by_id |= {instance.id: "" for instance in home_view.instances}
        self._region_by_id |= {instance.id: name for name, instances in by_region.items() for instance in instances}
        return Ec2View(
            home_view.at,
            (*home_view.instances, *(instance for instances in by_region.values() for instance in instances)),
            ended,
        )

    def run(self, attempt: Attempt, offering: Offering, tags: Mapping[str, str], all_or_nothing: bool) -> ActionOutcome:
        """Launch in the offering's region."""
        region = offering.region if offering.region in self.others else ""
        outcome = self._at(region).run(attempt, offering, tags, all_or_nothing)
        now = self.clock()
        for instance_id in outcome.instances.values():
            self._region_by_id[instance_id], self._launched[instance_id] = region, (region, now)
        return outcome

    def terminate(self, ids: Iterable[str]) -> ActionOutcome:
        """Terminate instances, each in its region. One of unknown region is refused if every region refuses it."""
        refused: dict[str, tuple[str, str]] = {}
        accepted: set[str] = set()

        def terminate(region: RegionPort, ids_of_region: list[str]) -> None:
            outcome = region.terminate(ids_of_region)
            refused.update(outcome.refused)
            accepted.update(set(ids_of_region) - outcome.refused.keys())
            if outcome.code:
                raise AwsError(outcome.code, outcome.message)

        code = message = ""
        try:
            self._each(ids, terminate)
        except AwsError as error:
            code, message = error.code, error.message
        return ActionOutcome(code, message, refused={id_: refused[id_] for id_ in refused if id_ not in accepted})

    def renew(self, ids: Iterable[str], until: float) -> None:
        """Renew leases, each in the region of its instance."""
        self._each(ids, lambda region, ids_of_region: region.renew(ids_of_region, until))

    def network_paths(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the network paths of instances, read in the region of each."""
        paths: dict[str, str] = {}
        self._each(ids, lambda region, ids_of_region: paths.update(region.network_paths(ids_of_region)))
        return paths

    def instance_statuses(self, ids: Iterable[str]) -> dict[str, InstanceStatus]:
        """Return the statuses of instances, read in the region of each."""
        statuses: dict[str, InstanceStatus] = {}
        self._each(ids, lambda region, ids_of_region: statuses.update(region.instance_statuses(ids_of_region)))
        return statuses

    def unattached(self) -> list[UnattachedResource]:
        """Return the unattached resources of all regions; one that does not answer is queried again at the next check."""
        resources = self.home.unattached()
        for name, region in self.others.items():
            try:
                resources_of_region = region.unattached()
            except AwsError:
                continue
            self._region_by_id |= {resource.id: name for resource in resources_of_region}
            resources += resources_of_region
        return resources

    def delete(self, resource: UnattachedResource) -> None:
        """Delete a resource in its region."""
        self._at(self._region_by_id.get(resource.id, "")).delete(resource)

    def _at(self, region: str) -> RegionPort:
        return self.others.get(region, self.home)

    def _view_of(self, name: str, expected: list[str]) -> Ec2View:
        try:
            view = self.others[name].view(expected)
        except AwsError:
            at, last_view = self._last_views.get(name, (float("-inf"), Ec2View(0.0, ())))
            if self.clock() - at > MAX_STALE_SECONDS:
                raise
            return last_view
        self._last_views[name] = (self.clock(), view)
        return view

    def _each(self, ids: Iterable[str], call: Callable[[RegionPort, list[str]], None]) -> None:
        """Make one call for each region; raise the first failure after all calls.

        The region of an instance that an earlier process launched, and that EC2 does not show yet, is unknown: the call is made
        in every region. A region without the instance refuses it; only a refusal by every region is a failure.
        """
        by_region: dict[str, list[str]] = {}
        unknown: list[str] = []
        for instance_id in ids:
            if instance_id in self._region_by_id:
                by_region.setdefault(self._region_by_id[instance_id], []).append(instance_id)
            else:
                unknown.append(instance_id)
        errors = [
            error
            for region, ids_of_region in by_region.items()
            if (error := self._error_of(region, ids_of_region, call))
        ]
        if unknown:
            refusals = [self._error_of(region, unknown, call) for region in ("", *self.others)]
            errors += [error for error in refusals if error is not None] if all(refusals) else []
        if errors:
            raise errors[0]

    def _error_of(self, region: str, ids: list[str], call: Callable[[RegionPort, list[str]], None]) -> AwsError | None:
        try:
            call(self._at(region), ids)
        except AwsError as error:
            return error
        return None
