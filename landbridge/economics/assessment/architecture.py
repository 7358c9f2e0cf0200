"""Architecture: cloud first, hybrid, on-prem baseline with burst, or on-prem only; and the reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from landbridge.catalog import instances
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.rates import AssessmentRates, PriceBasis, rates_of
from landbridge.economics.assessment.residency import Residency, is_offered, residency
from landbridge.economics.assessment.sentences import Sentence, count, percent, say, usd
from landbridge.economics.assessment.sizing import Sizing, baseline_threshold, size


class ArchitectureKind(StrEnum):
    """Recommended architecture, from all rented to all owned."""

    CLOUD_FIRST = "cloud first"
    HYBRID = "hybrid"
    BASELINE = "on-prem baseline with burst"
    ONPREM_ONLY = "on-prem only"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Recommended architecture with the values from which it follows."""

    kind: ArchitectureKind
    sizing: Sizing
    residency: Residency
    rates: AssessmentRates


def recommend(answers: Answers, inputs: Mapping[str, float] | None = None, cloud_factor: float = 1.0) -> Recommendation:
    """Return the recommendation. `inputs` and `cloud_factor` change rates, as in `rates_of`."""
    sites = residency(answers)
    rates = rates_of(answers, sites.region, inputs, cloud_factor)
    sizing = size(answers, sites, rates)
    return Recommendation(_kind(answers, sites, sizing), sizing, sites, rates)


def _kind(answers: Answers, sites: Residency, sizing: Sizing) -> ArchitectureKind:
    if not _aws_possible(answers, sites):
        return ArchitectureKind.ONPREM_ONLY
    if sizing.nodes == 0:
        return ArchitectureKind.CLOUD_FIRST
    bound_to_aws = any(permitted == ("aws",) for permitted in sites.sites.values())
    if sizing.cloud_peak_gpus < 1e-6 and not bound_to_aws and sizing.spot_share == 0:
        return ArchitectureKind.ONPREM_ONLY
    return ArchitectureKind.BASELINE if sizing.owned_share >= baseline_threshold() else ArchitectureKind.HYBRID


def _aws_possible(answers: Answers, sites: Residency) -> bool:
    return "aws" in answers.constraints.sites and any("aws" in permitted for permitted in sites.sites.values())


