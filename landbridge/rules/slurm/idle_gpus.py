"""Rules about `scheduler.idle_gpus`."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error
from landbridge.plan.slurm.jobs.workloads import OTHER
from landbridge.plan.slurm.partitions import partition_names
from landbridge.rules.registry import rule

_IDLE: DataPath = ("scheduler", "idle_gpus")


@rule
def unknown_in_idle_gpus(environment: Environment) -> Iterator[Finding]:
    """Accounts, workload classes and partitions of `scheduler.idle_gpus` exist.

    The action of an unknown name never applies, and the default action ends its jobs.
    Source: Landbridge: `landbridge idle step` compares names.
    """
    settings = environment.scheduler.idle_gpus
    classes = {*(name for name, _ in environment.placement.classes.items()), OTHER}
    for key, names, known in (
        ("accounts", settings.accounts, set(environment.scheduler.accounts)),
        ("classes", settings.classes, classes),
        ("partitions", settings.partitions, set(partition_names(environment))),
    ):
        # The accounts and partitions of a Slurm that runs already are not in the file.
        is_elsewhere = environment.existing_slurm is not None and key != "classes"
        for name in names:
            if name not in known and not is_elsewhere:
                near = did_you_mean(name, sorted(known))
                fix = f'did you mean "{near}"?' if near else f"known: {', '.join(sorted(known)) or 'none'}"
                yield error((*_IDLE, key, name), f'there is no "{name}" among the {key}', fix=fix)
