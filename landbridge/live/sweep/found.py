"""Looking for what is left."""

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from landbridge.findings import Finding
from landbridge.live.answers import AwsRefusal, finding_of
from landbridge.live.answers import RefusalKind as Answer
from landbridge.live.aws import AwsClient
from landbridge.live.sweep.kinds import KINDS, Item, SweptType

#: Until when a node has been paid attention to, by the burst controller.
LEASE = "landbridge:lease-expires"
#: Only nodes of a pool, and what was started with them, bear it.
POOL = "landbridge:pool"
_AT_ONCE = 8


@dataclass(frozen=True)
class Leftover:
    """One thing that bears the cluster's tag and that nothing remembers."""

    kind: SweptType = field(repr=False)
    id: str
    name: str
    item: Item = field(repr=False, compare=False)
    region: str = ""

    @property
    def data(self) -> bool:
        """Whether it may hold what is nowhere else. The disks of a pool's nodes hold nothing of the kind."""
        return self.kind.data and not (self.kind.name == "volume" and POOL in self.kind.tags(self.item))

    @property
    def billed(self) -> bool:
        """Whether it costs something while it merely exists. Gateway endpoints do not."""
        return self.kind.billed and self.item.get("VpcEndpointType") != "Gateway"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `--format json`."""
        return {"kind": self.kind.name, "id": self.id, "name": self.name, "billed": self.billed, "data": self.data}


@dataclass(frozen=True)
class Swept:
    """What was found, in the order in which it can go. `unseen` says where these credentials could not look."""

    left: tuple[Leftover, ...]
    unseen: tuple[Finding, ...]
    answered: bool = True

    @property
    def billed(self) -> tuple[Leftover, ...]:
        """What costs and holds nothing: nobody can want it."""
        return tuple(one for one in self.left if one.billed and not one.data)

    @property
    def useless(self) -> tuple[Leftover, ...]:
        """What holds nothing, whether it costs or only stands in somebody's way: nobody can want it either."""
        return tuple(one for one in self.left if not one.data)

    @property
    def kept(self) -> tuple[Leftover, ...]:
        """What holds data, and costs for as long as it does."""
        return tuple(one for one in self.left if one.data)


def look(aws: AwsClient, cluster: str, remembered: Collection[str], now: datetime, *, standing: bool) -> Swept:
    """Find what bears `cluster`'s tag and is not among the `remembered` ids.

    While the environment is `standing`, a node whose lease has not run out is in use, and so is every image. Never raises for what AWS answers.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda kind: _find(aws, kind, cluster), KINDS))
    left = [
        one
        for _, items in found
        for one in items
        if one.id not in remembered and one.name not in remembered and not (standing and _in_use(one, now))
    ]
    refused = [one for one, _ in found if one is not None]
    unseen = {finding.message: finding for finding in (finding_of(one, f"{what}s") for what, one in refused)}
    silent = (Answer.CREDENTIALS, Answer.NETWORK)
    answered = not any(one.kind in silent for _, one in refused)
    return Swept(tuple(left), tuple(unseen.values()), answered)


def together(found: Iterable[Swept]) -> Swept:
    """What was found in several regions, each thing once: what is in no region is seen from all of them."""
    known = list(found)
    left = {(one.kind.name, one.id): one for swept in reversed(known) for one in swept.left}
    ordered = sorted(left.values(), key=lambda one: KINDS.index(one.kind))
    unseen = {finding.message: finding for swept in known for finding in swept.unseen}
    return Swept(tuple(ordered), tuple(unseen.values()), all(swept.answered for swept in known))


Asked = tuple[tuple[str, AwsRefusal] | None, list[Leftover]]


def _find(aws: AwsClient, kind: SweptType, cluster: str) -> Asked:
    try:
        items = list(kind.find(aws, cluster))
    except AwsRefusal as refused:
        return (kind.name, refused), []
    return None, [Leftover(kind, kind.id(item), _name(kind, item), item, aws.region) for item in items]


def _name(kind: SweptType, item: Item) -> str:
    tags = kind.tags(item)
    return tags.get("Name") or str(item.get("LaunchTemplateName") or item.get("GroupName") or "")


def _in_use(one: Leftover, now: datetime) -> bool:
    if one.kind.name == "image":
        return True  # the lock may name it, and the pipeline's own rule removes old ones
    lease = one.kind.tags(one.item).get(LEASE)
    if one.kind.name != "instance" or lease is None:
        return False
    try:
        return datetime.strptime(lease, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) > now
    except ValueError:
        return False
