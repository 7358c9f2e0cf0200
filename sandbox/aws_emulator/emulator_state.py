"""State of the emulator that moto does not have: limits, delays and faults of calls, and running machines."""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.aws_emulator.ec2.capacity_pools import CapacityPools
from sandbox.aws_emulator.instances.lifecycle import InstanceLifecycle
from sandbox.aws_emulator.network.private_addresses import AddressBook
from sandbox.aws_emulator.server.client_tokens import ClientTokens
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.eventual_consistency import ConsistencyDelay
from sandbox.aws_emulator.server.held_calls import HeldCalls
from sandbox.aws_emulator.server.processing_time import ProcessingTime
from sandbox.aws_emulator.server.throttling import TokenBucket


@dataclass
class InjectedFault:
    """Injected fault: the next `times` calls of an action get an error, with `after` only after the call took effect.

    `hold` delays the answer by that many seconds or until the next reset; without a `code` it is the real answer. With `cut` there is no
    answer: the connection is closed, and the caller cannot know whether the call took effect (`after`).
    """

    code: str = ""
    status: int = 400
    message: str = "injected"
    times: int = 1
    after: bool = False
    hold: float = 0.0
    cut: bool = False

    def error(self) -> CloudError:
        """Return the error for the caller."""
        return CloudError(self.code, self.message, self.status)


