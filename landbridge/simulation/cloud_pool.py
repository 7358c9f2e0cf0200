"""Pool in AWS during a replay: instances are launched for a job, shared while they run, and terminated when idle."""

import math
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from landbridge.burst.model import Gang, PoolPolicy
from landbridge.burst.reconcile.budget import hold_usd
from landbridge.burst.reconcile.instances.leases import lease_at_launch
from landbridge.simulation.budget import SimulatedBudget
from landbridge.simulation.gpu_allocator import Allocation, GpuAllocator, earliest
from landbridge.simulation.scenario import ScenarioPool

#: Node numbers start at 1, as in Slurm's names.
_FIRST_NODE = 1


@dataclass(slots=True)
class SimulatedInstance:
    """Instance that is up or has not registered yet."""

    offering: int
    launched: float
    ready: float
    token: str
    account: str
    warm: bool = False
    idle_since: float = math.inf


@dataclass(frozen=True, slots=True)
class InstanceUsage:
    """Ended instance, and the account for which it was launched."""

    account: str
    pool: str
    usd_hour: float
    launched: float
    ended: float


@dataclass(slots=True)
class SimulatedPool:
    """Capacity of a pool's queue. Each job is in one offering, like a gang."""

    scenario: ScenarioPool
    pool: PoolPolicy
    budget: SimulatedBudget
    allocators: list[GpuAllocator] = field(init=False)
    nodes: dict[int, SimulatedInstance] = field(default_factory=dict)
    stays: list[InstanceUsage] = field(default_factory=list)
    peak: int = 0
    launches: int = 0
    limit: int | None = None  # instances that AWS has; None: as many as the pool may have
    _off: list[int] = field(init=False)
    _jobs: dict[int, int] = field(default_factory=dict)  # job -> its offering
    _sizes: list[int] = field(init=False)  # maximum number of nodes by offering
    _single_offering_pools: list[PoolPolicy] = field(init=False)  # by offering: the pool with only that one

    def __post_init__(self) -> None:
        self.allocators = [GpuAllocator(self.scenario.gpus) for _ in self.pool.offerings]
        self._off = list(range(_FIRST_NODE, self.pool.max_nodes + _FIRST_NODE))
        heapify(self._off)
        limit = self.pool.max_nodes
        self._sizes = [
            limit if offering.size is None else min(offering.size, limit) for offering in self.pool.offerings
        ]
        self._single_offering_pools = [replace(self.pool, offerings=(offering,)) for offering in self.pool.offerings]

    # GpuCapacity.

    @property
    def size(self) -> int:
        """Return the number of GPUs of the largest possible job: a gang is in one offering."""
        return max(self._sizes, default=0) * self.scenario.gpus

    def idle(self) -> int:
        """Return the number of GPUs that are available to a job now, including instances that could be launched."""
        idle_gpus = room = 0
        for allocator, size in zip(self.allocators, self._sizes, strict=True):
            idle_gpus += allocator.idle
            room += size - len(allocator.free)
        return idle_gpus + min(self._launchable_nodes(), room) * self.scenario.gpus

    def fits(self, gpus: int) -> bool:
        """Return whether a job could start now."""
        off = self._launchable_nodes()
        for allocator, size in zip(self.allocators, self._sizes, strict=True):
            missing = allocator.lacks(gpus)
            if missing <= off and missing <= size - len(allocator.free):
                return True
        return False

    def earliest(self, gpus: int) -> tuple[float, int]:
        """Return the latest start of a job and the number of other free GPUs then, as if all nodes were in one
        offering."""
        free = [self.scenario.gpus] * (self.pool.max_nodes + _FIRST_NODE)
        free[0] = 0
        if self.limit is not None:
            launchable = self._launchable_nodes()
            for number, node in enumerate(sorted(self._off)):
                free[node] = self.scenario.gpus if number < launchable else 0
        for allocator in self.allocators:
            for node, count in allocator.free.items():
                free[node] = count
        running = [allocation for allocator in self.allocators for allocation in allocator.running.values()]
        return earliest(gpus, self.scenario.gpus, free, running)

    def lacks_capacity(self, gpus: int) -> bool:
        """Return whether AWS has too few instances for a job now, although the pool may have enough."""
        return self.limit is not None and all(
            allocator.lacks(gpus) > self._launchable_nodes() for allocator in self.allocators
        )

    def max_usd(self, gpus: int, seconds: float) -> float:
        """Return the maximum cost in USD of a job of at most `seconds` on separate instances of the most expensive
        offering."""
        nodes = math.ceil(gpus / self.scenario.gpus)
        highest_price = max((offering.usd_hour or 0.0 for offering in self.pool.offerings), default=0.0)
        lease = lease_at_launch(self.budget.policy, self.pool, math.ceil(seconds / 60), 0.0)
        return hold_usd(
            nodes, highest_price, 0.0, max(lease, self.pool.boot_seconds + seconds + self.scenario.suspend_after)
        )

    # Starts and ends.

    def start(self, job: int, gpus: int, account: str, seconds: float, now: float) -> float | None:
        """Start a job of at most `seconds`; return when its nodes are ready, or None if its cost is refused."""
        lease = lease_at_launch(self.budget.policy, self.pool, math.ceil(seconds / 60), now)
        for offering, parts, gpus_of_new_nodes in self._allocations(gpus):
            begin = now + self.pool.boot_seconds if gpus_of_new_nodes else now
            reused: list[SimulatedInstance] = []  # without warm instances, which are paid for in any case
            for node, _ in parts:
                instance = self.nodes[node]
                begin = max(begin, instance.ready)
                if not instance.warm:
                    reused.append(instance)
            until = max(lease, begin + seconds + self.scenario.suspend_after)
            if not self._is_affordable(offering, reused, len(gpus_of_new_nodes), account, seconds, until, now):
                continue
            launched = [(self.launch(offering, account, until, now), count) for count in gpus_of_new_nodes]
            for instance in reused:
                self.budget.keep(instance.token, until, now)
            self.allocators[offering].take(job, (*parts, *launched), begin + seconds)
            self._jobs[job] = offering
            return begin
        return None

    def end(self, job: int, now: float) -> list[int]:
        """End a job; return its nodes that are idle now and not warm."""
        allocator = self.allocators[self._jobs.pop(job)]
        nodes = [node for node, _ in allocator.give(job)]
        idle = [node for node in nodes if allocator.free[node] == self.scenario.gpus and not self.nodes[node].warm]
        for node in idle:
            self.nodes[node].idle_since = now
        return idle

    def idle_since(self, node: int) -> float:
        """Return the time since when a node has no job; infinity for a warm, busy or terminated node."""
        instance = self.nodes.get(node)
        if instance is None or instance.warm or self.allocators[instance.offering].free[node] < self.scenario.gpus:
            return math.inf
        return instance.idle_since

    def launch(self, offering: int, account: str, until: float, now: float, *, warm: bool = False) -> int:
        """Launch an instance; return its node number."""
        node = heappop(self._off)
        self.launches += 1
        token = f"{self.pool.name}-{self.launches}"
        option = self.pool.offerings[offering]
        self.budget.hold(token, account, self.pool.name, option.key, until, option.usd_hour or 0.0, now)
        ready = now if warm else now + self.pool.boot_seconds
        self.nodes[node] = SimulatedInstance(offering, now, ready, token, account, warm)
        self.allocators[offering].add(node)
        self.peak = max(self.peak, len(self.nodes))
        return node

    def terminate(self, node: int, now: float) -> None:
        """Terminate an instance, and pay for it."""
        instance = self.nodes.pop(node)
        self.allocators[instance.offering].remove(node)
        self.budget.pay(instance.token, now)
        usd_hour = self.pool.offerings[instance.offering].usd_hour or 0.0
        self.stays.append(InstanceUsage(instance.account, self.pool.name, usd_hour, instance.launched, now))
        heappush(self._off, node)

    def keep_warm(self, until: float, now: float, *, boots: bool = False) -> int:
        """Launch the nodes of `min_nodes` that are not up; return the number that lacks budget or capacity. They are
        ready at once unless `boots`.
        """
        warm_count = sum(instance.warm for instance in self.nodes.values())
        for missing in range(self.pool.min_nodes - warm_count, 0, -1):
            offering = next(iter(self._launchable()), None)
            if offering is None:
                return missing
            usd = hold_usd(1, self.pool.offerings[offering].usd_hour or 0.0, now, until)
            if self.budget.refusal([("", self.pool.name, usd)], now) is not None:
                return missing
            node = self.launch(offering, "", until, now, warm=True)
            if boots:
                self.nodes[node].ready = now + self.pool.boot_seconds
        return 0

    def renew_warm(self, until: float, now: float) -> None:
        """Hold the cost of the warm nodes for a new month."""
        for instance in self.nodes.values():
            if instance.warm:
                self.budget.keep(instance.token, until, now)

    def _allocations(self, gpus: int) -> list[tuple[int, Allocation, tuple[int, ...]]]:
        """Return possible allocations: offering, GPUs on running nodes, GPUs of each new node; those without new nodes
        first."""
        allocations = [(offering, *allocator.split(gpus)) for offering, allocator in enumerate(self.allocators)]
        fitting = [allocation for allocation in allocations if len(allocation[2]) <= self._room(allocation[0])]
        return sorted(fitting, key=lambda allocation: bool(allocation[2])) if len(fitting) > 1 else fitting

    def _launchable(self) -> list[int]:
        """Return the offerings that can launch one more instance, in their order."""
        return [offering for offering in range(len(self.allocators)) if self._room(offering) > 0] if self._off else []

    def _launchable_nodes(self) -> int:
        """Return the number of instances that can still be launched."""
        off = len(self._off)
        return off if self.limit is None else min(off, max(self.limit - len(self.nodes), 0))

    def _room(self, offering: int) -> int:
        return min(self._launchable_nodes(), self._sizes[offering] - len(self.allocators[offering].free))

    def _is_affordable(
        self,
        offering: int,
        reused: list[SimulatedInstance],
        new: int,
        account: str,
        seconds: float,
        until: float,
        now: float,
    ) -> bool:
        """Return whether the controller would choose the offering for `new` instances and renew the leases of reused
        ones."""
        if not new and not reused:
            return True
        option, amounts = self.pool.offerings[offering], []
        if new:
            gang = Gang(
                key="",
                job_key="",
                pool=self.pool.name,
                nodes=tuple(f"{self.pool.node_prefix}{number}" for number in range(new)),
                jobs=(0,),
                all_or_nothing=True,
                account=account,
                minutes=math.ceil(seconds / 60),
            )
            used = {option.key: len(self.allocators[offering].free)}
            if self.budget.choose(gang, self._single_offering_pools[offering], used, now).offering is None:
                return False
            amounts.append((account, self.pool.name, hold_usd(new, option.usd_hour or 0.0, now, until)))
        for instance in reused:
            amounts.append((instance.account, self.pool.name, self.budget.missing(instance.token, until)))
        return self.budget.refusal(amounts, now) is None
