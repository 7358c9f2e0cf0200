"""Rules about what is beside the driver."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.rules.registry import rule


@rule
def statistics_without_dcgm(environment: Environment) -> Iterator[Finding]:
    """Statistics of jobs' GPUs are DCGM's, which has to be installed here.

    Source: NVIDIA DCGM user guide, "Process and Job Statistics".
    """
    site = environment.onprem
    if site is None or not site.gpu_tools.job_statistics:
        return
    if not site.driver.install:
        message, fix = (
            "jobs leave no statistics: with driver.install: false, DCGM is not installed here",
            "leave it out",
        )
    elif not site.gpu_tools.dcgm:
        message, fix = "jobs leave no statistics without DCGM", "say dcgm: true"
    else:
        return
    yield Finding("statistics-without-dcgm", message, ("onprem", "gpu_tools", "job_statistics"), fix)
