"""Workload class of a job, from its Slurm account, partitions, QOS, name and comment; and the class's sites."""

import re
from dataclasses import dataclass
from functools import cache

from landbridge.catalog.placement import workload_defaults
from landbridge.environment import Environment, WorkloadClass
from landbridge.environment.base import SITES, Site
from landbridge.plan.slurm.jobs.accounts import NORMAL
from landbridge.plan.slurm.partitions import default_partition

#: Class of a job that fits no class of the environment.
OTHER = "burst"


@dataclass(frozen=True, slots=True)
class JobLabels:
    """Fields of a Slurm job that select its workload class. Empty: Slurm's default, or none."""

    account: str = ""
    partition: str = ""  # one or more, with commas
    qos: str = ""
    name: str = ""
    comment: str = ""


def workload_of(environment: Environment, labels: JobLabels) -> str:
    """Return the workload class of a job: the first class of the environment that fits, else `burst`."""
    for name, workload in environment.placement.classes.items():
        if _fits(environment, workload, labels):
            return name
    return OTHER


def workload_sites(environment: Environment, workload: str) -> frozenset[Site]:
    """Return the sites of a class: the sites in the file, else the class's default. Both sites without classes in the
    file.

    Jobs without a class of the file belong to `burst`, and are confined only if the file has that class.
    """
    settings = environment.placement.classes.settings_of(workload)
    if settings is None and workload == OTHER:
        return frozenset(SITES)
    sites: tuple[Site, ...] = settings.sites if settings is not None else ()
    return frozenset(sites or workload_defaults()[workload].sites)


def workload_instruments(environment: Environment, workload: str) -> frozenset[str]:
    """Return the purchase options that suit a class: the options in the file, else the class's default.

    A class that the file lets run in AWS, without a list of purchase options, may use all but spot there. Jobs without
    a class of the file are not confined.
    """
    settings = environment.placement.classes.settings_of(workload)
    if settings is None and workload == OTHER:
        return frozenset().union(*(defaults.instruments for defaults in workload_defaults().values()))
    if settings is not None and settings.instruments:
        return frozenset(settings.instruments)
    instruments = frozenset(workload_defaults()[workload].instruments)
    if settings is not None and "aws" in settings.sites:
        return instruments | frozenset(workload_defaults()[OTHER].instruments)
    return instruments


def default_qos(environment: Environment, account: str) -> str:
    """Return the QOS of an account's jobs without --qos."""
    settings = environment.scheduler.accounts.get(account)
    return settings.qos[0] if settings is not None and settings.qos else NORMAL


def has_selectors(workload: WorkloadClass) -> bool:
    """Return true if the class has a selector; one without selectors has no jobs."""
    return bool(workload.accounts or workload.partitions or workload.qos or workload.names or workload.comments)


def lua_pattern(pattern: str) -> str:
    """Return a pattern with `*` as a Lua pattern for the whole text."""
    # In Lua's patterns, % and any character that is neither a letter nor a digit stand for that character.
    parts = ("".join(char if char.isalnum() else f"%{char}" for char in part) for part in pattern.split("*"))
    return f"^{'.*'.join(parts)}$"


def _fits(environment: Environment, workload: WorkloadClass, labels: JobLabels) -> bool:
    if not has_selectors(workload):
        return False
    partitions = re.findall(r"[^,\s]+", labels.partition) or [default_partition(environment)]
    qos = labels.qos or default_qos(environment, labels.account)
    return (
        (not workload.accounts or labels.account in workload.accounts)
        and (not workload.partitions or all(name in workload.partitions for name in partitions))
        and (not workload.qos or qos in workload.qos)
        and (not workload.names or any(_regex(pattern).fullmatch(labels.name) for pattern in workload.names))
        and (not workload.comments or any(_regex(text).fullmatch(labels.comment) for text in workload.comments))
    )


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
