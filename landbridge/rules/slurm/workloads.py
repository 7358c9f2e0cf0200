"""Rules about workload classes and data sets of `placement`."""

from collections.abc import Iterable, Iterator

from landbridge.environment import Environment, WorkloadClass
from landbridge.environment.base import SITES, Site
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.slurm.jobs.accounts import NORMAL
from landbridge.plan.slurm.jobs.job_submit import has_job_submit
from landbridge.plan.slurm.jobs.workloads import OTHER, has_selectors, workload_instruments, workload_sites
from landbridge.plan.slurm.partitions import MIG, ONPREM, partition_names
from landbridge.rules.registry import rule

_CLASSES: DataPath = ("placement", "classes")
_SETS: DataPath = ("placement", "data_sets")
_POOLS: DataPath = ("aws", "pools", "*", "")
_WORDS: dict[Site, str] = {"onprem": "on-prem", "aws": "in AWS"}


@rule
def unknown_in_placement(environment: Environment) -> Iterator[Finding]:
    """Accounts, partitions and QOS of workload classes, and data classes of data sets, exist.

    A selector with an unknown name never fits, so that the job gets another class.
    Source: Landbridge: job_submit.lua compares names.
    """
    scheduler = environment.scheduler
    for name, workload in environment.placement.classes.items():
        path = (*_CLASSES, name)
        yield from _unknown((*path, "accounts"), workload.accounts, scheduler.accounts, "account", "accounts")
        names = partition_names(environment)
        yield from _unknown((*path, "partitions"), workload.partitions, names, "partition", "partitions")
        yield from _unknown((*path, "qos"), workload.qos, [*scheduler.qos, NORMAL], "QOS", "qos")
    for title, data_set in environment.placement.data_sets.items():
        if data_set.data_class not in environment.data_classes:
            near = did_you_mean(data_set.data_class, environment.data_classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(environment.data_classes)}"
            message = f'there is no data class "{data_set.data_class}"'
            yield error((*_SETS, title, "data_class"), message, fix=fix, related=(("data_classes", "*", ""),))


@rule
def workload_without_a_place(environment: Environment) -> Iterator[Finding]:
    """Jobs of a workload class have a site and a purchase option: with their data, their partitions and the pools.

    Otherwise every job of the class is refused at submission, or waits without end.
    Source: Landbridge: a job needs its data class, its workload class and its partition for a site.
    """
    related: tuple[DataPath, ...] = (("data_classes", "*", ""), ("scheduler", "accounts", "*", ""), _POOLS)
    for name, workload in environment.placement.classes.items():
        path, sites = (*_CLASSES, name), workload_sites(environment, name)
        words = " and ".join(_WORDS[site] for site in SITES if site in sites)
        for index, account in enumerate(workload.accounts):
            settings = environment.scheduler.accounts.get(account)
            data_class = environment.data_classes.get(settings.data_class) if settings is not None else None
            if settings is not None and data_class is not None and not sites & set(data_class.sites):
                message = f"jobs of class {name} run {words} only, and data of account {account} ({settings.data_class}) may not be there"
                fix = f"write sites of {name} that the data class has, or remove the account"
                yield error((*path, "accounts", index), message, fix=fix, related=related)
        if workload.partitions and all(
            not _site_of(environment, partition, sites) for partition in workload.partitions
        ):
            message = f"jobs of class {name} run {words} only, and none of its partitions has nodes there"
            yield error(
                (*path, "partitions"), message, fix="add a partition that has, or change sites", related=related
            )
        options = _options(environment, sites)
        if not options & workload_instruments(environment, name):
            wanted = ", ".join(sorted(workload_instruments(environment, name)))
            existing = f"the environment has {', '.join(sorted(options))} there" if options else "nothing is there"
            message = f"jobs of class {name} run {words} with {wanted} only; {existing}"
            fix = "write sites and instruments that the environment has"
            key = "instruments" if workload.instruments else "sites" if workload.sites else ""
            yield error((*path, key) if key else path, message, fix=fix, related=(*related, ("onprem",)))


