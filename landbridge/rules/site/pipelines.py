"""Rules about the service of pipelines: its Slurm, the homes on its host, and its data."""

from collections.abc import Iterator

from landbridge.catalog.slurm.submission import slurm_submission
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.pipelines import has_homes
from landbridge.plan.slurm.sackd import has_accounting_storage
from landbridge.rules.registry import rule

_PIPELINES: DataPath = ("mlops", "pipelines")
_CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


@rule
def pipelines_place(environment: Environment) -> Iterator[Finding]:
    """Pipelines need a Slurm that Landbridge configures, its accounting, an account, and the homes on the MLflow host.

    The service submits as the owner with an account, finds jobs by sacct, and reads requests in the owner's home.
    Source: Landbridge (docs/explanation/models.md).
    """
    if environment.mlops.pipelines is None:
        return
    if environment.existing_slurm is not None:
        message = "Landbridge does not configure the hosts of a site whose Slurm was adopted: no pipeline runs there"
        fix = "remove it, and use the role pipelines in your own playbook"
        yield error(_PIPELINES, message, fix=fix, related=(("onprem", "existing_slurm"),))
        return
    if not environment.scheduler.accounts:
        message = "there is no Slurm account, so no user can own a pipeline"
        yield error(_PIPELINES, message, fix="add an account with its users", related=(("scheduler", "accounts"),))
    if not has_accounting_storage(environment):
        message = "Slurm has no accounting: the service could submit a step twice, because it does not find ended jobs"
        fix = "remove AccountingStorageType from scheduler.overrides.slurm_conf"
        yield error(_PIPELINES, message, fix=fix, related=(_CONF,))
    if not has_homes(environment):
        host = service_hosts(environment).mlops
        message = f"the MLflow host {host} does not mount the homes, because aws.services.login has hosts of its own"
        fix = "remove it, or set aws.services.login.count: 0"
        yield error(_PIPELINES, message, fix=fix, related=(("aws", "services", "login", "count"),))


@rule
def pipelines_ended_jobs(environment: Environment) -> Iterator[Finding]:
    """slurmctld keeps ended jobs long enough for pipelines: a job that neither it nor accounting has is submitted again.

    Source: slurm.conf(5), MinJobAge; docs/explanation/models.md.
    """
    if environment.mlops.pipelines is None:
        return
    least = slurm_submission().min_job_age_seconds.value
    for key, value in environment.scheduler.overrides.slurm_conf.items():
        seconds = int(str(value)) if key.casefold() == "minjobage" and str(value).isdecimal() else least
        # 0: slurmctld keeps every job.
        if 0 < seconds < least:
            message = f"slurmctld forgets an ended job after {seconds} s, and accounting may be later"
            fix = f"write at least {least}, or remove it"
            yield error((*_CONF, key), message, fix=fix, related=(_PIPELINES,))


@rule
def pipelines_datasets(environment: Environment) -> Iterator[Finding]:
    """Folders of datasets belong to data classes that may be on the MLflow host.

    Source: Landbridge (docs/decisions/0006-data.md).
    """
    settings, served = environment.mlops.pipelines, service_hosts(environment)
    for name in settings.datasets if settings is not None else ():
        path, data_class = (*_PIPELINES, "datasets", name), environment.data_classes.get(name)
        if data_class is None:
            near = did_you_mean(name, environment.data_classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(environment.data_classes)}"
            yield error(path, f'unknown data class "{name}"', fix=fix, related=(("data_classes", "*", ""),))
        elif served.site not in data_class.sites:
            message = f"data of class {name} may not be on {served.mlops}, the MLflow host"
            yield error(path, message, fix="remove it", related=(("data_classes", name, "sites"),))
