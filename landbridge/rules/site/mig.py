"""Rules about MIG partitioning of GPUs."""

from collections.abc import Iterator

from landbridge.catalog import platforms
from landbridge.catalog.hardware.mig import mig_profiles
from landbridge.environment import Environment
from landbridge.findings import Finding, error
from landbridge.plan.site.mig import gpu_numbers, mig_layout
from landbridge.rules.registry import rule


@rule
def mig_layout_fits(environment: Environment) -> Iterator[Finding]:
    """MIG instances have profiles of the GPU, fit its memory, and are written once for each GPU.

    Source: NVIDIA Multi-Instance GPU user guide, "Supported MIG Profiles" and "Partitioning", as in
    landbridge/catalog/mig.yaml.
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms():
            continue
        for number in range(len(group.mig)):
            # Layouts up to this part, so that the finding is at the first invalid part.
            try:
                mig_layout(group.model_copy(update={"mig": group.mig[: number + 1]}))
            except ValueError as problem:
                profiles = ", ".join(mig_profiles(platforms()[group.platform].gpu_model))
                fix = f"use one of the profiles {profiles}" if profiles else "remove mig"
                yield error(("onprem", "nodes", index, "mig", number), str(problem), fix=fix)
                break


@rule
def mig_gpu_order(environment: Environment) -> Iterator[Finding]:
    """MIG GPUs of a node come after its whole GPUs.

    Slurm numbers a whole GPU by its device file and a part by its position in gres.conf: only in
    this order are the numbers unique, so that the epilog resets the job's own GPUs.
    Source: observed with Slurm 24.11 (SLURM_STEP_GPUS of jobs with MultipleFiles next to File).
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms():
            continue
        count = platforms()[group.platform].gpus.count
        partitioned = {number for part in group.mig for number in gpu_numbers(part.gpus, count)}
        whole = [number for number in range(count) if number not in partitioned]
        if partitioned and whole and max(whole) > min(partitioned):
            message = f"GPU {min(partitioned)} has MIG instances, and GPU {max(whole)} after it is whole"
            fix = f"partition {count - len(partitioned)}-{count - 1} instead"
            yield error(("onprem", "nodes", index, "mig"), message, fix=fix)
