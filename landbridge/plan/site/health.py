"""Expected values of a healthy on-prem node, and the check interval: plain values for the role node_health.

Those of cloud nodes are in landbridge/plan/aws/node_health.py.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from landbridge.catalog import Platform, generation, platforms, slurm_releases
from landbridge.environment import Environment, NodeGroup
from landbridge.environment.base import Scalar
from landbridge.plan.site.home_directories import home_mounts
from landbridge.plan.site.mig import mig_layout
from landbridge.plan.site.site_shares import site_mount_points

#: HealthCheckProgram of slurm.conf; the role node_health installs it on on-prem nodes and in the image of cloud nodes.
PROGRAM = "/opt/landbridge/bin/landbridge-node-health"
#: Seconds. A fault drains its node within one interval; the program only reads earlier results.
INTERVAL_SECONDS = 60
#: Seconds until Slurm treats the program as hung.
TIMEOUT_SECONDS = 30


def expected(environment: Environment, platform: Platform) -> dict[str, Any]:
    """Return the expected values. An absent key is not checked: it is not in the catalogue, or not installed.

    `gpus.links` are NVLinks of one GPU, `gpus.memory_mib` and the PCIe values as nvidia-smi prints them; `ports` are the
    numbers of InfiniBand ports by rate in Gb/s; `services` systemd units; `mounts` paths.
    """
    expectations: dict[str, Any] = {"gpus": _gpus(platform), "services": list(_services(platform))}
    ports: dict[str, int] = {}
    for adapter in platform.adapters:
        if adapter.kind == "infiniband":
            ports[str(adapter.gbps)] = ports.get(str(adapter.gbps), 0) + adapter.count
    if ports:
        expectations["ports"] = ports
    mounts = [str(mount["mount"]) for mount in home_mounts(environment, None)] + site_mount_points(environment)
    if mounts:
        expectations["mounts"] = mounts
    return expectations


def expected_of(environment: Environment, platform: str, group: NodeGroup | None = None) -> dict[str, Any]:
    """Return the expected values by the platform's name; with MIG, `gpus.mig` counts the instances by profile."""
    expectations = expected(environment, platforms()[platform])
    if group is not None and group.mig:
        expectations["gpus"]["mig"] = dict(Counter(part.profile for part in mig_layout(group)))
    return expectations


def health_settings(environment: Environment) -> Mapping[str, Scalar]:
    """Return HealthCheck settings of slurm.conf, the same for on-prem and cloud nodes; empty without nodes.

    ANY: after a fault during a job, the node must not get the next job. CYCLE is not needed, because the program takes
    milliseconds.
    Source: slurm.conf(5), HealthCheckNodeState; slurmctld of 26.05 requires HealthCheckTimeout (default 60) to be less
    than the interval.
    """
    if not environment.node_groups and not environment.aws.pools:
        return {}
    timeout = slurm_releases()[environment.scheduler.slurm.version].health_check_timeout
    return {
        "HealthCheckProgram": PROGRAM,
        "HealthCheckInterval": INTERVAL_SECONDS,
        **({"HealthCheckTimeout": TIMEOUT_SECONDS} if timeout else {}),
        "HealthCheckNodeState": "ANY",
    }


def _gpus(platform: Platform) -> dict[str, Any]:
    gpu = platform.gpu
    expectations: dict[str, Any] = {
        "count": platform.gpus.count,
        "type": gpu.type,
        "name": gpu.name,
        "memory_mib": gpu.memory_mib,
        "errors": generation(gpu).errors,
    }
    if gpu.pcie is not None:
        expectations |= {"pcie_generation": gpu.pcie.generation, "pcie_width": gpu.pcie.width}
    if gpu.nvlink is not None:
        expectations["links"] = gpu.nvlink.links
    return expectations


def _services(platform: Platform) -> tuple[str, ...]:
    """Return the systemd units by NVIDIA's names. Source: Fabric Manager user guide, 2.5; IMEX guide, installation."""
    services = {"nvidia-fabricmanager": platform.fabric_manager, "nvidia-imex": platform.imex}
    return tuple(name for name, is_used in services.items() if is_used)
