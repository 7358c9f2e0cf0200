"""Residency of data classes: the sites and the region that regimes and the organisation permit."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.catalog import instances, offered, regimes
from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Answers, AssessedClass
from landbridge.environment.base import SITES, Site


@dataclass(frozen=True, slots=True)
class Residency:
    """Region, permitted sites of each data class, and the shares of the GPU hours that are bound to one site (0 to 1)."""

    region: str
    sites: Mapping[str, tuple[Site, ...]]
    onprem_share: float
    cloud_share: float


def permitted_sites(data_class: AssessedClass, region: str) -> tuple[Site, ...]:
    """Return the sites that the organisation and the regime permit for a class, in one region."""
    regime = regimes().get(data_class.regime or "")
    permitted = {
        "onprem": regime is None or regime.onprem != "no",
        "aws": regime is None or regime.allows_region(region),
    }
    return tuple(site for site in SITES if site in data_class.sites and permitted[site])


def is_limited(data_class: AssessedClass) -> bool:
    """Return true for a class with a regime or without one of the sites: its jobs are in the share `sensitive`."""
    return data_class.regime is not None or set(data_class.sites) != set(SITES)


def chosen_region(answers: Answers) -> str:
    """Return the region of the answers, else the first of the catalogue's list that the most classes may use; of
    equal ones, one that offers the instance type.
    """
    if answers.constraints.region is not None:
        return answers.constraints.region
    candidates = assessment_facts().regions
    return max(
        candidates,
        key=lambda region: (
            sum("aws" in permitted_sites(data_class, region) for data_class in answers.classes),
            is_offered(answers.utilisation.gpu, region) is not False,
            -candidates.index(region),
        ),
    )


def is_offered(gpu: str, region: str) -> bool | None:
    """Return false if AWS does not offer the instance type of a GPU in a region; None if that is not recorded."""
    model = assessment_facts().gpus.get(gpu)
    return None if model is None else offered(instances()[model.instance], region)


def residency(answers: Answers) -> Residency:
    """Return the residency of all classes. A site that the organisation cannot use is not a site of any class.

    The share `sensitive` is divided evenly among the limited classes; if all classes are bound to one site, it is all of
    the work.
    """
    region = chosen_region(answers)
    usable = answers.constraints.sites
    sites = {
        data_class.name: tuple(site for site in permitted_sites(data_class, region) if site in usable)
        for data_class in answers.classes
    }

    def bound(site: Site) -> float:
        if all(permitted == (site,) for permitted in sites.values()):
            return 1.0
        limited = [data_class for data_class in answers.classes if is_limited(data_class)]
        here = [data_class for data_class in limited if sites[data_class.name] == (site,)]
        return answers.workloads.sensitive / 100 * len(here) / len(limited) if limited else 0.0

    return Residency(region, sites, bound("onprem"), bound("aws"))