@dataclass
class EmulatorState:
    """State of the emulated account. Launches hold `lock`: it protects capacity, tokens and addresses."""

    lifecycle: InstanceLifecycle
    addresses: AddressBook = field(default_factory=AddressBook)
    lock: threading.RLock = field(default_factory=threading.RLock)
    latency: float = 0.0
    busy: ProcessingTime = field(default_factory=ProcessingTime)
    lag: ConsistencyDelay = field(default_factory=ConsistencyDelay)
    capacity: CapacityPools = field(default_factory=CapacityPools)
    tokens: ClientTokens = field(default_factory=ClientTokens)
    buckets: dict[str, TokenBucket] = field(default_factory=dict)
    faults: dict[str, list[InjectedFault]] = field(default_factory=lambda: defaultdict(list))
    held: HeldCalls = field(default_factory=HeldCalls)
    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    capacity_keys: dict[str, str | None] = field(default_factory=dict)  # instance id -> pool entry
    notices: dict[str, str] = field(default_factory=dict)  # instance id -> time of its spot termination
    rebalance: dict[str, str] = field(default_factory=dict)  # instance id -> time of its rebalance recommendation
    statuses: dict[str, dict[str, Any]] = field(default_factory=dict)  # instance id -> failed checks and events
    placement_groups: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # (region, name)
    iam_calls: Counter[str] = field(default_factory=Counter)  # calls by their IAM action
    denied: set[str] = field(default_factory=set)  # denied IAM actions, wildcards as in IAM
    quotas: dict[str, float] = field(default_factory=dict)  # by code, if a test has set one
    clock: timedelta = timedelta()  # how far the account's clock is ahead
    tunnel_change: timedelta = timedelta(seconds=1)  # how long a change of a VPN tunnel takes; in AWS it is minutes
    volume_change: timedelta = (
        timedelta()
    )  # how long a modification of a volume is in progress; in AWS it is minutes to hours
    reservations: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # (region, id)
    reserved: dict[str, str] = field(default_factory=dict)  # instance id -> reservation id
    offerings: dict[str, dict[str, Any]] = field(default_factory=dict)  # of Capacity Blocks
    members: dict[str, list[str]] = field(default_factory=dict)  # group's ARN -> its members' ARNs
    file_systems: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # FSx's, by (region, id)
    file_machines: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # FSx's, by (region, id)
    file_volumes: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # FSx's, by (region, id)
    file_links: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # to buckets, by (region, id)
    file_backups: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # FSx's, by (region, id)
    modified: dict[str, list[datetime]] = field(default_factory=dict)  # id of a volume -> its modifications
    grown: dict[str, datetime] = field(default_factory=dict)  # id of a file system, ARN of a database -> last growth
    image_builder: dict[str, dict[str, Any]] = field(default_factory=dict)  # pipelines and their components, by ARN
    built: dict[str, dict[str, Any]] = field(default_factory=dict)  # images that pipelines have created, by id
    activations: dict[str, dict[str, Any]] = field(default_factory=dict)  # Systems Manager's, by id
    anywhere: dict[str, dict[str, Any]] = field(default_factory=dict)  # trust anchors and profiles, by ARN
    costs: dict[str, dict[str, Any]] = field(default_factory=dict)  # anomaly monitors and subscriptions, by ARN
    budget_actions: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id
    budget_tags: dict[str, list[dict[str, str]]] = field(default_factory=dict)  # of budgets and actions, by ARN
    billed_tags: dict[str, str] = field(default_factory=dict)  # tag key that billing has seen -> Active or Inactive
    images: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id: differences from the table
    released: dict[str, int] = field(default_factory=dict)  # public parameter -> its newest version
    types: dict[str, dict[str, Any]] = field(default_factory=dict)  # instance type -> differences from moto's data
    offered: dict[str, list[str]] = field(default_factory=dict)  # instance type -> zone ids, instead of moto's
    without_zones: dict[str, list[str]] = field(default_factory=dict)  # endpoint service -> zone ids that lack it
    training: dict[tuple[str, str], dict[str, Any]] = field(
        default_factory=dict
    )  # jobs' descriptions, by (region, name)
    owners: dict[str, str] = field(default_factory=dict)  # VPC that another account shares -> that account
    closed: set[str] = field(default_factory=set)  # regions without opt-in
    spot: dict[str, float] = field(default_factory=dict)  # type/zone id or type/* -> price
    products: dict[str, float] = field(default_factory=dict)  # type/region -> on-demand USD/h of the price list
    savings_plans: dict[str, dict[str, float]] = field(default_factory=dict)  # type/region -> plan -> USD/h
    block_usd: dict[str, float] = field(default_factory=dict)  # instance type -> USD/h of its Capacity Blocks
    extra: dict[str, list[tuple[Any, str]]] = field(default_factory=dict)  # instance id -> additional (subnet, address)

    def reset(self) -> None:
        """Reset limits, faults, delays, counters and settings of tests; instances and resources stay."""
        with self.lock:
            self.latency, self.capacity, self.tokens = 0.0, CapacityPools(), ClientTokens()
            self.lag.reset()
            self.held.release()
            self.busy.reset()
            self.buckets.clear()
            self.faults.clear()
            self.calls.clear()
            self.errors.clear()
            self.notices.clear()
            self.rebalance.clear()
            self.statuses.clear()
            self.clock, self.tunnel_change, self.volume_change = timedelta(), timedelta(seconds=1), timedelta()
            settings = (
                self.iam_calls,
                self.denied,
                self.quotas,
                self.images,
                self.released,
                self.types,
                self.offered,
                self.owners,
                self.spot,
                self.products,
                self.savings_plans,
                self.block_usd,
                self.without_zones,
            )
            for collection in settings:
                collection.clear()

    def wipe(self) -> None:
        """Delete the resources that moto does not store."""
        with self.lock:
            self.addresses.forget()
            for collection in (
                self.placement_groups,
                self.reservations,
                self.reserved,
                self.offerings,
                self.members,
                self.extra,
                self.file_systems,
                self.file_machines,
                self.file_volumes,
                self.file_links,
                self.file_backups,
                self.grown,
                self.modified,
                self.image_builder,
                self.built,
                self.activations,
                self.anywhere,
                self.costs,
                self.budget_actions,
                self.budget_tags,
                self.billed_tags,
                self.training,
            ):
                collection.clear()

    def now(self) -> datetime:
        """Return the account's time."""
        return datetime.now(UTC) + self.clock

    def take_fault(self, action: str) -> InjectedFault | None:
        with self.lock:
            waiting = self.faults.get(action)
            if not waiting:
                return None
            fault = waiting[0]
            fault.times -= 1
            if fault.times <= 0:
                waiting.pop(0)
        return fault
