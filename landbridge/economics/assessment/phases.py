"""Phases: the path to the architecture and beyond it, each with the trigger that begins it."""

import math
from dataclasses import dataclass, replace

from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import ArchitectureKind, Recommendation
from landbridge.economics.assessment.rates import PriceBasis
from landbridge.economics.assessment.sentences import Sentence, count, percent, say
from landbridge.economics.assessment.sizing import entry_scale, nodes_at


@dataclass(frozen=True, slots=True)
class Phase:
    """Phase of the path: the nodes that are owned at its end, the GPUs in AWS at its peak, and its sentences.

    `trigger` begins it; None for the first one.
    """

    title: str
    owned_nodes: int
    aws_gpus: float
    trigger: Sentence | None
    sentences: tuple[Sentence, ...]


def phases(answers: Answers, result: Recommendation) -> tuple[Phase, ...]:
    """Return the phases in their order, at least one."""
    sizing, path = result.sizing, list[Phase]()
    aws = result.kind is not ArchitectureKind.ONPREM_ONLY or _aws_permitted(result)
    delay = _delays(answers, result) if aws and sizing.new else ()
    if result.kind is ArchitectureKind.CLOUD_FIRST or delay or (aws and sizing.new and not sizing.existing):
        begin = (*delay, _begin(result))
        title = "Cloud first" if not sizing.existing else "Existing machines, and AWS"
        onprem = tuple(name for name, sites in result.residency.sites.items() if sites == ("onprem",))
        if onprem:
            text = f"Data of {', '.join(onprem)} waits for the site: it is not in AWS in this phase."
            begin = (*begin, say("forced-onprem", text))
        peak = max(0.0, sizing.peak_gpus * (1 - result.residency.onprem_share) - sizing.existing_gpus)
        path.append(Phase(title, sizing.existing, peak, None, begin))
    if sizing.new or (sizing.existing and not path):
        path.append(_cluster(answers, result, first=not path))
    later = _more(answers, result) or _forced(result)
    if not later and path and _may_own(answers, result):
        factor = assessment_facts().threshold("far-trigger")
        text = f"No mean up to {factor:g} times today's makes a further node worth owning: assess again when the work changes."
        path[-1] = replace(path[-1], sentences=(*path[-1].sentences, say("no-trigger", text, factor=factor)))
    return (*path, *later)


def _may_own(answers: Answers, result: Recommendation) -> bool:
    return result.residency.cloud_share < 1 and "onprem" in answers.constraints.sites


def _aws_permitted(result: Recommendation) -> bool:
    return any("aws" in sites for sites in result.residency.sites.values())


def _begin(result: Recommendation) -> Sentence:
    gpus = result.sizing.peak_gpus * (1 - result.residency.onprem_share)
    text = f"Rent up to {count(gpus, 'GPU')} in {result.residency.region}; measure the use with Slurm's accounting."
    return say("phase", text, gpus=gpus)


