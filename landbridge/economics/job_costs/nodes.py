"""Nodes of an environment with their rates and their power: the groups of the site, and the pools in AWS."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from landbridge.catalog import Accelerators, instances, platforms
from landbridge.catalog.carbon import carbon
from landbridge.economics.job_costs.money import exact
from landbridge.environment import Environment, PoolSettings
from landbridge.environment.base import Site
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour
from landbridge.plan.instances.rates import purchase_words
from landbridge.plan.slurm.nodes import Nodes, cloud_nodes, onprem_nodes


@dataclass(frozen=True, slots=True)
class NodeRate:
    """Cost of a node for an hour in USD, without jobs and with all its GPUs in use."""

    idle: Fraction
    load: Fraction


@dataclass(frozen=True, slots=True)
class RatedNodes:
    """Equal nodes with the rate of one of them, and its power.

    `units` is what jobs have shares of: the GPUs of a node, or its CPUs if it has none. `cpus`: those that jobs can have. The rate is None for nodes in
    AWS, whose cost is in the journal, and for owned nodes without a price (`missing` is the reason). The power in kW
    includes the PUE of the room; None if it is not known.
    """

    resource: str
    names: tuple[str, ...]
    site: Site
    instrument: str
    units: int
    has_gpus: bool
    rate: NodeRate | None = None
    idle_kw: Fraction | None = None
    load_kw: Fraction | None = None
    pue: Fraction = Fraction(1)
    missing: str = ""
    cpus: int = 0

    def units_of(self, gpus: int, cpus: int) -> int:
        """Return a job's units by its GPUs and CPUs."""
        return gpus if self.has_gpus else cpus


def rated_nodes(environment: Environment) -> tuple[RatedNodes, ...]:
    """Return the groups of owned nodes, and then the pools, in the file's order."""
    return (*_owned(environment), *_pools(environment))


def _owned(environment: Environment) -> Iterator[RatedNodes]:
    for nodes, group in zip(onprem_nodes(environment), owned_groups(environment), strict=True):
        common = (group.hosts, nodes.names, "onprem", "owned", _units(nodes), nodes.gpu_count > 0)
        inputs = group.inputs
        if inputs is None:
            yield RatedNodes(*common, missing=group.missing or "", cpus=_job_cpus(nodes))  # type: ignore[arg-type]
            continue
        idle, load = (exact(onprem_node_hour(inputs, utilisation).usd) for utilisation in (0.0, 1.0))
        has_power = inputs.load_kw > 0
        yield RatedNodes(
            *common,  # type: ignore[arg-type]
            rate=NodeRate(idle, load),
            idle_kw=exact(inputs.idle_kw) * exact(inputs.pue) if has_power else None,
            load_kw=exact(inputs.load_kw) * exact(inputs.pue) if has_power else None,
            pue=exact(inputs.pue),
            cpus=_job_cpus(nodes),
        )


def _pools(environment: Environment) -> Iterator[RatedNodes]:
    for nodes, pool in zip(cloud_nodes(environment), environment.aws.pools, strict=True):
        accelerators = instances()[pool.instance].accelerators
        power = _power_kw(accelerators) if accelerators is not None else None
        pue = exact(carbon().aws_pue.pue)
        kilowatts = None if power is None else exact(power) * pue
        yield RatedNodes(
            resource=pool.name,
            names=nodes.names,
            site="aws",
            instrument=_instrument(pool),
            units=_units(nodes),
            has_gpus=nodes.gpu_count > 0,
            idle_kw=kilowatts,
            load_kw=kilowatts,
            pue=pue,
            cpus=_job_cpus(nodes),
        )


def _units(nodes: Nodes) -> int:
    return max(1, nodes.gpu_count or nodes.cpus)


def _job_cpus(nodes: Nodes) -> int:
    return nodes.cpus - nodes.reserved_cores * nodes.threads_per_core


def _instrument(pool: PoolSettings) -> str:
    """Return the purchase options of a pool: the journal does not record which of them an instance had."""
    return " or ".join(dict.fromkeys(purchase_words(capacity.kind) for capacity in pool.capacity))


def _power_kw(accelerators: Accelerators) -> float | None:
    """Return the power in kW, from the power of the site's platforms with the same GPUs: AWS publishes none of its
    instances.
    """
    same = [
        facts.power_kw * accelerators.count / facts.gpus.count
        for facts in platforms().values()
        if facts.gpus.type == accelerators.type and facts.power_kw is not None
    ]
    return max(same, default=None)
