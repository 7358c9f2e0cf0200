"""EC2 of every region that nodes may be in, as one: an instance's region is remembered, and each call goes there.

The policy's own region has to answer, or nothing is known. Another one that does not is taken to be as it was seen last,
for as long as `STALE` seconds: its outage must not stop what starts at home, and a node there must not seem gone.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from landbridge.burst.ec2 import Ec2
from landbridge.burst.errors import AwsError
from landbridge.burst.leftovers import Leftover
from landbridge.burst.model import Attempt, Ec2View, Instance, Outcome, Place
from landbridge.burst.ports import Cloud

if TYPE_CHECKING:
    from landbridge.burst.config import Config

#: How long another region may be silent before nothing is decided without it: less than a lease, which nobody renews there.
STALE = 900.0


class Region(Cloud, Protocol):
    """EC2 in one region, with what is left over there."""

    def leftovers(self) -> list[Leftover]: ...

    def delete(self, leftover: Leftover) -> None: ...


def clouds(config: "Config") -> "Ec2 | Clouds":
    """EC2 in the policy's regions: one client where there is one."""
    others = config.policy.regions[1:]
    return Clouds(Ec2(config), {name: Ec2(config, name) for name in others}) if others else Ec2(config)


@dataclass
class Clouds:
    """The policy's own region and the others, by name."""

    home: Region
    others: Mapping[str, Region]
    clock: Callable[[], float] = time.monotonic
    _where: dict[str, str] = field(default_factory=dict)  # the region of what is not at home: instances, leftovers
    _last: dict[str, tuple[float, tuple[Instance, ...]]] = field(default_factory=dict)

    def view(self) -> Ec2View:
        """Every instance in every region, asked for at once."""
        with ThreadPoolExecutor(len(self.others), thread_name_prefix="region") as pool:
            asked = {name: pool.submit(self._there, name) for name in self.others}
            own = self.home.view()
            found = {name: one.result() for name, one in asked.items()}
        self._where = {one.id: name for name, instances in found.items() for one in instances}
        return Ec2View(own.at, (*own.instances, *(one for instances in found.values() for one in instances)))

    def run(self, attempt: Attempt, place: Place, tags: Mapping[str, str], whole: bool) -> Outcome:
        """Launch where the place is."""
        outcome = self._at(place.region).run(attempt, place, tags, whole)
        if place.region in self.others:
            self._where |= dict.fromkeys(outcome.instances.values(), place.region)
        return outcome

    def terminate(self, ids: Iterable[str]) -> None:
        """End instances, each where it is."""
        self._each(ids, lambda region, some: region.terminate(some))

    def renew(self, ids: Iterable[str], until: float) -> None:
        """Move leases, each where its instance is."""
        self._each(ids, lambda region, some: region.renew(some, until))

    def leftovers(self) -> list[Leftover]:
        """Those of every region; one that does not answer has its turn at the next look."""
        found = self.home.leftovers()
        for name, region in self.others.items():
            try:
                there = region.leftovers()
            except AwsError:
                continue
            self._where |= {one.id: name for one in there}
            found += there
        return found

    def delete(self, leftover: Leftover) -> None:
        """Delete it where it is."""
        self._at(self._where.get(leftover.id, "")).delete(leftover)

    def _at(self, region: str) -> Region:
        return self.others.get(region, self.home)

    def _there(self, name: str) -> tuple[Instance, ...]:
        try:
            found = self.others[name].view().instances
        except AwsError:
            at, seen = self._last.get(name, (float("-inf"), ()))
            if self.clock() - at > STALE:
                raise
            return seen
        self._last[name] = (self.clock(), found)
        return found

    def _each(self, ids: Iterable[str], call: Callable[[Region, list[str]], None]) -> None:
        """One call for each region; all are made, and the first failure is raised after that."""
        by_region: dict[str, list[str]] = {}
        for one in ids:
            by_region.setdefault(self._where.get(one, ""), []).append(one)
        failed: list[AwsError] = []
        for region, some in by_region.items():
            try:
                call(self._at(region), some)
            except AwsError as error:
                failed.append(error)
        if failed:
            raise failed[0]
