"""Choice of a training job's instance type, and its price. Pure.

The types of SageMaker are those of EC2 with the prefix `ml.`; their GPUs are facts of the EC2 type.
"""

from dataclasses import dataclass

from landbridge.catalog import instances
from landbridge.catalog.models.training_jobs import training_facts
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.plan.training.batch_job import BatchJob

PREFIX = "ml."


@dataclass(frozen=True, slots=True)
class TrainingInstance:
    """Instance type of a job, and its price. `has_disk`: it has NVMe disks of its own, which take no key of KMS."""

    name: str
    usd_hour: float
    has_disk: bool
    quota: str


def training_usd_hour(environment: Environment, name: str) -> float | None:
    """Return the price of an instance type: the environment's own, else the catalogue's; None if none is known."""
    sagemaker = environment.mlops.sagemaker
    agreed = sagemaker.usd_hour.get(name) if sagemaker is not None else None
    return agreed if agreed is not None else training_facts().usd_hour(environment.region, name)


def training_instance(
    environment: Environment, job: BatchJob, requested: str | None = None, *, spot: bool = False
) -> TrainingInstance | Finding:
    """Return the requested instance type, or the cheapest one with the job's GPUs; a finding without a known price."""
    names = [requested] if requested else known_types(environment)
    priced = {name: usd for name in names if (usd := training_usd_hour(environment, name)) is not None}
    if requested is not None and requested not in priced:
        message = f"{requested}: no known price in {environment.region}, so the budget cannot hold the job's cost"
        fix = f"state the price that AWS lists: mlops.sagemaker.usd_hour: {{{requested}: USD}}"
        return Finding("training-price", message, fix=fix)
    fitting = [name for name in priced if requested is not None or _fits(name, job)]
    if not fitting:
        model = f"{job.gpu} " if job.gpu else ""
        message = f"no instance type with {job.gpus} {model}GPUs has a known price in {environment.region}"
        return Finding("training-price", message, fix="give --instance-type, and its price in mlops.sagemaker.usd_hour")
    best = min(fitting, key=lambda name: (priced[name], name))
    kind = instances().get(best.removeprefix(PREFIX))
    if kind is not None and training_gpus(best) < job.gpus:
        message = f"{best} has {training_gpus(best)} GPUs, and the job needs {job.gpus} on a node"
        return Finding("training-instance", message, fix="omit --instance-type, or name a larger type")
    quotas = training_facts().quotas
    quota = (quotas.spot if spot else quotas.on_demand).format(type=best)
    return TrainingInstance(best, priced[best], has_disk=kind is None or bool(kind.nvme_gb), quota=quota)


def known_types(environment: Environment) -> list[str]:
    """Return the instance types with a known price."""
    sagemaker, prices = environment.mlops.sagemaker, training_facts().prices.get(environment.region)
    agreed = sagemaker.usd_hour if sagemaker is not None else {}
    return sorted({*agreed, *(prices.usd_hour if prices is not None else {})})


def _fits(name: str, job: BatchJob) -> bool:
    kind = instances().get(name.removeprefix(PREFIX))
    if kind is None or kind.accelerators is None or kind.accelerators.kind != "gpu":
        return False
    return kind.accelerators.count >= job.gpus and job.gpu in ("", kind.accelerators.type)


def training_gpus(name: str) -> int:
    """Return the GPUs of an instance type; 0 for an unknown one."""
    kind = instances().get(name.removeprefix(PREFIX))
    return kind.accelerators.count if kind is not None and kind.accelerators is not None else 0
