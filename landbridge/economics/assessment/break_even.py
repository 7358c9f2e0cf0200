"""Break-even use of owned nodes against each purchase option, with its band, and the monthly costs."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.catalog.assessment import assessment_facts
from landbridge.catalog.aws.prices import PriceKind
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import ArchitectureKind, Recommendation
from landbridge.economics.assessment.rates import (
    PURCHASES,
    PriceBasis,
    input_ranges,
    rates_of,
    traffic_in_basis,
    traffic_usd,
)
from landbridge.economics.assessment.sentences import Sentence, percent, say, usd

_HOURS_PER_MONTH = 730


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Share of the hours (1 is all) at which an owned node costs as much as rented ones; above 1: never.

    `low` and `high` are with the lowest and the highest inputs of the owned rate and prices of the purchase option.
    """

    purchase: PriceKind
    usd_hour_low: float
    usd_hour_high: float
    low: float
    share: float
    high: float
    basis: PriceBasis


def owned_usd_hour(answers: Answers, result: Recommendation, inputs: Mapping[str, float] | None = None) -> float | None:
    """Return the cost of one owned node with its share of the staff, in USD an hour; without owned nodes, as many as give
    the least staff of a node.
    """
    rates = rates_of(answers, result.residency.region, inputs)
    if rates.owned is None:
        return None
    nodes = result.sizing.nodes or max(1, round(rates.staff.least / rates.staff.per_node))
    return rates.owned.usd_hour + rates.staff.usd_hour(nodes) / nodes


def break_even(answers: Answers, result: Recommendation) -> tuple[BreakEven, ...]:
    """Return the break-even use against each purchase option with a known price. Empty without a price of the node."""
    ranges = input_ranges(answers)
    base = owned_usd_hour(answers, result)
    low = owned_usd_hour(answers, result, {name: row.low for name, row in ranges.items()})
    high = owned_usd_hour(answers, result, {name: row.high for name, row in ranges.items()})
    if base is None or low is None or high is None:
        return ()
    return tuple(
        BreakEven(
            purchase, rented.low, rented.high, low / rented.high, base / rented.high, high / rented.low, rented.basis
        )
        for purchase, rented in result.rates.rented.items()
        if rented.low > 0
    )


