"""Rules about DCGM and GPUDirect Storage."""

from collections.abc import Iterator

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import Finding, error
from landbridge.plan.roles.nodes.nvidia_driver import installs_driver, software
from landbridge.rules.registry import rule


@rule
def statistics_without_dcgm(environment: Environment) -> Iterator[Finding]:
    """job_statistics needs DCGM, which Landbridge installs beside its driver.

    Source: NVIDIA DCGM user guide, "Process and Job Statistics".
    """
    site = environment.onprem
    if site is None or not site.gpu_tools.job_statistics:
        return
    if not any(installs_driver(site.driver, group) for group in site.nodes):
        message = "job_statistics needs DCGM, which is not installed beside a driver of the operating system"
        fix = "remove it"
    elif not site.gpu_tools.dcgm:
        message, fix = "job_statistics needs DCGM, and dcgm is false", "write dcgm: true"
    else:
        return
    yield error(("onprem", "gpu_tools", "job_statistics"), message, fix=fix)


@rule
def gds_not_available(environment: Environment) -> Iterator[Finding]:
    """GPUDirect Storage needs NVIDIA's repository and open kernel modules.

    Source: GPUDirect Storage installation guide, prerequisites; its release notes: nvidia-fs from 2.17.5 on.
    """
    site = environment.onprem
    if site is None or not site.gpu_tools.gds:
        return
    groups = [group for group in site.nodes if installs_driver(site.driver, group)]
    site_platforms = [platforms()[group.platform] for group in groups if group.platform in platforms()]
    if not groups:
        message, fix = "GPUDirect Storage is not installed beside a driver of the operating system", "remove it"
    elif site.driver.repository != "nvidia":
        message, fix = "a distribution has no packages of GPUDirect Storage", "write driver: {repository: nvidia}"
    elif site_platforms and all(software(site.driver, platform).modules != "open" for platform in site_platforms):
        message, fix = "GPUDirect Storage needs open kernel modules, and no node has them", "remove it"
    else:
        return
    yield error(("onprem", "gpu_tools", "gds"), message, fix=fix)
