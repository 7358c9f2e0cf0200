"""A pool in AWS over a replay: instances that are launched for a job, shared while they run, and given back when idle."""

import math
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from landbridge.burst.model import Gang, Pool
from landbridge.burst.reconcile.budget import hold_usd
from landbridge.burst.reconcile.leases import at_launch
from landbridge.simulation.budget import Purse
from landbridge.simulation.gpu_allocator import Parts, Shelf, earliest
from landbridge.simulation.scenario import CloudPool

#: Node numbers are from 1, as Slurm's names have them.
_FIRST = 1


@dataclass(slots=True)
class Running:
    """An instance that is up or boots."""

    place: int
    launched: float
    ready: float
    token: str
    account: str
    warm: bool = False
    idle_since: float = math.inf


@dataclass(frozen=True, slots=True)
class Stay:
    """An instance that has ended, and the account that it was launched for."""

    account: str
    pool: str
    usd_hour: float
    launched: float
    ended: float


@dataclass(slots=True)
class Cloud:
    """The room of a pool's lane. Its jobs are in one place each, as a gang is."""

    setting: CloudPool
    pool: Pool
    purse: Purse
    shelves: list[Shelf] = field(init=False)
    nodes: dict[int, Running] = field(default_factory=dict)
    stays: list[Stay] = field(default_factory=list)
    peak: int = 0
    launches: int = 0
    _off: list[int] = field(init=False)
    _jobs: dict[int, int] = field(default_factory=dict)  # job -> its place
    _sizes: list[int] = field(init=False)  # most nodes by place
    _alone: list[Pool] = field(init=False)  # the pool as if it had one place only

    def __post_init__(self) -> None:
        self.shelves = [Shelf(self.setting.gpus) for _ in self.pool.places]
        self._off = list(range(_FIRST, self.pool.max_nodes + _FIRST))
        heapify(self._off)
        most = self.pool.max_nodes
        self._sizes = [most if place.size is None else min(place.size, most) for place in self.pool.places]
        self._alone = [replace(self.pool, places=(place,)) for place in self.pool.places]

    # What a lane asks.

    @property
    def size(self) -> int:
        """All GPUs that a job could have at once: a gang is in one place."""
        return max(self._sizes, default=0) * self.setting.gpus

    def idle(self) -> int:
        """GPUs that a job could have now, those of instances that could be launched among them."""
        found = room = 0
        for shelf, size in zip(self.shelves, self._sizes, strict=True):
            found += shelf.idle
            room += size - len(shelf.free)
        return found + min(len(self._off), room) * self.setting.gpus

    def fits(self, gpus: int) -> bool:
        """Whether a job could start now."""
        off = len(self._off)
        for shelf, size in zip(self.shelves, self._sizes, strict=True):
            lacking = shelf.lacks(gpus)
            if lacking <= off and lacking <= size - len(shelf.free):
                return True
        return False

    def earliest(self, gpus: int) -> tuple[float, int]:
        """When a job fits at the latest, as if all nodes were in one place."""
        free = [self.setting.gpus] * (self.pool.max_nodes + _FIRST)
        free[0] = 0
        for shelf in self.shelves:
            for node, count in shelf.free.items():
                free[node] = count
        running = [one for shelf in self.shelves for one in shelf.running.values()]
        return earliest(gpus, self.setting.gpus, free, running)

    def worst(self, gpus: int, seconds: float) -> float:
        """What a job of at most so many seconds can cost on instances of its own, at the dearest place."""
        nodes = math.ceil(gpus / self.setting.gpus)
        dearest = max((place.usd_hour or 0.0 for place in self.pool.places), default=0.0)
        lease = at_launch(self.purse.policy, self.pool, math.ceil(seconds / 60), 0.0)
        return hold_usd(nodes, dearest, 0.0, max(lease, self.pool.boot_seconds + seconds + self.setting.suspend_after))

    # What happens.

    def start(self, job: int, gpus: int, account: str, seconds: float, now: float) -> float | None:
        """Start a job of at most so many seconds: when its nodes are ready; None where money for it is refused."""
        lease = at_launch(self.purse.policy, self.pool, math.ceil(seconds / 60), now)
        for place, parts, new in self._ways(gpus):
            begin = now + self.pool.boot_seconds if new else now
            paid: list[Running] = []  # those that are not paid whatever runs
            for node, _ in parts:
                found = self.nodes[node]
                begin = max(begin, found.ready)
                if not found.warm:
                    paid.append(found)
            until = max(lease, begin + seconds + self.setting.suspend_after)
            if not self._paid(place, paid, len(new), account, seconds, until, now):
                continue
            launched = [(self.launch(place, account, until, now), count) for count in new]
            for found in paid:
                self.purse.keep(found.token, until, now)
            self.shelves[place].take(job, (*parts, *launched), begin + seconds)
            self._jobs[job] = place
            return begin
        return None

    def end(self, job: int, now: float) -> list[int]:
        """A job has ended: the nodes that nobody uses any more, unless they are kept warm."""
        shelf = self.shelves[self._jobs.pop(job)]
        nodes = [node for node, _ in shelf.give(job)]
        idle = [node for node in nodes if shelf.free[node] == self.setting.gpus and not self.nodes[node].warm]
        for node in idle:
            self.nodes[node].idle_since = now
        return idle

    def idle_since(self, node: int) -> float:
        """Since when a node has had no work; never, for one that works or is gone."""
        found = self.nodes.get(node)
        if found is None or found.warm or self.shelves[found.place].free[node] < self.setting.gpus:
            return math.inf
        return found.idle_since

    def launch(self, place: int, account: str, until: float, now: float, *, warm: bool = False) -> int:
        """Start an instance; says which node it is."""
        node = heappop(self._off)
        self.launches += 1
        token = f"{self.pool.name}-{self.launches}"
        option = self.pool.places[place]
        self.purse.hold(token, account, self.pool.name, option.key, until, option.usd_hour or 0.0, now)
        ready = now if warm else now + self.pool.boot_seconds
        self.nodes[node] = Running(place, now, ready, token, account, warm)
        self.shelves[place].add(node)
        self.peak = max(self.peak, len(self.nodes))
        return node

    def terminate(self, node: int, now: float) -> None:
        """End an instance, and pay for it."""
        found = self.nodes.pop(node)
        self.shelves[found.place].remove(node)
        self.purse.pay(found.token, now)
        usd_hour = self.pool.places[found.place].usd_hour or 0.0
        self.stays.append(Stay(found.account, self.pool.name, usd_hour, found.launched, now))
        heappush(self._off, node)

    def keep_warm(self, until: float, now: float) -> int:
        """Start the nodes that are kept whatever runs; says for how many there is no money or no room."""
        for missing in range(self.pool.min_nodes, 0, -1):
            place = next(iter(self._launchable()), None)
            if place is None:
                return missing
            usd = hold_usd(1, self.pool.places[place].usd_hour or 0.0, now, until)
            if self.purse.refusal([("", self.pool.name, usd)], now) is not None:
                return missing
            self.launch(place, "", until, now, warm=True)
        return 0

    def renew_warm(self, until: float, now: float) -> None:
        """A month has begun: hold the money for the nodes that are kept."""
        for found in self.nodes.values():
            if found.warm:
                self.purse.keep(found.token, until, now)

    def _ways(self, gpus: int) -> list[tuple[int, Parts, tuple[int, ...]]]:
        """A place, the parts of running nodes, and what is taken of each new one; running nodes first."""
        ways = [(place, *shelf.split(gpus)) for place, shelf in enumerate(self.shelves)]
        fit = [way for way in ways if len(way[2]) <= self._room(way[0])]
        return sorted(fit, key=lambda way: bool(way[2])) if len(fit) > 1 else fit

    def _launchable(self) -> list[int]:
        """Places that have room for an instance more, in their order."""
        return [place for place in range(len(self.shelves)) if self._room(place) > 0] if self._off else []

    def _room(self, place: int) -> int:
        return min(len(self._off), self._sizes[place] - len(self.shelves[place].free))

    def _paid(
        self, place: int, kept: list[Running], new: int, account: str, seconds: float, until: float, now: float
    ) -> bool:
        """Whether the controller would choose the place for what is new, and renew the leases of what is kept."""
        if not new and not kept:
            return True
        option, more = self.pool.places[place], []
        if new:
            gang = Gang(
                key="",
                job_key="",
                pool=self.pool.name,
                nodes=tuple(f"{self.pool.node_prefix}{number}" for number in range(new)),
                jobs=(0,),
                whole=True,
                account=account,
                minutes=math.ceil(seconds / 60),
            )
            used = {option.key: len(self.shelves[place].free)}
            if self.purse.choose(gang, self._alone[place], used, now).place is None:
                return False
            more.append((account, self.pool.name, hold_usd(new, option.usd_hour or 0.0, now, until)))
        for found in kept:
            more.append((found.account, self.pool.name, self.purse.missing(found.token, until)))
        return self.purse.refusal(more, now) is None
