"""Rules about `onprem.costs`: inputs of the cost of owned nodes that contradict each other."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule

_COSTS: DataPath = ("onprem", "costs")
_NODES: DataPath = ("onprem", "nodes")
_MONTHS_PER_YEAR = 12


@rule
def cost_years(environment: Environment) -> Iterator[Finding]:
    """Years of use and of a debt are more than 0: a purchase is spread over them.

    Source: the formula of docs/explanation/economics.md.
    """
    if environment.onprem is None:
        return
    costs = environment.onprem.costs
    values: list[tuple[float | None, DataPath]] = [(costs.years, (*_COSTS, "years"))]
    values += [(settings.years, (*_COSTS, "nodes", name, "years")) for name, settings in costs.nodes.items()]
    if costs.financing is not None:
        values.append((costs.financing.years, (*_COSTS, "financing", "years")))
    for years, path in values:
        if years is not None and years <= 0:
            yield error(path, f"{years:g} years: the cost of an hour is not defined", fix="write the years, such as 3")


@rule
def cost_shares(environment: Environment) -> Iterator[Finding]:
    """Shares of a price are at most 1: they are fractions, not percentages, and a resale brings at most the price.

    Source: the formula of docs/explanation/economics.md.
    """
    if environment.onprem is None:
        return
    costs = environment.onprem.costs
    names = ("residual_share", "network_share", "maintenance_share")
    values: list[tuple[float | None, DataPath]] = [(getattr(costs, name), (*_COSTS, name)) for name in names]
    values += [
        (settings.residual_share, (*_COSTS, "nodes", name, "residual_share")) for name, settings in costs.nodes.items()
    ]
    if costs.financing is not None:
        values.append((costs.financing.rate, (*_COSTS, "financing", "rate")))
    for share, path in values:
        if share is not None and share > 1:
            fix = f"write a fraction: {share / 100:g} for {share:g} percent" if share <= 100 else "write a fraction"
            yield error(path, f"{path[-1]} is {share:g}, more than the whole price", fix=fix)


@rule
def cost_of_unknown_nodes(environment: Environment) -> Iterator[Finding]:
    """Costs of nodes are for a platform of the catalogue or for the hosts of a node group.

    Source: onprem.costs.nodes in docs/reference/environment.md.
    """
    if environment.onprem is None:
        return
    hosts = [group.hosts for group in environment.node_groups]
    used_platforms = [group.platform for group in environment.node_groups]
    for name in environment.onprem.costs.nodes:
        path: DataPath = (*_COSTS, "nodes", name)
        related = ((*_NODES, "*", "hosts"), (*_NODES, "*", "platform"))
        if name not in hosts and name not in platforms():
            message = f'"{name}" is neither a platform nor the hosts of a node group'
            yield error(path, message, fix=suggestion(name, [*hosts, *used_platforms]), related=related)
        elif name not in hosts and name not in used_platforms:
            yield warning(path, f"no node group has the platform {name}", fix="remove it", related=related)


@rule
def cost_of_power(environment: Environment) -> Iterator[Finding]:
    """Nodes without jobs need no more power than with jobs, and the room no less than its machines (PUE of 1).

    Source: ISO/IEC 30134-2, PUE is at least 1.
    """
    if environment.onprem is None:
        return
    costs = environment.onprem.costs
    if costs.power is not None and costs.power.pue < 1:
        path: DataPath = (*_COSTS, "power", "pue")
        yield error(path, f"a PUE of {costs.power.pue:g} is not possible", fix="write 1 or more")
    for name, settings in costs.nodes.items():
        facts = platforms().get(name) or next(
            (platforms().get(group.platform) for group in environment.node_groups if group.hosts == name), None
        )
        load = settings.load_kw if settings.load_kw is not None else facts.power_kw if facts is not None else None
        if settings.idle_kw is not None and load is not None and settings.idle_kw > load:
            message = f"{settings.idle_kw:g} kW without jobs are more than {load:g} kW with jobs"
            yield error((*_COSTS, "nodes", name, "idle_kw"), message, related=((*_NODES, "*", "platform"),))


@rule
def cost_of_financing(environment: Environment) -> Iterator[Finding]:
    """A debt has either a rate or a stated payment, and its payments repay the purchase within the years of use.

    Source: the formula of an annuity in docs/explanation/economics.md.
    """
    financing = environment.onprem.costs.financing if environment.onprem is not None else None
    if environment.onprem is None or financing is None:
        return
    costs, path = environment.onprem.costs, (*_COSTS, "financing")
    payment_path: DataPath = (*path, "payment_usd_month")
    if financing.rate is None and financing.payment_usd_month is None:
        yield error((*path, "rate"), "neither a rate nor a payment is stated", fix="write rate or payment_usd_month")
    if financing.payment_usd_month is not None and "rate" in financing.model_fields_set and financing.rate is not None:
        yield error(payment_path, "a payment is stated beside the rate", fix="write rate: null, or remove the payment")
    if financing.years is not None and financing.years > costs.years:
        message = f"the debt is repaid in {financing.years:g} years, after {costs.years:g} years of use"
        yield warning((*path, "years"), message, related=((*_COSTS, "years"),))
    if financing.payment_usd_month is None:
        return
    for group in owned_groups(environment):
        if group.inputs is not None and group.inputs.debt is not None:
            repaid = financing.payment_usd_month * group.inputs.debt.years * _MONTHS_PER_YEAR
            if 0 < repaid < group.inputs.price_usd:
                message = (
                    f"payments of {repaid:,.0f} USD do not repay a node of {group.hosts}: {group.inputs.price_usd:,.0f}"
                )
                yield error(payment_path, message, related=(_COSTS, (*_NODES, "*", "platform")))


@rule
def cost_of_checkpoints(environment: Environment) -> Iterator[Finding]:
    """A checkpoint is shorter than the time between checkpoints, and a job has at most all nodes of the site.

    Source: the formula of goodput in docs/explanation/economics.md.
    """
    if environment.onprem is None:
        return
    goodput, path = environment.onprem.costs.goodput, (*_COSTS, "goodput")
    length, every = goodput.checkpoint_minutes, goodput.checkpoint_every_minutes
    if length is not None and every is not None and length >= every:
        message = f"a checkpoint of {length:g} minutes every {every:g} minutes leaves no time for the job"
        yield error((*path, "checkpoint_every_minutes"), message, related=((*path, "checkpoint_minutes"),))
    nodes = sum(len(hostlist.expand(group.hosts)) for group in environment.node_groups)
    if goodput.job_nodes is not None and nodes and goodput.job_nodes > nodes:
        message = f"a job of {goodput.job_nodes} nodes is larger than the site with {nodes}"
        yield warning((*path, "job_nodes"), message, related=((*_NODES, "*", "hosts"),))