def _delays(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the reasons to begin in AWS although nodes are worth owning now."""
    sentences = list[Sentence]()
    weeks, delivery = answers.constraints.first_gpu_weeks, _delivery_weeks(answers)
    if weeks is not None and weeks < delivery:
        text = f"The first GPU is needed in {count(weeks, 'week')}, and machines need {count(delivery, 'week')}: begin in AWS."
        sentences.append(say("delivery", text, needed_weeks=weeks, delivery_weeks=delivery))
    if answers.staff.gpu_operations == "none" and not answers.constraints.machines:
        text = "Nobody in the team has operated GPU nodes: learn Slurm, drivers and fabric on rented nodes first."
        sentences.append(say("experience", text, experience=answers.staff.gpu_operations))
    return tuple(sentences)


def _delivery_weeks(answers: Answers) -> float:
    quoted = answers.constraints.delivery_weeks
    return quoted if quoted is not None else assessment_facts().threshold("delivery")


def _cluster(answers: Answers, result: Recommendation, first: bool) -> Phase:
    sizing = result.sizing
    title = "On-prem cluster" if result.kind is ArchitectureKind.ONPREM_ONLY else "Baseline cluster with burst"
    if result.kind is ArchitectureKind.HYBRID:
        title = "On-prem cluster beside AWS"
    trigger = None
    if not first:
        nodes = sizing.new
        scale = entry_scale(answers, result.residency, result.rates, nodes) if nodes <= sizing.economic else None
        if scale is not None:
            trigger = _trigger(answers, result, nodes, scale)
        else:
            bound = ", ".join(name for name, sites in result.residency.sites.items() if sites == ("onprem",))
            trigger = say("forced-onprem", f"Begin as soon as the site is ready: data of {bound} has no other place.")
    text = f"Own {count(sizing.nodes, 'node')} with {count(sizing.gpus, 'GPU')}, {percent(sizing.owned_share)} of the GPU hours"
    text += f", and rent up to {count(sizing.cloud_peak_gpus, 'GPU')}." if sizing.cloud_peak_gpus > 0.5 else "."
    sentences = [say("phase", text, nodes=sizing.nodes, owned_share=sizing.owned_share)]
    weeks, delivery = answers.constraints.first_gpu_weeks, _delivery_weeks(answers)
    if first and sizing.new and weeks is not None and weeks < delivery:
        text = (
            f"The first GPU is needed in {count(weeks, 'week')}, machines need {count(delivery, 'week')}, and no data may be in AWS: "
            "the deadline needs machines that can be had sooner."
        )
        sentences.append(say("deadline", text, needed_weeks=weeks, delivery_weeks=delivery))
    return Phase(title, sizing.nodes, sizing.cloud_peak_gpus, trigger, tuple(sentences))


def _more(answers: Answers, result: Recommendation) -> tuple[Phase, ...]:
    """Return the next purchases: the first node if none is owned, then twice the cluster."""
    sizing, later = result.sizing, list[Phase]()
    if not _may_own(answers, result):
        return ()
    changed, words, scale = answers, "", None
    if sizing.nodes:
        targets = {"More nodes": 2 * sizing.nodes - sizing.existing}
    else:
        scale = entry_scale(changed, result.residency, result.rates, 1)
        if scale is None:
            changed = _longer_week(answers, result)
            words = f"there is work in {changed.utilisation.hours_a_week:,.0f} hours a week and "
            scale = entry_scale(changed, result.residency, result.rates, 1)
        if scale is None:
            return ()
        # At the least use with one node, more than one may be worth owning: they share the first operator.
        least = nodes_at(changed, result.residency, result.rates, scale)
        targets = {"Baseline cluster with burst": least, "More nodes": 2 * least}
    for title, nodes in targets.items():
        scale = entry_scale(changed, result.residency, result.rates, nodes)
        if scale is None:
            continue
        owned = sizing.existing + nodes
        sentences = [say("phase", f"Own {count(owned, 'node')} in all.", nodes=owned), *_growth(answers, scale)]
        for rule, limit in (("power-limit", sizing.power_limit), ("capital-limit", sizing.capital_limit)):
            if limit is not None and nodes > limit:
                text = f"Today's {rule.removesuffix('-limit')} is enough for {count(limit, 'new node')} only."
                sentences.append(say(rule, text, limit=limit))
        peak = max(0.0, sizing.peak_gpus * scale - sizing.existing_gpus - nodes * sizing.node_gpus)
        later.append(Phase(title, owned, peak, _trigger(changed, result, nodes, scale, words), tuple(sentences)))
    return tuple(later)


def _forced(result: Recommendation) -> tuple[Phase, ...]:
    """Return the next node for data that must be on-prem, if cost alone gives no further one."""
    sizing, share = result.sizing, result.residency.onprem_share
    if not share or not sizing.nodes:
        return ()
    text = f"Own a further node when the peak of the work that must be on-prem is over {count(sizing.gpus, 'GPU')}."
    trigger = say("forced-onprem", text, gpus=sizing.gpus)
    sentence = say("phase", f"Own {count(sizing.nodes + 1, 'node')} in all.", nodes=sizing.nodes + 1)
    return (Phase("More nodes", sizing.nodes + 1, sizing.cloud_peak_gpus, trigger, (sentence,)),)


def _longer_week(answers: Answers, result: Recommendation) -> Answers:
    """Return the answers with the fewest hours a week of the catalogue's list at which some mean gives a node."""
    use = answers.utilisation
    for hours in assessment_facts().sensitivity["hours_a_week"]:
        changed = answers.model_copy(update={"utilisation": use.model_copy(update={"hours_a_week": hours})})
        if hours > use.hours_a_week and entry_scale(changed, result.residency, result.rates, 1) is not None:
            return changed
    return answers


def _trigger(answers: Answers, result: Recommendation, nodes: int, scale: float, words: str = "") -> Sentence:
    weeks = assessment_facts().threshold("sustained-weeks")
    mean = answers.utilisation.mean_gpus * scale
    text = (
        f"Own {count(nodes, 'new node')} when {words}mean use stays over {mean:,.1f} GPUs for {weeks:g} weeks "
        f"(now {answers.utilisation.mean_gpus:,.1f})."
    )
    limits = [limit for limit in (result.sizing.power_limit, result.sizing.capital_limit) if limit is not None]
    if scale <= 1 and not words and nodes <= min(limits, default=nodes):
        text += " This use is reached: measure it, and order."
    bases: tuple[PriceBasis, ...] = result.rates.owned.bases if result.rates.owned else ()
    if result.rates.cloud is not None:
        bases = (*bases, result.rates.cloud.basis)
    return say("trigger", text, bases, nodes=nodes, mean_gpus=mean, weeks=weeks)


def _growth(answers: Answers, scale: float) -> tuple[Sentence, ...]:
    rate = answers.growth.percent_a_year / 100
    if rate <= 0 or scale <= 1:
        return ()
    years = math.log(scale) / math.log(1 + rate)
    return (say("growth", f"At {percent(rate)} growth a year this is in {years:.1f} years.", years=years, rate=rate),)
