"""A pool of GPU instances: everything that its launch template, placement group and security group say."""

import json
from typing import Literal

from landbridge import catalog
from landbridge.environment import (
    CapacityBlock,
    Environment,
    OnDemand,
    Pool,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.plan.args import Args, tags
from landbridge.plan.nics import nic_layout

MarketKind = Literal["on-demand", "spot", "capacity-block"]
SLURMD_PORT = 6818
#: Where `srun` on a login host listens for its tasks; slurm.conf's SrunPortRange says the same.
SRUN_PORTS = (60001, 63000)
#: What gp3 includes; the throughput is doubled, because the whole image is read at every boot.
ROOT_IOPS = 3000
ROOT_THROUGHPUT = 250


class Interface(Args):
    """One network interface of the launch template."""

    card: int
    device: int
    kind: Literal["interface", "efa", "efa-only"]


class Market(Args):
    """How the instances are bought, in the launch template's words."""

    kind: MarketKind
    max_price_usd: float | None = None
    reservation: str | None = None
    reservation_group: str | None = None
    preference: Literal["open"] | None = None


class Flow(Args):
    """A rule of the security group: who may reach whom, at which ports; `self` is the pool's own group."""

    key: str
    direction: Literal["in", "out"]
    peer: str
    protocol: str
    ports: tuple[int, int] | None
    why: str


class PoolArgs(Args):
    """A launch template and what it refers to."""

    cluster: str
    pool: str
    instance_type: str
    max_nodes: int
    image: str
    market: Market
    placement_groups: bool
    zones: tuple[str, ...]
    interfaces: tuple[Interface, ...]
    root_device: str
    root_volume_gib: int
    root_volume_iops: int = ROOT_IOPS
    root_volume_throughput: int = ROOT_THROUGHPUT
    flows: tuple[Flow, ...]
    node_config: dict[str, str | None]
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """The name of everything of this pool in AWS."""
        return f"{self.cluster}-{self.pool}"

    def placement_group(self, zone: str) -> str:
        """A cluster placement group lives in one zone, so each zone has its own."""
        return self.name if len(self.zones) == 1 else f"{self.name}-{zone}"

    def user_data(self) -> str:
        """What a node reads at boot (cloud-init's format, in JSON, which is YAML): where its cluster is, nothing secret."""
        content = json.dumps(self.node_config, sort_keys=True)
        written = {"path": "/etc/landbridge/node.json", "permissions": "0644", "content": content}
        return "#cloud-config\n" + json.dumps({"write_files": [written]}, sort_keys=True) + "\n"


def pool_args(environment: Environment, pool: Pool) -> PoolArgs:
    """Plan one pool."""
    market = pool_market(pool)
    layout = nic_layout(pool.instance, pool.nics)
    return PoolArgs(
        cluster=environment.name,
        pool=pool.name,
        instance_type=pool.instance,
        max_nodes=pool.max_nodes,
        image=pool.image or f"resolve:ssm:/landbridge/{environment.name}/node-image",
        market=market,
        # A reservation has its own placement; asking for another group makes AWS refuse what is reserved.
        placement_groups=market.reservation is None and market.reservation_group is None,
        zones=pool_zones(pool, environment.region),
        interfaces=tuple(Interface(card=nic.network_card, device=nic.device, kind=nic.type) for nic in layout),
        root_device=pool.root_device,
        root_volume_gib=pool.root_volume_gib,
        flows=pool_flows(environment),
        node_config={
            "cluster": environment.name,
            "region": environment.region,
            "pool": pool.name,
            "slurm_key_secret": f"{environment.name}/slurm-key",
            "endpoint": environment.aws.endpoints.cloud,
        },
        tags=tags(environment, pool=pool.name),
    )


def pool_zones(pool: Pool, region: str) -> tuple[str, ...]:
    """Return the zones a pool may use, each once, in the order in which the file names them."""
    offered = catalog.instances()[pool.instance].zones_in(catalog.zones(region))
    named = (capacity_zones(capacity) or offered for capacity in pool.capacity)
    return tuple(dict.fromkeys(zone for zones in named for zone in zones))


def pool_market(pool: Pool) -> Market:
    """Return how the pool's first capacity is bought; the burst controller chooses among the others at launch."""
    match pool.capacity[0]:
        case OnDemand():
            return Market(kind="on-demand")
        case Spot(max_price_usd=price):
            return Market(kind="spot", max_price_usd=price)
        case Reservation(reservation=reservation, match="targeted"):
            return Market(kind="on-demand", reservation=reservation)
        case Reservation(reservation=reservation):
            return Market(kind="on-demand", reservation=reservation, preference="open")
        case ReservationGroup(group=group):
            return Market(kind="on-demand", reservation_group=group)
        case CapacityBlock(reservation=reservation):
            return Market(kind="capacity-block", reservation=reservation)


def pool_flows(environment: Environment) -> tuple[Flow, ...]:
    """Return what the pool's security group lets through; everything else is refused, both ways."""
    onprem = str(environment.onprem.cidr)

    def flow(
        key: str, direction: Literal["in", "out"], peer: str, protocol: str, ports: tuple[int, int] | None, why: str
    ) -> Flow:
        return Flow(key=key, direction=direction, peer=peer, protocol=protocol, ports=ports, why=why)

    slurmd = (SLURMD_PORT, SLURMD_PORT)
    return (
        flow("self-in", "in", "self", "-1", None, "EFA and MPI between the pool's nodes"),
        flow("self-out", "out", "self", "-1", None, "EFA refuses to start without a rule to its own group"),
        flow("slurmd", "in", onprem, "tcp", slurmd, "slurmctld and on-prem steps reach slurmd"),
        flow("ssh", "in", onprem, "tcp", (22, 22), "operators, through the link only"),
        flow("srun", "in", onprem, "tcp", SRUN_PORTS, "srun and its tasks"),
        flow("icmp", "in", onprem, "icmp", (-1, -1), "path MTU discovery, and netcheck"),
        flow("onprem", "out", onprem, "-1", None, "the controller, storage, MLflow and name service on-prem"),
        flow("https", "out", "0.0.0.0/0", "tcp", (443, 443), "AWS's own services: S3, KMS, Secrets Manager"),
    )
