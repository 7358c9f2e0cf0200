"""Total cost of ownership of a site's nodes over months, and per GPU-hour offered, used and finished."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from landbridge.economics.goodput import Losses, losses
from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH
from landbridge.plan.cost.owned_inputs import OwnedGroup, owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour


@dataclass(frozen=True, slots=True)
class TcoPart:
    """Part of a total in USD: a term of one node group, or an expense of the site (`hosts` is None)."""

    term: str
    hosts: str | None
    usd: float


@dataclass(frozen=True, slots=True)
class PartSource:
    """Source of the input of a term, for one or more node groups."""

    term: str
    as_of: date | None
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Tco:
    """Total cost of ownership over `months` at `utilisation`, the share of hours in which nodes have jobs.

    `unpriced` are the groups without a price; their GPU-hours are not counted.
    """

    months: float
    utilisation: float
    gpus: int
    parts: tuple[TcoPart, ...]
    losses: Losses
    unpriced: tuple[OwnedGroup, ...]
    sources: tuple[PartSource, ...]

    @property
    def usd(self) -> float:
        """Sum of the parts."""
        return sum(part.usd for part in self.parts)

    @property
    def offered_gpu_hours(self) -> float:
        """GPU-hours of all nodes with a price, used or idle."""
        return self.gpus * HOURS_PER_MONTH * self.months

    @property
    def used_gpu_hours(self) -> float:
        """GPU-hours in which a job had the GPU."""
        return self.offered_gpu_hours * self.utilisation

    @property
    def finished_gpu_hours(self) -> float:
        """Used GPU-hours less checkpoints, work computed again, and restarts."""
        return self.used_gpu_hours * self.losses.goodput

    @property
    def goodput_expense(self) -> float:
        """Cost of the used GPU-hours that were not finished, in USD; contained in the total."""
        return self.usd * (1 - self.losses.goodput)

    def by_term(self) -> dict[str, float]:
        """Return the total by term over all groups, in USD."""
        sums: dict[str, float] = {}
        for part in self.parts:
            sums[part.term] = sums.get(part.term, 0.0) + part.usd
        return sums


def tco(environment: Environment, months: float, utilisation: float) -> Tco:
    """Return the total cost of ownership of the site's nodes.

    Nodes are written off over their years of use, also beyond `months`. `setup` is paid once, `debugging` each month:
    two of the expenses besides the price that SemiAnalysis names ("How Much Do GPU Clusters Really Cost", 2026-04-20);
    the third, goodput, is in the finished GPU-hours.
    """
    groups = owned_groups(environment)
    settings = environment.onprem.costs.goodput if environment.onprem is not None else None
    parts = list(group_parts(groups, months, utilisation))
    if settings is not None and settings.setup_usd is not None:
        parts.append(TcoPart("setup", None, settings.setup_usd))
    if settings is not None and settings.debugging_usd_month is not None:
        parts.append(TcoPart("debugging", None, settings.debugging_usd_month * months))
    return Tco(
        months=months,
        utilisation=utilisation,
        gpus=sum(group.nodes * group.gpus for group in groups if group.inputs is not None),
        parts=tuple(parts),
        losses=losses(settings) if settings is not None else Losses(0.0, 0.0, 0.0, None, None),
        unpriced=tuple(group for group in groups if group.inputs is None),
        sources=tuple(dict.fromkeys(_sources(groups))),
    )


def group_parts(groups: Iterable[OwnedGroup], months: float, utilisation: float) -> Iterable[TcoPart]:
    """Yield the terms of each group with a price over `months`."""
    for group in groups:
        if group.inputs is not None:
            hour = onprem_node_hour(group.inputs, utilisation)
            for term, usd in hour.terms.items():
                yield TcoPart(term, group.hosts, usd * group.nodes * HOURS_PER_MONTH * months)


def _sources(groups: Iterable[OwnedGroup]) -> Iterable[PartSource]:
    for group in groups:
        if group.inputs is not None:
            for term in onprem_node_hour(group.inputs).terms:
                source = group.sources[term]
                yield PartSource(term, source.as_of, source.source, source.confidence)
