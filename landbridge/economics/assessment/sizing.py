"""Sizing: the number of owned nodes that costs least, within the conditions of data, power and capital."""

import math
from dataclasses import dataclass

from landbridge.catalog import platforms
from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.demand import GpuDemand, demand_of
from landbridge.economics.assessment.rates import AssessmentRates
from landbridge.economics.assessment.residency import Residency

#: Smallest saving that counts, in USD an hour.
_CENT = 0.01


@dataclass(frozen=True, slots=True)
class Sizing:
    """Owned nodes and their reasons.

    `existing` nodes are there already, `new` ones are to be bought: at least `forced` in all, for data that must be
    on-prem; `economic` without limits; at most `power_limit` and `capital_limit`. GPU figures are means over all hours.
    """

    existing: int
    existing_gpus: int
    new: int
    forced: int
    economic: int
    power_limit: int | None
    capital_limit: int | None
    node_gpus: int
    mean_gpus: float
    peak_gpus: float
    owned_mean_gpus: float
    spot_share: float

    @property
    def nodes(self) -> int:
        """Return all owned nodes."""
        return self.existing + self.new

    @property
    def gpus(self) -> int:
        """Return the GPUs of all owned nodes."""
        return self.existing_gpus + self.new * self.node_gpus

    @property
    def owned_share(self) -> float:
        """Return the share of the GPU hours that owned nodes do, 0 to 1."""
        return self.owned_mean_gpus / self.mean_gpus if self.mean_gpus else 0.0

    @property
    def use(self) -> float:
        """Return the share of the owned GPUs that is in use, averaged over all hours."""
        return self.owned_mean_gpus / self.gpus if self.gpus else 0.0

    @property
    def cloud_peak_gpus(self) -> float:
        """Return the GPUs in AWS at the peak."""
        return max(0.0, self.peak_gpus - self.gpus)


def size(answers: Answers, residency: Residency, rates: AssessmentRates, scale: float = 1.0) -> Sizing:
    """Return the owned nodes for the demand of the answers times `scale`."""
    gpus = rates.node_gpus
    whole = demand_of(answers, scale=scale)
    spot_share = _spot_share(answers, residency, rates)
    ownable_share = 1.0 - max(spot_share, 0.0) - residency.cloud_share
    ownable = demand_of(answers, ownable_share, scale) if ownable_share > 1e-9 else None
    machines = answers.constraints.machines
    existing = sum(machine.nodes for machine in machines)
    existing_gpus = sum(machine.nodes * platforms()[machine.platform].gpus.count for machine in machines)
    peak = answers.utilisation.peak_gpus * scale
    forced_peak = residency.onprem_share * peak
    forced = _ceil(max(0.0, forced_peak - existing_gpus) / gpus)
    if residency.onprem_share or any(sites == ("onprem",) for sites in residency.sites.values()):
        forced = max(forced, 1 if existing == 0 else 0)
    may_own = "onprem" in answers.constraints.sites and ownable is not None and residency.cloud_share < 1
    if may_own and not any("onprem" in sites for sites in residency.sites.values()):
        may_own = False
    economic = _cheapest(ownable, rates, existing, existing_gpus) if may_own and ownable is not None else 0
    power_limit = _power_limit(answers, rates, existing)
    capital_limit = _capital_limit(answers, rates)
    limits = [limit for limit in (power_limit, capital_limit) if limit is not None]
    new = max(forced, min([economic, *limits])) if may_own or forced else 0
    used = ownable.up_to(existing_gpus + new * gpus) if ownable is not None else 0.0
    return Sizing(
        existing,
        existing_gpus,
        new,
        forced,
        economic,
        power_limit,
        capital_limit,
        gpus,
        whole.up_to(whole.peak),
        peak,
        used,
        spot_share,
    )


def entry_scale(answers: Answers, residency: Residency, rates: AssessmentRates, nodes: int) -> float | None:
    """Return the least factor of the demand at which `nodes` new nodes are worth owning; None if no factor up to the
    threshold of the rule far-trigger gives them.

    The number does not decrease when the demand grows, so it is found by bisection.
    """
    low, high = 0.0, assessment_facts().threshold("far-trigger")
    if nodes_at(answers, residency, rates, high) < nodes:
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if nodes_at(answers, residency, rates, middle) >= nodes else (middle, high)
    return high


def nodes_at(answers: Answers, residency: Residency, rates: AssessmentRates, scale: float) -> int:
    """Return the new nodes that are worth owning at the demand times `scale`, whatever power and capital permit."""
    return size(answers, residency, rates, scale).economic


def _cheapest(demand: GpuDemand, rates: AssessmentRates, existing: int, existing_gpus: int) -> int:
    """Return the number of new nodes with the largest saving against AWS, the smallest of equal ones; 0 if none saves.

    The saving of N nodes in USD an hour: GPU hours on them times the cloud's rate, less their own rate and their staff.
    """
    owned, cloud = rates.owned, rates.cloud
    if owned is None or cloud is None:
        return 0
    gpus, cloud_gpu_hour = rates.node_gpus, cloud.high / rates.node_gpus
    most = max(0, _ceil((demand.peak - existing_gpus) / gpus))
    before = demand.up_to(existing_gpus) if existing_gpus else 0.0
    staff_before = rates.staff.usd_hour(existing)

    def saving(nodes: int) -> float:
        used = demand.up_to(existing_gpus + nodes * gpus) - before
        staff = rates.staff.usd_hour(existing + nodes) - staff_before
        return used * cloud_gpu_hour - nodes * owned.usd_hour - staff

    # From here on each further node costs the same, staff included, and is used less: the saving has one maximum.
    linear = min(most, max(1, math.ceil(rates.staff.least / rates.staff.per_node) - existing)) if most else 0
    low, high = linear, most
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if saving(middle + 1) > saving(middle) else (low, middle)
    candidates = range(min(linear, most) + 1) if low == linear else (*range(linear + 1), low)
    return max(candidates, key=lambda nodes: (round(saving(nodes) / _CENT) if nodes else 0, -nodes))


def _spot_share(answers: Answers, residency: Residency, rates: AssessmentRates) -> float:
    """Return the share of the work that is left to spot: experiments, if spot is surely cheaper than an owned node."""
    spot, owned = rates.rented.get("spot"), rates.owned
    usable = "aws" in answers.constraints.sites and any("aws" in sites for sites in residency.sites.values())
    if spot is None or owned is None or not usable:
        return 0.0
    with_staff = owned.usd_hour + rates.staff.per_node * rates.staff.usd_year / 8760
    return answers.workloads.experiments / 100 if spot.high < with_staff else 0.0


def _power_limit(answers: Answers, rates: AssessmentRates, existing: int) -> int | None:
    power = answers.constraints.site_power_kw
    if power is None or rates.owned is None:
        return None
    used = sum(
        machine.nodes * (platforms()[machine.platform].power_kw or rates.owned.power_kw)
        for machine in answers.constraints.machines
    )
    return max(0, int((power / rates.owned.pue - used) / rates.owned.power_kw + 1e-9))


def _capital_limit(answers: Answers, rates: AssessmentRates) -> int | None:
    capital = answers.constraints.capital_usd
    if capital is None or rates.owned is None or rates.owned.purchase_usd == 0:
        return None
    return int(capital / rates.owned.purchase_usd + 1e-9)


def _ceil(value: float) -> int:
    return math.ceil(value - 1e-9)


def baseline_threshold() -> float:
    """Return the share of the GPU hours on owned nodes, 0 to 1, from which they are called a baseline."""
    return assessment_facts().threshold("baseline-share") / 100
