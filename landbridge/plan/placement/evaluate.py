"""Decision where a job runs: hard filters first, then marginal cost. No clock, no network."""

from collections.abc import Sequence
from dataclasses import dataclass

from landbridge.catalog.regimes import obligations
from landbridge.environment import Environment
from landbridge.plan.placement.costs import DestinationCost, destination_cost
from landbridge.plan.placement.destinations import Destination, destinations_of
from landbridge.plan.placement.filters import refusals, workload
from landbridge.plan.placement.job import PlacementJob, SiteState
from landbridge.plan.placement.refusal import DestinationRefusal
from landbridge.plan.placement.residency import obligations_at
from landbridge.plan.placement.timing import Timing, timing


@dataclass(frozen=True, slots=True)
class RankedDestination:
    """Destination where the job may run, with its times, cost, and the obligations of its data there."""

    destination: Destination
    timing: Timing
    cost: DestinationCost
    obligations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RejectedDestination:
    """Destination where the job may not run, with every reason."""

    destination: Destination
    refusals: tuple[DestinationRefusal, ...]


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """Decision: destinations where the job may run, the cheapest first, and the others. `staffing`: the note of the
    job's class; empty without one."""

    workload: str
    ranked: tuple[RankedDestination, ...]
    rejected: tuple[RejectedDestination, ...]
    staffing: str = ""


def place_job(
    environment: Environment, job: PlacementJob, state: SiteState, destinations: Sequence[Destination] | None = None
) -> PlacementDecision:
    """Return the decision about a job. `destinations`: those of the environment, if they are computed already.

    A destination whose cost is not known is ranked after the others. Of equal costs, the earlier start is better, then the
    order of destinations: the site first.
    """
    ranked, rejected = [], []
    for destination in destinations_of(environment) if destinations is None else destinations:
        times = timing(environment, job, destination, state)
        reasons = tuple(refusals(environment, job, destination, times, state.left_usd))
        if reasons:
            rejected.append(RejectedDestination(destination, reasons))
            continue
        duties = tuple(
            obligations()[word] for word in obligations_at(environment, job, destination.site, destination.region)
        )
        ranked.append(
            RankedDestination(destination, times, destination_cost(environment, job, destination, times), duties)
        )
    ranked.sort(key=_order)
    name = workload(environment, job)
    settings = environment.placement.classes.settings_of(name)
    staffing = (settings.staffing if settings is not None else None) or ""
    return PlacementDecision(name, tuple(ranked), tuple(rejected), staffing)


def _order(ranked: RankedDestination) -> tuple[bool, float, float]:
    usd = ranked.cost.usd
    return usd is None, round(usd or 0.0, 6), ranked.timing.start_hours