@rule
def workload_never_first(environment: Environment) -> Iterator[Finding]:
    """No workload class is hidden by an earlier one: a job belongs to the first class that fits.

    The order is sensitive, inference, experiments, baseline, burst.
    Source: Landbridge: docs/explanation/placement.md.
    """
    classes = environment.placement.classes.items()
    for position, (name, workload) in enumerate(classes):
        for earlier, first in classes[:position]:
            if has_selectors(first) and has_selectors(workload) and _covers(first, workload):
                message = f"every job of class {name} belongs to class {earlier}, which is compared first"
                fix = f"write selectors of {earlier} that are narrower"
                yield error((*_CLASSES, name), message, fix=fix, related=((*_CLASSES, earlier),))
                break


@rule
def workload_not_enforced(environment: Environment) -> Iterator[Finding]:
    """Workload classes have selectors, and an environment with accounts and pools, in which submission is checked.

    Without them, `landbridge place explain` still uses the class, and no job is refused.
    Source: slurm.schedmd.com/job_submit_plugins.html; Landbridge renders job_submit.lua only with accounts and pools.
    """
    for name, workload in environment.placement.classes.items():
        path = (*_CLASSES, name)
        if not has_selectors(workload) and name != OTHER:
            fix = "write accounts, partitions, qos, names or comments"
            yield warning(path, f"no job belongs to class {name}: it has no selector", fix=fix)
        elif environment.existing_slurm is not None:
            message = f"class {name} is not enforced: job_submit.lua of a Slurm that runs already is the site's own"
            yield warning(path, message, fix="suppress this with a reason", related=(("onprem", "existing_slurm"),))
        elif not has_job_submit(environment):
            message = f"class {name} is not enforced: without accounts and pools, no submission is checked"
            fix = "write scheduler.accounts"
            yield warning(path, message, fix=fix, related=(("scheduler", "accounts", "*", ""), _POOLS))


@rule(suppressible=False)
def data_set_out_of_place(environment: Environment) -> Iterator[Finding]:
    """A data set is at a site where its data class may be.

    Source: Landbridge: data classes, default deny.
    """
    for title, data_set in environment.placement.data_sets.items():
        data_class = environment.data_classes.get(data_set.data_class)
        if data_class is not None and data_set.site not in data_class.sites:
            message = f"data of class {data_set.data_class} may not be {_WORDS[data_set.site]}, where {title} is"
            related: tuple[DataPath, ...] = (("data_classes", "*", ""),)
            yield error((*_SETS, title, "site"), message, fix="move it, or correct its site or class", related=related)


def _unknown(path: DataPath, names: Iterable[str], known: Iterable[str], kind: str, key: str) -> Iterator[Finding]:
    known_names = list(known)
    for index, name in enumerate(names):
        if name not in known_names:
            near = did_you_mean(name, known_names)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(known_names) or 'none'}"
            related: tuple[DataPath, ...] = (("scheduler", key, "*", ""), _POOLS, ("onprem",))
            yield error((*path, index), f'there is no {kind} "{name}"', fix=fix, related=related)


def _site_of(environment: Environment, partition: str, sites: frozenset[Site]) -> bool:
    """Return true if a partition may have nodes at one of the sites; true for a partition of the site's own."""
    if partition in environment.scheduler.partitions:
        return True
    if partition in (ONPREM, MIG):
        return "onprem" in sites
    if any(pool.name == partition for pool in environment.aws.pools):
        return "aws" in sites
    return True


def _options(environment: Environment, sites: frozenset[Site]) -> frozenset[str]:
    """Return the purchase options that the environment has at the sites."""
    options = {"owned"} if "onprem" in sites and environment.node_groups else set()
    if "aws" in sites:
        options |= {capacity.kind for pool in environment.aws.pools for capacity in pool.capacity}
    return frozenset(options)


def _covers(first: WorkloadClass, workload: WorkloadClass) -> bool:
    """Return true if each job of `workload` fits `first` too; patterns are compared as text."""
    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
        (first.accounts, workload.accounts),
        (first.partitions, workload.partitions),
        (first.qos, workload.qos),
        (first.names, workload.names),
        (first.comments, workload.comments),
    )
    return all(not earlier or (bool(later) and set(later) <= set(earlier)) for earlier, later in pairs)
