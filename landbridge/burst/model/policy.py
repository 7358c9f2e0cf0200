"""Policy of the burst controller: /etc/landbridge/burst.json as values (config.py reads it)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.burst.model.ec2_view import Market
from landbridge.burst.model.errors import facts


@dataclass(frozen=True, slots=True)
class LaunchInterface:
    """Network interface of a launch. Each has the subnet: with interfaces EC2 accepts no subnet of the instance or of
    its launch template."""

    card: int
    device: int
    kind: str  # interface, efa, efa-only


@dataclass(frozen=True, slots=True)
class Offering:
    """Capacity of one kind: instance type, subnet and market. A pool's offerings are tried in their order."""

    key: str  # type/zone/market[/reservation]: insufficient capacity is remembered by this
    kind: str  # capacity_block, reservation, reservation_group, on_demand, spot
    instance_type: str
    subnet: str
    zone: str
    market: Market
    launch_template_id: str
    launch_template_version: str
    placement_group: str | None = None
    reservation: str | None = None
    reservation_group: str | None = None
    usd_hour: float | None = None  # None: unknown
    max_price_usd: float | None = None  # spot
    opens: float | None = None  # of a Capacity Block: first time of a launch
    closes: float | None = None  # no job on its nodes may run at this time or later
    size: int | None = None  # instances in a reservation
    interfaces: tuple[LaunchInterface, ...] = ()  # of every instance, primary first; empty: the launch has the subnet
    security_groups: tuple[str, ...] = ()  # on every interface
    public_ip: bool = False  # of the primary interface
    core_count: int | None = None  # with threads_per_core: CPU options; None: those of the instance type
    threads_per_core: int | None = None
    region: str = ""  # AWS region; empty: the policy's own
    gpus: int | None = None  # of an instance; None: not known
    topology: bool = False  # whether EC2 reports the network nodes of instances of the type (DescribeInstanceTopology)


@dataclass(frozen=True, slots=True)
class PoolPolicy:
    """Pool of equal nodes with the names `<node_prefix><number>`."""

    name: str
    node_prefix: str
    max_nodes: int
    offerings: tuple[Offering, ...]
    resume_timeout: float = 1200.0
    boot_seconds: float = 600.0  # paid for before a job starts
    min_nodes: int = 0

    def owns(self, node: str) -> bool:
        number = node.removeprefix(self.node_prefix)
        return node.startswith(self.node_prefix) and number.isdigit() and 1 <= int(number) <= self.max_nodes


@dataclass(frozen=True, slots=True)
class AccountPolicy:
    """Slurm account: the data class of its jobs and their budget. `aws`: whether that data may be in AWS; `regions`:
    the permitted regions besides the policy's own."""

    name: str
    data_class: str
    aws: bool
    monthly_usd: float | None = None
    hard: bool = False
    regions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromotionPolicy:
    """Promotion rule: jobs of `partition` that would wait longer than `wait_seconds` on-prem may also use `partitions`."""

    partition: str
    partitions: tuple[str, ...]
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class StagingPolicy:
    """Staging of the data that jobs state: the folder of the exchange with the mover, and the sites (onprem, aws) at which
    each partition starts jobs."""

    exchange: str
    partitions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BurstPolicy:
    """Policy: pools, accounts, budgets and times. A job whose account is not in `accounts` is refused (default deny)."""

    cluster: str
    region: str
    pools: Mapping[str, PoolPolicy]
    accounts: Mapping[str, AccountPolicy]
    cost_center: str = ""
    operators: frozenset[str] = frozenset({"root"})  # accounts whose jobs are the operators' own tests
    monthly_usd: float | None = None  # of the whole cluster
    hard: bool = False
    pool_monthly_usd: Mapping[str, float] = field(default_factory=dict)
    unpriced: bool = False  # whether an offering without a known price may be used under a hard budget
    lease_minutes: float = 30.0  # of a node without a job; renewed while Slurm keeps it
    grace_minutes: float = 15.0  # from a job's time limit to the end of its nodes' lease
    orphan_seconds: float = 300.0  # age at which an instance without node or a node without instance is collected
    settle_seconds: float = 120.0  # time in which DescribeInstances may not show a launched instance
    insufficient_capacity_seconds: tuple[float, float] = (120.0, 1800.0)
    breaker_seconds: float = 600.0  # until one probe; an operator can reset it earlier
    impaired_seconds: float = 300.0  # for which a status check of EC2 fails until its node is replaced
    event_margin_seconds: float = 900.0  # before a scheduled event, when jobs that may be requeued leave the node
    launch_batch: int = 500  # instances in one call
    launch_bucket: int = field(
        default_factory=lambda: int(facts()["launches"]["bucket"])
    )  # instances at once, by region
    launch_per_second: float = field(default_factory=lambda: float(facts()["launches"]["per_second"]))  # its refill
    promotions: tuple[PromotionPolicy, ...] = ()
    staging: StagingPolicy | None = None  # None: what jobs state about data has no effect

    @property
    def regions(self) -> tuple[str, ...]:
        """Return the regions of nodes: the policy's own, then the regions of its offerings."""
        offerings = (offering for pool in self.pools.values() for offering in pool.offerings)
        return tuple(dict.fromkeys((self.region, *(offering.region or self.region for offering in offerings))))

    def pool_of(self, node: str) -> PoolPolicy | None:
        """Return the pool of `node`; None if it belongs to no pool of the policy."""
        return next((pool for pool in self.pools.values() if pool.owns(node)), None)
