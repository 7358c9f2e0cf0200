"""Owned nodes beside the instances that have the same GPUs, with equal groups taken together."""

from dataclasses import dataclass

from landbridge.economics.cloud_rates import CloudRate, current_rates, instance_for
from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH
from landbridge.plan.cost.owned_inputs import OwnedGroup, owned_groups
from landbridge.plan.cost.owned_node import NodeInputs, onprem_node_hour


@dataclass(frozen=True, slots=True)
class Comparison:
    """Equal owned nodes, and the current prices of renting the GPUs of one of them.

    `group` is the first of the groups, `nodes` the number in all of them. `instance` is None if no instance type has
    these GPUs; `rates` is empty if no price is known.
    """

    hosts: tuple[str, ...]
    group: OwnedGroup
    inputs: NodeInputs
    nodes: int
    instance: str | None
    rates: tuple[CloudRate, ...]

    @property
    def gpus(self) -> int:
        """GPUs of one node."""
        return self.group.gpus


@dataclass(frozen=True, slots=True)
class OptionCost:
    """Cost of the used GPU-hours of all nodes with one option, in USD. `rate` is None for owned nodes."""

    name: str
    rate: CloudRate | None
    usd: float
    usd_used_gpu_hour: float
    usd_finished_gpu_hour: float | None


def comparisons(environment: Environment, instance: str | None = None) -> tuple[Comparison, ...]:
    """Return a comparison for each set of equal groups with a price, with `instance` instead of the matching type."""
    merged: dict[tuple[str, NodeInputs], list[OwnedGroup]] = {}
    for group in owned_groups(environment):
        if group.inputs is not None and group.gpus:
            merged.setdefault((group.platform, group.inputs), []).append(group)
    result: list[Comparison] = []
    for (_, inputs), groups in merged.items():
        chosen = instance or instance_for(environment, groups[0])
        rates = current_rates(chosen, environment.region, groups[0].gpus) if chosen else ()
        hosts, nodes = tuple(group.hosts for group in groups), sum(group.nodes for group in groups)
        result.append(Comparison(hosts, groups[0], inputs, nodes, chosen, rates))
    return tuple(result)


def option_costs(comparison: Comparison, months: float, utilisation: float, goodput: float) -> tuple[OptionCost, ...]:
    """Return the cost of owning, and of renting for the used hours with each purchase option.

    Rented GPUs lose the same share of their time to failures. A Capacity Block is billed whole: its cost is that of
    blocks that are used for all their hours.
    """
    hours = HOURS_PER_MONTH * months
    used = comparison.nodes * comparison.gpus * hours * utilisation
    owned = onprem_node_hour(comparison.inputs, utilisation).usd * comparison.nodes * hours
    options: list[tuple[str, CloudRate | None, float]] = [("owned", None, owned)]
    options += [(rate.name, rate, rate.usd_hour * comparison.nodes * hours * utilisation) for rate in comparison.rates]
    return tuple(
        OptionCost(name, rate, usd, usd / used, usd / used / goodput if goodput else None)
        for name, rate, usd in options
    )
