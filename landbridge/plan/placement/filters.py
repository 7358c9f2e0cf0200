"""Hard filters of a destination: residency and regime, class, partition, gravity, GPU fit, deadline, purchase option."""

import math
import re
from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.environment.base import Site
from landbridge.plan.placement.destinations import SAGEMAKER, Destination
from landbridge.plan.placement.job import PlacementJob
from landbridge.plan.placement.refusal import DestinationRefusal
from landbridge.plan.placement.residency import residency_refusals
from landbridge.plan.placement.timing import Timing
from landbridge.plan.placement.training import training_refusals
from landbridge.plan.slurm.jobs.workloads import workload_instruments, workload_of, workload_sites
from landbridge.plan.slurm.partitions import OPERATORS, default_partition

_SITES: dict[Site, str] = {"onprem": "on-prem", "aws": "in AWS"}


def workload(environment: Environment, job: PlacementJob) -> str:
    """Return the job's workload class: its own, else the one that its labels select."""
    return job.workload or workload_of(environment, job.labels)


def site_refusals(
    environment: Environment, job: PlacementJob, site: Site, region: str = ""
) -> Iterator[DestinationRefusal]:
    """Yield the reasons of residency, regime and workload class why a job may not run at a site, or in a region.

    These are the filters that job_submit.lua, the burst controller and the service control policy enforce too, each as
    far as it knows the job; a test compares them.
    """
    yield from residency_refusals(environment, job, site, region)
    name = workload(environment, job)
    # Operators' own tests belong to no class, as in job_submit.lua.
    if site not in workload_sites(environment, name) and (job.account != OPERATORS or job.workload):
        yield DestinationRefusal(
            "class", f"jobs of class {name} do not run {_SITES[site]}", f"placement.classes.{name}, or its default"
        )


def refusals(
    environment: Environment,
    job: PlacementJob,
    destination: Destination,
    timing: Timing,
    left_usd: float | None = None,
) -> Iterator[DestinationRefusal]:
    """Yield every reason why a job may not run at a destination, in the order of the filters. `left_usd`: see SiteState."""
    yield from site_refusals(environment, job, destination.site, destination.region)
    yield from _gravity(environment, timing)
    if destination.instrument == SAGEMAKER:
        yield from training_refusals(environment, job, destination, left_usd)
    else:
        yield from _partition(environment, job, destination)
        yield from _gpu(job, destination)
    if job.deadline_hours is not None and timing.end_hours > job.deadline_hours:
        text = f"it would end after {timing.end_hours:.1f} h, and its deadline is in {job.deadline_hours:g} h"
        yield DestinationRefusal("deadline", text, "the job's deadline_hours")
    name = workload(environment, job)
    if destination.instrument not in workload_instruments(environment, name):
        words = destination.instrument.replace("_", " ")
        text = f"jobs of class {name} do not use {words} capacity"
        yield DestinationRefusal("instrument", text, f"placement.classes.{name}, or its default")


def _partition(environment: Environment, job: PlacementJob, destination: Destination) -> Iterator[DestinationRefusal]:
    if not job.partition and environment.existing_slurm is not None:
        return  # the default partition is in the site's own slurm.conf
    names = re.findall(r"[^,\s]+", job.partition) or [default_partition(environment)]
    if not destination.partitions & set(names):
        reaching = ", ".join(sorted(destination.partitions)) or "none"
        text = f"partition {', '.join(names)} has no node there; partitions that have: {reaching}"
        yield DestinationRefusal("partition", text, "scheduler.partitions")


def _gravity(environment: Environment, timing: Timing) -> Iterator[DestinationRefusal]:
    limit = environment.placement.gravity_gb
    if limit is not None and timing.staged_gb > limit:
        text = f"{timing.staged_gb:,.0f} GB would have to be copied there, and the limit is {limit:,.0f} GB"
        yield DestinationRefusal("gravity", text, "placement.gravity_gb")
    if timing.staged_gb > 0 and environment.link is None:
        yield DestinationRefusal("gravity", "its data is at the other site, and there is no link", "link")


def _gpu(job: PlacementJob, destination: Destination) -> Iterator[DestinationRefusal]:
    if job.gpu and job.gpu != destination.gpu:
        yield DestinationRefusal("gpu", f"it has {destination.gpu}, and the job needs {job.gpu}", "the job's gpu")
    memory = (destination.gpu_memory_mib or 0) / 1024
    if job.gpu_memory_gib > memory:
        text = f"a GPU has {memory:g} GiB of memory, and the job needs {job.gpu_memory_gib:g}"
        yield DestinationRefusal("gpu", text, "the job's gpu_memory_gib")
    needed_nodes = math.ceil(job.gpus / destination.node_gpus)
    if needed_nodes > destination.nodes:
        text = f"{job.gpus} GPUs are {needed_nodes} nodes, and it has {destination.nodes}"
        yield DestinationRefusal("gpu", text, "the job's gpus")
