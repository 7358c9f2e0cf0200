"""SageMaker as a destination of a job: the instance type that costs least for it. Pure."""

import math

from landbridge.catalog import instances
from landbridge.catalog.models.training_jobs import training_facts
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.plan.placement.destinations import SAGEMAKER, Destination
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.training.batch_job import BatchJob
from landbridge.plan.training.instances import (
    PREFIX,
    known_types,
    training_gpus,
    training_instance,
    training_usd_hour,
)

#: More nodes than a job has: AWS's quota of the instance type decides at the submission.
_NODES = 1_000_000


def batch_placement(job: BatchJob) -> PlacementJob:
    """Return a job file's job as a job of the placement."""
    return PlacementJob(
        account=job.account,
        gpus=job.gpus * job.nodes,
        hours=job.seconds / 3600,
        name=job.name,
        partition=job.partition,
        comment=job.comment,
        wckey=job.wckey,
        gpu=job.gpu,
    )


def training_destinations(
    environment: Environment, job: PlacementJob, batch: BatchJob | None = None, instance_type: str | None = None
) -> tuple[Destination, ...]:
    """Return SageMaker as a destination; none without the key `mlops.sagemaker`.

    With `batch` its instance type is that of the submission; otherwise the one with the lowest cost for the GPUs of all nodes. Without a
    known price the destination has none, and is refused.
    """
    if environment.mlops.sagemaker is None:
        return ()
    region = environment.region
    if batch is not None:
        chosen = training_instance(environment, batch, instance_type)
        if isinstance(chosen, Finding):
            return (_destination(region, "", chosen.message, None, 1),)
        return (_destination(region, chosen.name, _basis(environment, chosen.name), chosen.usd_hour, batch.gpus),)
    fitting = [name for name in known_types(environment) if _fits(name, job)]
    if not fitting:
        model = f"{job.gpu} " if job.gpu else ""
        text = f"no instance type with {model}GPUs has a known price in {region}"
        return (_destination(region, "", text, None, 1),)
    best = min(fitting, key=lambda name: (_usd_hour(environment, name, job), name))
    basis, usd = _basis(environment, best), training_usd_hour(environment, best)
    return (_destination(region, best, basis, usd, training_gpus(best)),)


def _destination(region: str, name: str, basis: str, usd: float | None, node_gpus: int) -> Destination:
    kind = instances().get(name.removeprefix(PREFIX))
    accelerators = kind.accelerators if kind is not None else None
    return Destination(
        name=f"sagemaker {name or 'training'} {region}",
        site="aws",
        region=region,
        pool="",
        instrument=SAGEMAKER,
        gpu=accelerators.type if accelerators is not None else "",
        gpu_memory_mib=accelerators.memory_mib if accelerators is not None else None,
        node_gpus=node_gpus,
        nodes=_NODES,
        usd_hour=usd,
        basis=basis,
        boot_hours=training_facts().start_seconds / 3600,
        partitions=frozenset(),
    )


def _basis(environment: Environment, name: str) -> str:
    facts, sagemaker = training_facts(), environment.mlops.sagemaker
    usd, prices = training_usd_hour(environment, name), facts.prices.get(environment.region)
    is_agreed = sagemaker is not None and name in sagemaker.usd_hour
    since = "mlops.sagemaker.usd_hour" if is_agreed or prices is None else str(prices.as_of)
    quota = facts.quotas.on_demand.format(type=name)
    return f'{name}, {usd or 0.0:,.2f} USD an hour, {since}; AWS compares its quota "{quota}" at the submission'


def _usd_hour(environment: Environment, name: str, job: PlacementJob) -> float:
    return math.ceil(job.gpus / training_gpus(name)) * (training_usd_hour(environment, name) or 0.0)


def _fits(name: str, job: PlacementJob) -> bool:
    kind = instances().get(name.removeprefix(PREFIX))
    if kind is None or kind.accelerators is None or kind.accelerators.kind != "gpu":
        return False
    memory = (kind.accelerators.memory_mib or 0) / 1024
    return job.gpu in ("", kind.accelerators.type) and job.gpu_memory_gib <= memory
