"""Placements: the region, the sites of each data class, and the usual place of each kind of work."""

from landbridge.catalog import obligations, regimes
from landbridge.catalog.regimes import regimes_date
from landbridge.economics.assessment.answers import Answers
from landbridge.economics.assessment.architecture import ArchitectureKind, Recommendation
from landbridge.economics.assessment.rates import PriceBasis
from landbridge.economics.assessment.sentences import Sentence, say

_WHERE = {"onprem": "on-prem only", "aws": "in AWS only"}


def placements(answers: Answers, result: Recommendation) -> tuple[Sentence, ...]:
    """Return the sites of each data class with the regime's citation and obligations, the region, and the place of each
    kind of work.
    """
    region = result.residency.region
    sentences = [say("region", f"The region is {region}.", region=region)]
    for data_class in answers.classes:
        permitted = result.residency.sites[data_class.name]
        where = _WHERE[permitted[0]] if len(permitted) == 1 else f"on-prem and in AWS ({region})"
        regime = regimes().get(data_class.regime or "")
        if regime is None:
            sentences.append(say("placement", f"Data of {data_class.name} may be {where}.", sites=", ".join(permitted)))
            continue
        duties = "; ".join(obligations()[word] for word in regime.obligations)
        text = (
            f"Data of {data_class.name} ({regime.title}) may be {where}, by {regime.citation}. Obligations: {duties}."
        )
        if regime.aws is None or not regime.allows_region(region):
            text += f" No jobs and no bucket of this class are in AWS: {region} is not permitted."
        if regime.note is not None:
            text += f" {regime.note}"
        sentences.append(
            say(
                "regime",
                text,
                (PriceBasis(regime.citation, regimes_date(), "primary"),),
                sites=", ".join(permitted),
                regime=data_class.regime,
                citation=regime.citation,
            )
        )
    return (*sentences, *_workloads(answers, result))


def _workloads(answers: Answers, result: Recommendation) -> list[Sentence]:
    """Return one sentence for each kind of work with a share."""
    owned = result.sizing.nodes > 0
    aws = result.kind is not ArchitectureKind.ONPREM_ONLY
    spot = (
        "on spot instances"
        if result.sizing.spot_share
        else "on owned nodes, or on spot instances that may be interrupted"
    )
    limited = {site for sites in result.residency.sites.values() for site in sites if len(sites) == 1}
    sensitive = " and ".join(_WHERE[site] for site in sorted(limited)) or "at the sites of its data class"
    places = {
        "baseline": "on owned nodes" if owned else "on demand in AWS, as no node is worth owning yet",
        "burst": "in AWS, on demand or in a Capacity Block" if aws else "on owned nodes, which cover the peak",
        "experiments": spot if owned and aws else "on spot instances" if aws else "on owned nodes",
        "inference": "near its users: the steady part on owned nodes" if owned else "in the region near its users",
        "sensitive": sensitive,
    }
    shares = answers.workloads.model_dump()
    return [
        say("workload", f"{name.capitalize()} ({shares[name]:g} percent): {place}.", share=shares[name])
        for name, place in places.items()
        if shares[name]
    ]
