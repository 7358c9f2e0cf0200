"""Leftovers: resources in AWS with the cluster's tag that are in no stack's state."""

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from landbridge import tags
from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal, RefusalKind, finding_of
from landbridge.aws_resources import SWEPT, ResourceType
from landbridge.aws_resources.resource_type import Item
from landbridge.findings import Finding
from landbridge.timestamps import parse_iso

_CONCURRENT_SEARCHES = 8
#: Types that run, and that only the burst controller, AWS or a user starts.
RUNNING: tuple[ResourceType, ...] = tuple(entry for entry in SWEPT if entry.noun in ("instance", "training job"))


@dataclass(frozen=True)
class Leftover:
    """Resource with the cluster's tag that is in no stack's state."""

    type: ResourceType = field(repr=False)
    id: str
    name: str
    item: Item = field(repr=False, compare=False)
    region: str = ""

    @property
    def holds_data(self) -> bool:
        """Return true if it can hold the only copy of data. A volume of a pool's node does not."""
        is_node_volume = self.type.noun == "EBS volume" and tags.POOL in self.type.tags(self.item)
        return self.type.holds_data and not is_node_volume

    @property
    def billed(self) -> bool:
        """Return true if it is billed while it exists. Gateway endpoints are free."""
        return self.type.billed and self.item.get("VpcEndpointType") != "Gateway"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {
            "type": self.type.noun,
            "id": self.id,
            "name": self.name,
            "billed": self.billed,
            "holds_data": self.holds_data,
        }


@dataclass(frozen=True)
class Leftovers:
    """Result of a search, in the order of deletion. `unseen` has a finding for each type that could not be listed.

    `in_use` are the resources that a standing environment's jobs and image lock use: they are no leftovers.
    """

    items: tuple[Leftover, ...]
    unseen: tuple[Finding, ...]
    answered: bool = True
    in_use: tuple[Leftover, ...] = ()

    @property
    def running(self) -> tuple[Leftover, ...]:
        """Return the nodes, image builders and training jobs, in use or not."""
        return tuple(each for each in (*self.items, *self.in_use) if each.type in RUNNING)

    @property
    def running_in_use(self) -> tuple[Leftover, ...]:
        """Return the nodes and training jobs in use."""
        return tuple(each for each in self.in_use if each.type in RUNNING)

    @property
    def billed(self) -> tuple[Leftover, ...]:
        """Return the leftovers that cost money and hold no data."""
        return tuple(leftover for leftover in self.items if leftover.billed and not leftover.holds_data)

    @property
    def without_data(self) -> tuple[Leftover, ...]:
        """Return the leftovers that hold no data, billed or not."""
        return tuple(leftover for leftover in self.items if not leftover.holds_data)

    @property
    def with_data(self) -> tuple[Leftover, ...]:
        """Return the leftovers that hold data; they are billed as long as they exist."""
        return tuple(leftover for leftover in self.items if leftover.holds_data)


def find_leftovers(
    aws: AwsClient,
    cluster: str,
    remembered: Collection[str],
    now: datetime,
    *,
    standing: bool,
    types: Sequence[ResourceType] = SWEPT,
) -> Leftovers:
    """Find resources with `cluster`'s tag whose id or name is not among the `remembered`.

    While the environment is `standing`, nodes whose lease has not expired are in use, and so is every image. Refusals
    of AWS become findings.
    """
    with ThreadPoolExecutor(_CONCURRENT_SEARCHES) as pool:
        answers = list(pool.map(lambda entry: _search(aws, entry, cluster), types))
    items = [
        leftover
        for _, leftovers in answers
        for leftover in leftovers
        if leftover.id not in remembered and leftover.name not in remembered
    ]
    in_use = [leftover for leftover in items if standing and _is_in_use(leftover, now)]
    refusals = [refusal for refusal, _ in answers if refusal is not None]
    unseen = {finding.message: finding for finding in (finding_of(refused, f"{noun}s") for noun, refused in refusals)}
    answered = not any(refused.kind in (RefusalKind.CREDENTIALS, RefusalKind.NETWORK) for _, refused in refusals)
    left = tuple(leftover for leftover in items if leftover not in in_use)
    return Leftovers(left, tuple(unseen.values()), answered, tuple(in_use))


def merge(searches: Iterable[Leftovers]) -> Leftovers:
    """Return the leftovers of several regions, each once: a global resource is listed in all of them."""
    regions = list(searches)
    items = _each_once(each for region in regions for each in region.items)
    in_use = _each_once(each for region in regions for each in region.in_use)
    unseen = {finding.message: finding for region in regions for finding in region.unseen}
    return Leftovers(items, tuple(unseen.values()), all(region.answered for region in regions), in_use)


def _each_once(leftovers: Iterable[Leftover]) -> tuple[Leftover, ...]:
    first = dict[tuple[str, str], Leftover]()
    for each in leftovers:
        first.setdefault((each.type.noun, each.id), each)
    return tuple(sorted(first.values(), key=lambda leftover: SWEPT.index(leftover.type)))


def _search(aws: AwsClient, entry: ResourceType, cluster: str) -> tuple[tuple[str, AwsRefusal] | None, list[Leftover]]:
    if entry.sweep is None:
        return None, []
    try:
        items = list(entry.sweep.find(aws, cluster))
    except AwsRefusal as refused:
        return (entry.noun, refused), []
    return None, [Leftover(entry, entry.id(item), _name(entry, item), item, aws.region) for item in items]


def _name(entry: ResourceType, item: Item) -> str:
    name = entry.tags(item).get(tags.NAME)
    return name or str(item.get("LaunchTemplateName") or item.get("GroupName") or "")


def _is_in_use(leftover: Leftover, now: datetime) -> bool:
    if leftover.type.noun == "image":
        return True  # the image lock can contain it, and the pipeline's lifecycle policy deletes old ones
    if leftover.type.noun == "training job":
        return True  # of a user; `landbridge sagemaker sync` adds one that the journal does not have
    lease = parse_iso(leftover.type.tags(leftover.item).get(tags.LEASE_EXPIRES, ""))
    return leftover.type.noun == "instance" and lease is not None and lease > now.timestamp()