def reasons(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the reasons of the architecture, the deciding one first."""
    sizing, rates, kind = result.sizing, result.rates, result.kind
    bases = (*(rates.owned.bases if rates.owned else ()), *((rates.cloud.basis,) if rates.cloud else ()))
    sentences: list[Sentence] = []
    if kind is ArchitectureKind.ONPREM_ONLY and not _aws_possible(answers, result.residency):
        sentences.append(say("forced-onprem", "No data class may be in AWS, so all nodes are on-prem."))
    elif result.residency.cloud_share == 1 or "onprem" not in answers.constraints.sites:
        sentences.append(
            say("forced-cloud", "No data class, or no site, permits nodes on-prem, so all nodes are rented.")
        )
    elif kind is ArchitectureKind.CLOUD_FIRST and rates.owned and rates.cloud:
        node_usd = rates.owned.usd_hour + rates.staff.usd_hour(1)
        text = (
            f"With a mean of {count(sizing.mean_gpus, 'GPU')} over all hours, no {rates.owned.platform} is worth owning: one "
            f"with its staff costs {usd(node_usd)} an hour, and AWS {usd(rates.cloud.high)} for each hour in which it is needed."
        )
        sentences.append(
            say("cloud-first", text, bases, mean_gpus=sizing.mean_gpus, owned=node_usd, cloud=rates.cloud.high)
        )
    if sizing.forced and result.residency.onprem_share:
        bound = [name for name, permitted in result.residency.sites.items() if permitted == ("onprem",)]
        text = (
            f"Data of {', '.join(bound)} may be on-prem only: {count(sizing.forced, 'node')} "
            f"for {percent(result.residency.onprem_share)} of the peak of {count(sizing.peak_gpus, 'GPU')}."
        )
        sentences.append(say("forced-onprem", text, nodes=sizing.forced, share=result.residency.onprem_share))
    if sizing.economic and rates.owned and rates.cloud:
        text = f"{count(sizing.economic, 'new node')} of {count(sizing.node_gpus, 'GPU')} cost less than AWS"
        if sizing.new == sizing.economic:
            text += (
                f": with {count(sizing.gpus, 'owned GPU')} the owned share of the GPU hours is {percent(sizing.owned_share)}, and "
                f"{percent(sizing.use)} of them are in use."
            )
        else:
            text += f", and {sizing.new} are recommended, for the other reasons here."
        sentences.append(
            say("marginal-node", text, bases, nodes=sizing.economic, owned_share=sizing.owned_share, use=sizing.use)
        )
    if sizing.existing:
        text = f"{count(sizing.existing, 'node')} with {count(sizing.existing_gpus, 'GPU')} exist and are used first."
        sentences.append(say("existing-machines", text, nodes=sizing.existing, gpus=sizing.existing_gpus))
    sentences += _names(kind, sizing)
    return (*sentences, *_limits(answers, result), *_assumptions(answers, result))


def _names(kind: ArchitectureKind, sizing: Sizing) -> list[Sentence]:
    if kind in (ArchitectureKind.BASELINE, ArchitectureKind.HYBRID):
        limit = baseline_threshold()
        word = "a baseline" if kind is ArchitectureKind.BASELINE else "less than a baseline"
        text = (
            f"Owned nodes do {percent(sizing.owned_share)} of the GPU hours: {word}, which begins at {percent(limit)}; "
            f"AWS does the rest, up to {count(sizing.cloud_peak_gpus, 'GPU')} at the peak."
        )
        return [say("baseline-share", text, owned_share=sizing.owned_share, threshold=limit)]
    if kind is ArchitectureKind.ONPREM_ONLY and sizing.cloud_peak_gpus < 1e-6:
        text = f"{count(sizing.gpus, 'owned GPU')} cover the peak of {count(sizing.peak_gpus, 'GPU')}."
        return [say("onprem-only", text, gpus=sizing.gpus, peak=sizing.peak_gpus)]
    return []


def _limits(answers: Answers, result: Recommendation) -> list[Sentence]:
    sizing, rates, sentences = result.sizing, result.rates, list[Sentence]()
    wanted = max(sizing.economic, sizing.forced)
    for rule, limit, words in (
        (
            "power-limit",
            sizing.power_limit,
            f"the power of the site, {answers.constraints.site_power_kw or 0:,.0f} kW,",
        ),
        ("capital-limit", sizing.capital_limit, f"the capital of {usd(answers.constraints.capital_usd or 0)}"),
    ):
        if limit is not None and limit < wanted:
            text = f"{words[:1].upper()}{words[1:]} permits {count(limit, 'new node')}, and {wanted} are wanted."
            if sizing.forced > limit:
                text += f" Data needs {sizing.forced}: this condition must change."
            bases = rates.owned.bases if rates.owned else ()
            sentences.append(say(rule, text, bases, limit=limit, wanted=wanted, forced=sizing.forced))
    return sentences


def _assumptions(answers: Answers, result: Recommendation) -> list[Sentence]:
    rates, sentences = result.rates, list[Sentence]()
    if rates.owned is None or rates.cloud is None:
        missing = rates.instance if rates.cloud is None else f"a machine with {answers.utilisation.gpu}"
        text = f"No dated price of {missing} is known: own and rented nodes are not compared. Give it in prices."
        sentences.append(say("price-unknown", text))
    elif rates.replaced_region is not None:
        text = (
            f"No price of {rates.instance} in {rates.replaced_region} is known; that of {rates.cloud.region} stands in, "
            f"{usd(rates.cloud.high)} an hour."
        )
        sentences.append(say("price-of-other-region", text, (rates.cloud.basis,), usd_hour=rates.cloud.high))
    spot = rates.rented.get("spot")
    if result.sizing.spot_share and spot is not None:
        text = (
            f"Experiments, {percent(result.sizing.spot_share)} of the work, are left to spot at {usd(spot.low)} to {usd(spot.high)} "
            "an hour for the GPUs of a node, below the owned rate."
        )
        sentences.append(say("spot-experiments", text, (spot.basis,), low=spot.low, high=spot.high))
    use, region = answers.utilisation, result.residency.region
    if result.kind is not ArchitectureKind.ONPREM_ONLY and is_offered(use.gpu, region) is False:
        day = instances()[rates.instance].date
        text = f"AWS does not offer {rates.instance} in {region}: choose another region or another GPU for AWS."
        basis = PriceBasis("instance types by region, as recorded in the catalogue", day, "secondary")
        sentences.append(say("gpu-fit", text, (basis,), instance=rates.instance, region=region))
    if use.trace is not None:
        sentences.append(say("trace-shape", "The distribution of GPUs in use is that of the trace's quantiles."))
    else:
        floor = answers.workloads.baseline / 100 * use.mean_gpus
        text = (
            f"GPUs in use are assumed as a floor of {floor:,.1f} and a part that varies up to {use.peak_gpus:,.0f}, with a mean of "
            f"{use.mean_gpus:,.1f}, for {use.hours_a_week:,.0f} hours a week."
        )
        sentences.append(say("demand-shape", text, floor=floor, mean=use.mean_gpus, peak=use.peak_gpus))
    return sentences