def break_even_sentences(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the owned rate and one sentence for each purchase option."""
    rates, base = result.rates, owned_usd_hour(answers, result)
    if rates.owned is None or base is None:
        return ()
    owned = rates.owned
    text = (
        f"An owned {owned.platform} costs {usd(base)} an hour, used or not ({usd(base / owned.gpus)} for a GPU): {usd(owned.purchase_usd)} "
        f"with fabric over {owned.years:g} years, {usd(owned.running_usd_hour)} to run, {usd(base - owned.usd_hour)} of staff."
    )
    sentences = [say("owned-rate", text, owned.bases, usd_hour=base, purchase_usd=owned.purchase_usd)]
    for row in break_even(answers, result):
        price = usd(row.usd_hour_high)
        if row.usd_hour_low != row.usd_hour_high:
            price = f"{usd(row.usd_hour_low)} to {price}"
        verdict = f"above {percent(row.share)} use" if row.share < 1 else "never"
        text = (
            f"Against {rates.instance} {PURCHASES[row.purchase]} at {price} an hour, owning is cheaper {verdict}; "
            f"the band of dated inputs is {percent(row.low)} to {_end(row.high)}."
        )
        figures = {"low": row.low, "share": row.share, "high": row.high}
        sentences.append(say("break-even", text, (*owned.bases, row.basis), purchase=row.purchase, **figures))
    return tuple(sentences)


def _end(share: float) -> str:
    return percent(share) if share < 1 else "never"


@dataclass(frozen=True, slots=True)
class MonthlyCost:
    """Cost of a recommendation in USD a month of 730 hours: owned nodes with staff, AWS on demand, and AWS alone."""

    owned: float
    rented: float
    aws_alone: float


def monthly_cost(result: Recommendation) -> MonthlyCost | None:
    """Return the monthly cost; None without the price of a node or of AWS."""
    owned, cloud, sizing, staff = result.rates.owned, result.rates.cloud, result.sizing, result.rates.staff
    if owned is None or cloud is None:
        return None
    gpu_month = cloud.high / result.rates.node_gpus * _HOURS_PER_MONTH
    nodes = sizing.new * owned.usd_hour + sizing.existing * owned.running_usd_hour
    owned_usd = (nodes + staff.usd_hour(sizing.nodes)) * _HOURS_PER_MONTH
    rented = max(0.0, sizing.mean_gpus - sizing.owned_mean_gpus) * gpu_month
    return MonthlyCost(owned_usd, rented, sizing.mean_gpus * gpu_month)


def cost_sentences(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the monthly cost of the recommendation, the cost of AWS alone, the purchase, and the moves of data."""
    sizing, sentences = result.sizing, list[Sentence]()
    owned, cloud, cost = result.rates.owned, result.rates.cloud, monthly_cost(result)
    if owned is not None and cloud is not None and cost is not None:
        owned_usd, rented, alone = cost.owned, cost.rented, cost.aws_alone
        total = rented + owned_usd
        if result.kind is ArchitectureKind.ONPREM_ONLY:
            text = f"The recommendation costs {usd(total)} a month, all of it on-prem."
        else:
            text = f"The recommendation costs {usd(total)} a month, {usd(owned_usd)} on-prem and {usd(rented)} in AWS on demand."
        if any("aws" in sites for sites in result.residency.sites.values()):
            text += f" AWS alone would be {usd(alone)}."
        bases = (*owned.bases, cloud.basis)
        sentences.append(say("monthly-cost", text, bases, total=total, owned=owned_usd, rented=rented, aws_alone=alone))
        if sizing.new:
            amount = sizing.new * owned.purchase_usd
            text = f"{sizing.new} new nodes with their fabric cost {usd(amount)} to buy."
            sentences.append(say("owned-rate", text, owned.bases, purchase_usd=amount))
        budget = answers.constraints.budget_usd_month
        if budget is not None:
            words = "within" if total <= budget else f"{usd(total - budget)} above"
            text = f"This is {words} the budget of {usd(budget)} a month."
            sentences.append(say("budget", text, bases, total=total, budget=budget))
    return (*sentences, *_moves(answers, result))


def _moves(answers: Answers, result: Recommendation) -> list[Sentence]:
    sentences = list[Sentence]()
    arriving = [
        data_class
        for data_class in answers.classes
        if data_class.at != "aws" and data_class.tb and "aws" in result.residency.sites[data_class.name]
    ]
    free = traffic_in_basis(assessment_facts().reference_regions[0])
    if arriving and free is not None and result.kind is not ArchitectureKind.ONPREM_ONLY:
        names, volume = ", ".join(data_class.name for data_class in arriving), sum(data.tb for data in arriving)
        text = f"{volume:,.0f} TB of {names} enter AWS without a charge for traffic, before the jobs that read them run there."
        sentences.append(say("moving-data", text, (free,), tb=volume))
    leaving = [
        data_class
        for data_class in answers.classes
        if data_class.at == "aws"
        and data_class.tb
        and result.sizing.nodes
        and "onprem" in result.residency.sites[data_class.name]
    ]
    volume = sum(data_class.tb for data_class in leaving)
    for region in (result.residency.region, *assessment_facts().reference_regions):
        price = traffic_usd(volume, region) if volume else None
        if price is not None:
            amount, basis = price
            names = ", ".join(data_class.name for data_class in leaving)
            text = f"One copy of {names} ({volume:,.0f} TB) out of AWS over the internet costs {usd(amount)} (prices of {region})."
            sentences.append(say("moving-data", text, (basis,), usd=amount, tb=volume))
            break
    return sentences
