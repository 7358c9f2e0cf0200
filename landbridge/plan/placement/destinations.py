"""Places of an environment: each kind of its on-prem nodes, and each capacity of its pools in each region."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog import Accelerators, instances, onprem_costs, platforms
from landbridge.environment import Costs, Environment, NodeGroup, PoolSettings
from landbridge.environment.base import Site
from landbridge.plan.cost.owned_inputs import node_costs
from landbridge.plan.instances.capacity import boot_seconds, fallbacks, kept_nodes
from landbridge.plan.instances.rates import instance_rate
from landbridge.plan.other_regions import other_regions
from landbridge.plan.slurm.jobs.promotions import promotions
from landbridge.plan.slurm.nodes import Nodes, cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import partition_members

#: Purchase options that are paid whether they are used or not: a job there adds no cost of instances.
#: Source: EC2 User Guide, "Capacity Blocks for ML" (paid upfront) and "On-Demand Capacity Reservation pricing".
PREPAID = frozenset({"capacity_block", "reservation", "reservation_group"})


#: Purchase option of SageMaker's training jobs: billed by the second, without a pool and without nodes of Slurm.
SAGEMAKER = "sagemaker"


@dataclass(frozen=True, slots=True)
class Destination:
    """Destination: equal nodes of one purchase option at one site. `region` and `pool` are empty on-prem.

    `usd_hour` is the marginal cost of one node for an hour: energy on-prem, the instance's rate in AWS, 0 if it is paid
    in advance; None if it is not known. `partitions` are those of Slurm that reach its nodes; SageMaker has none, and its nodes are as
    many as AWS's quota permits.
    """

    name: str
    site: Site
    region: str
    pool: str
    instrument: str
    gpu: str
    gpu_memory_mib: int | None
    node_gpus: int
    nodes: int
    usd_hour: float | None
    basis: str
    boot_hours: float
    partitions: frozenset[str]

    @property
    def gpus(self) -> int:
        """Return the GPUs of all nodes."""
        return self.node_gpus * self.nodes


def destinations_of(environment: Environment) -> tuple[Destination, ...]:
    """Return the destinations with GPUs: the site first, then the pools' capacities in the order of their launches."""
    nodes = (*onprem_nodes(environment), *cloud_nodes(environment))
    members = partition_members(environment, nodes)
    promoted = {name: names for name, names, _ in promotions(environment)}
    return (*_onprem(environment, members), *_cloud(environment, nodes, members, promoted))


def _energy(environment: Environment, group: NodeGroup) -> tuple[float | None, str]:
    """Return the cost of the electricity of a node with jobs for an hour in USD, and its basis; None if it is not known."""
    costs = environment.onprem.costs if environment.onprem is not None else Costs()
    if costs.power is None:
        return 0.0, "electricity is not counted (onprem.costs.power)"
    stated = node_costs(costs, group).load_kw
    power_kw = stated if stated is not None else platforms()[group.platform].power_kw
    if power_kw is None:
        return None, f"no power known for {group.platform}"
    words = f"{power_kw:g} kW x PUE {costs.power.pue:g} x {costs.power.usd_kwh:g} USD a kWh"
    usd = power_kw * costs.power.pue * costs.power.usd_kwh
    return usd, f"energy of a {group.platform}: {words}, {onprem_costs().date}"


def _onprem(environment: Environment, members: dict[str, frozenset[str]]) -> Iterator[Destination]:
    by_platform: dict[str, list[Nodes]] = {}
    first_groups: dict[str, NodeGroup] = {}
    for group, nodes in zip(environment.node_groups, onprem_nodes(environment), strict=True):
        # A job of whole GPUs does not fit on MIG instances.
        if nodes.gpu_count and not nodes.parts:
            by_platform.setdefault(group.platform, []).append(nodes)
            first_groups.setdefault(group.platform, group)
    for platform, groups in by_platform.items():
        accelerators = groups[0].accelerators
        assert accelerators is not None  # it has GPUs
        names = frozenset(name for group in groups for name in group.names)
        usd, basis = _energy(environment, first_groups[platform])
        yield Destination(
            name=f"on-prem {platform}",
            site="onprem",
            region="",
            pool="",
            instrument="owned",
            gpu=accelerators.type,
            gpu_memory_mib=accelerators.memory_mib,
            node_gpus=accelerators.count,
            nodes=len(names),
            usd_hour=usd,
            basis=basis,
            boot_hours=0.0,
            partitions=_reaching(members, names),
        )


def _cloud(
    environment: Environment,
    nodes: tuple[Nodes, ...],
    members: dict[str, frozenset[str]],
    promoted: dict[str, tuple[str, ...]],
) -> Iterator[Destination]:
    names = {group.switch: frozenset(group.names) for group in nodes if group.site == "aws"}
    for region, region_environment in {environment.region: environment, **other_regions(environment)}.items():
        for pool in region_environment.aws.pools:
            partitions = _reaching(members, names.get(f"aws-{pool.name}", frozenset()))
            partitions |= {partition for partition, others in promoted.items() if partitions & set(others)}
            yield from _capacities(region_environment, pool, region, partitions)


def _capacities(
    environment: Environment, pool: PoolSettings, region: str, partitions: frozenset[str]
) -> Iterator[Destination]:
    for terms in fallbacks(pool, region):
        instance = instances().get(terms.instance)
        accelerators: Accelerators | None = instance.accelerators if instance is not None else None
        if accelerators is None or accelerators.kind != "gpu":
            continue
        rate = instance_rate(terms, region)
        usd = rate.high if rate is not None else environment.burst.prices.get(terms.instance)
        basis = (
            f"{terms.instance} {rate.how}, {rate.high:,.2f} USD an hour, {rate.as_of}"
            if rate is not None
            else f"{terms.instance}, {usd:,.2f} USD an hour, burst.prices"
            if usd is not None
            else f"no price of {terms.instance} ({terms.kind}) known in {region}"
        )
        if terms.kind in PREPAID:
            usd, basis = 0.0, f"{terms.instance}, {terms.kind.replace('_', ' ')}: paid whether it is used or not"
        yield Destination(
            name=f"{pool.name} {terms.kind} {region}",
            site="aws",
            region=region,
            pool=pool.name,
            instrument=terms.kind,
            gpu=accelerators.type,
            gpu_memory_mib=accelerators.memory_mib,
            node_gpus=accelerators.count,
            nodes=pool.max_nodes if terms.size is None else min(pool.max_nodes, terms.size),
            usd_hour=usd,
            basis=basis,
            boot_hours=0.0 if kept_nodes(pool, region) >= pool.max_nodes else boot_seconds(pool) / 3600,
            partitions=partitions,
        )


def _reaching(members: dict[str, frozenset[str]], names: frozenset[str]) -> frozenset[str]:
    """Return the partitions that have at least one of these nodes."""
    return frozenset(partition for partition, nodes in members.items() if nodes & names)
