"""Rules about what is beside the driver."""

from collections.abc import Iterator

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import Finding, error
from landbridge.plan.ansible.gpu_stack import software
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
    yield error(("onprem", "gpu_tools", "job_statistics"), message, fix=fix)


@rule
def gds_not_available(environment: Environment) -> Iterator[Finding]:
    """GPUDirect Storage is in NVIDIA's own repository, and its module works with the open kernel modules alone.

    Source: GPUDirect Storage installation guide, prerequisites; its release notes: nvidia-fs from 2.17.5 on.
    """
    site = environment.onprem
    if site is None or not site.gpu_tools.gds:
        return
    known = [platforms()[group.platform] for group in site.nodes if group.platform in platforms()]
    if not site.driver.install:
        message, fix = "with driver.install: false, nothing beside the driver is installed here", "leave it out"
    elif site.driver.repository != "nvidia":
        message, fix = "a distribution has no packages of GPUDirect Storage", "say driver: {repository: nvidia}"
    elif known and all(software(site.driver, one).modules != "open" for one in known):
        message, fix = "no node here has open kernel modules, which GPUDirect Storage needs", "leave it out"
    else:
        return
    yield error(("onprem", "gpu_tools", "gds"), message, fix=fix)
