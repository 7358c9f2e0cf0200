"""Lines of the bill for the nodes that the organisation owns, one for each group and term."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH, BillItem, SpendLine, Unpriced
from landbridge.plan.cost.owned_inputs import OwnedGroup, owned_groups
from landbridge.plan.cost.owned_node import NodeInputs, onprem_node_hour


def owned_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the lines of the owned nodes. All costs are fixed except the power that jobs add.

    The residual value is subtracted from the purchase, so that no line is negative.
    """
    for group in owned_groups(environment):
        if group.inputs is None:
            description = f"{group.hosts}, owned"
            yield Unpriced(description, None, None, group.missing or "", hosts=group.hosts)
        else:
            yield from _lines(group, group.inputs)


def _lines(group: OwnedGroup, inputs: NodeInputs) -> Iterator[SpendLine]:
    busy, idle = (dict(onprem_node_hour(inputs, utilisation).terms) for utilisation in (1.0, 0.0))
    # Without a purchase the residual value is a line of its own.
    residual = busy.pop("residual", 0.0) if "purchase" in busy else 0.0
    for term, usd in busy.items():
        less_residual = residual if term == "purchase" else 0.0
        usd_hour = group.nodes * (usd + less_residual)
        fixed_hour = group.nodes * (idle[term] + less_residual)
        if usd_hour == 0:
            continue
        source = group.sources[term]
        yield SpendLine(
            description=f"{group.hosts}, {term}",
            pool=None,
            data_class=None,
            usd_hour=usd_hour,
            usd_month=usd_hour * HOURS_PER_MONTH,
            fixed_hour=fixed_hour,
            fixed_month=fixed_hour * HOURS_PER_MONTH,
            as_of=source.as_of,
            source=source.source,
            confidence=source.confidence,
            note=f"{group.nodes} x {group.platform}{', less the residual value' if less_residual else ''}",
        )
