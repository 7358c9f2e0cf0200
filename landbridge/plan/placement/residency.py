"""Residency of a job's data: by the account's data class, and by the regime of that class."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.catalog.regimes import regimes
from landbridge.environment import Environment
from landbridge.environment.base import Site
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.placement.refusal import DestinationRefusal
from landbridge.plan.slurm.partitions import OPERATORS
from landbridge.residency import aws_refusal


@dataclass(frozen=True, slots=True)
class AccountResidency:
    """Slurm account with the residency of its data class, as the burst controller's AccountPolicy has it."""

    name: str
    data_class: str
    aws: bool
    regions: tuple[str, ...] = ()


def account_residencies(environment: Environment) -> dict[str, AccountResidency]:
    """Return the accounts by name. Data of an account with an unknown class may not be in AWS."""
    residencies = {}
    for name, account in sorted(environment.scheduler.accounts.items()):
        data_class = environment.data_classes.get(account.data_class)
        is_in_aws = data_class is not None and "aws" in data_class.sites
        regions = data_class.regions if data_class is not None else ()
        residencies[name] = AccountResidency(name, account.data_class, is_in_aws, regions)
    return residencies


def residency_refusals(
    environment: Environment, job: PlacementJob, site: Site, region: str
) -> Iterator[DestinationRefusal]:
    """Yield the reasons why the data of a job may not be at a site, or in a region of AWS.

    In AWS, the function of the burst controller decides about the account; the regimes are checked besides.
    """
    account = environment.scheduler.accounts.get(job.account)
    if site == "aws":
        residencies = account_residencies(environment)
        text = aws_refusal(residencies, (OPERATORS,), environment.region, job.account, job.wckey, region)
        if text is not None:
            yield DestinationRefusal("residency", text, _citation(environment, account.data_class if account else ""))
    elif account is not None and job.account != OPERATORS:
        data_class = environment.data_classes.get(account.data_class)
        if data_class is None or "onprem" not in data_class.sites:
            text = f"data of account {job.account} ({account.data_class}) may not be on-prem"
            yield DestinationRefusal("residency", text, _citation(environment, account.data_class))
    names = dict.fromkeys([*([account.data_class] if account else []), *(data.data_class for data in job.inputs)])
    for name in filter(None, names):
        yield from _regime_refusals(environment, name, site, region)
        data_class = environment.data_classes.get(name)
        is_of_account = account is not None and name == account.data_class
        permitted = data_class is not None and (
            site in data_class.sites
            and (site == "onprem" or region in ("", environment.region) or region in data_class.regions)
        )
        if not is_of_account and not permitted:
            place = "on-prem" if site == "onprem" else region or environment.region
            yield DestinationRefusal(
                "residency", f"its data set has data of class {name}, which may not be {_in(place)}", _path(name)
            )


def obligations_at(environment: Environment, job: PlacementJob, site: Site, region: str) -> tuple[str, ...]:
    """Return the obligations of the job's regimes at a site, as words of regimes.yaml."""
    account = environment.scheduler.accounts.get(job.account)
    names = [*([account.data_class] if account else []), *(data.data_class for data in job.inputs)]
    words: list[str] = []
    for name in names:
        data_class = environment.data_classes.get(name)
        regime = regimes().get((data_class.regime if data_class is not None else None) or "")
        if regime is not None:
            words += regime.obligations_at(None if site == "onprem" else region)
    return tuple(dict.fromkeys(words))


def _regime_refusals(environment: Environment, name: str, site: Site, region: str) -> Iterator[DestinationRefusal]:
    data_class = environment.data_classes.get(name)
    regime = regimes().get((data_class.regime if data_class is not None else None) or "")
    if regime is None:
        return
    if site == "onprem" and regime.onprem == "no":
        yield DestinationRefusal("regime", f"data under {regime.title} may not be on-prem", regime.citation)
    if site == "aws" and not regime.allows_region(region or environment.region):
        place = region or environment.region
        yield DestinationRefusal("regime", f"data under {regime.title} may not be in {place}", regime.citation)


def _citation(environment: Environment, name: str) -> str:
    """Return the key that decides, and the regime's citation if the class has one."""
    data_class = environment.data_classes.get(name)
    if data_class is None:
        return "scheduler.accounts; default deny"
    regime = regimes().get(data_class.regime or "")
    return f"{_path(name)}; {regime.citation}" if regime is not None else _path(name)


def _path(name: str) -> str:
    return f"data_classes.{name}.sites"


def _in(place: str) -> str:
    return place if place == "on-prem" else f"in {place}"
