"""Expected values of a healthy on-prem node, changes of its checks, and the check interval: plain values for the role
node_health.

Those of cloud nodes are in landbridge/plan/aws/node_health.py.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from landbridge import hostlist
from landbridge.catalog import Platform, generation, platforms, slurm_releases
from landbridge.catalog.hardware.health_checks import health_checks
from landbridge.catalog.hardware.xids import xids
from landbridge.environment import Environment, NodeGroup
from landbridge.environment.base import Scalar
from landbridge.environment.onprem.health import HealthChange
from landbridge.plan.site.adapters import common_ports, count_ports, expected_ports
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
    """Return the expected values of a platform. An absent key is not checked: it is not in the catalogue, or not installed.

    `gpus.links` are NVLinks of one GPU, `gpus.memory_mib` and the PCIe values as nvidia-smi prints them; `ports` are the
    numbers of InfiniBand ports by rate in Gb/s; `services` systemd units; `mounts` paths.
    """
    expectations: dict[str, Any] = {"gpus": _gpus(platform), "services": list(_services(platform))}
    expectations |= count_ports(common_ports(platform))
    mounts = [str(mount["mount"]) for mount in home_mounts(environment, None)] + site_mount_points(environment)
    if mounts:
        expectations["mounts"] = mounts
    return expectations


def expected_of(environment: Environment, platform: str, group: NodeGroup | None = None) -> dict[str, Any]:
    """Return the expected values by the platform's name, with the ports and changes of a node group.

    With MIG, `gpus.mig` counts the instances by profile.
    """
    expectations = expected(environment, platforms()[platform])
    if group is None:
        return expectations
    if group.mig:
        expectations["gpus"]["mig"] = dict(Counter(part.profile for part in mig_layout(group)))
    for key in ("ports", "ethernet_ports"):
        expectations.pop(key, None)
    expectations |= expected_ports(group)
    for change in group.health:
        _change(expectations, change)
    return expectations


def health_variables(environment: Environment, group: NodeGroup) -> dict[str, Any]:
    """Return a node's variables of the role node_health besides its expected values: failure budget, and the changes
    that the environment makes.
    """
    variables: dict[str, Any] = {"node_health_budget": failure_budget(environment)}
    if not group.health:
        return variables
    actions: dict[str, str] = {str(number): xid.action for number, xid in xids().items() if xid.drains}
    disks: dict[str, float] = {}
    for change in group.health:
        if change.check == "xid" and change.skip != "all":
            actions = {number: action for number, action in actions.items() if number not in change.skip}
            actions |= dict.fromkeys(change.add, "inspect")
        if change.check == "disk" and change.limit is not None:
            disks["/"] = change.limit
    return variables | {
        "node_health_skip": sorted({change.check for change in group.health if change.skip == "all"}),
        "node_health_xids": actions,
        "node_health_changes": [change_text(change) for change in group.health],
        **({"node_health_disks": disks} if disks else {}),
    }


def failure_budget(environment: Environment) -> int:
    """Return the number of on-prem nodes that health checks may drain at the same time: at least one."""
    site = environment.onprem
    total = sum(len(hostlist.expand(group.hosts)) for group in environment.node_groups)
    percent = site.max_drained_percent if site is not None else None
    return max(1, total * (percent or health_checks().budget.percent) // 100)


def change_text(change: HealthChange) -> str:
    """Return a change of a check as one sentence, with its reason."""
    if change.skip == "all":
        done = "is not checked"
    elif change.skip:
        done = f"does not cover {', '.join(change.skip)}"
    elif change.add:
        done = f"covers {', '.join(change.add)} too"
    else:
        done = f"has the limit {change.limit:g}"
    return f"{change.check} {done}: {change.reason}"


def _change(expectations: dict[str, Any], change: HealthChange) -> None:
    key = {"service": "services", "mount": "mounts"}.get(change.check)
    if key is not None:
        present = [entry for entry in expectations.get(key, []) if entry not in change.skip]
        expectations[key] = list(dict.fromkeys([*present, *change.add]))
    facts = health_checks().checks.get(change.check)
    if change.limit is not None and facts is not None and facts.limit is not None:
        part, _, name = facts.limit.key.partition(".")
        if part == "gpus":
            expectations["gpus"][name] = int(change.limit)


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
    if platform.fabric_manager or platform.imex:
        expectations |= {"fabric": True, "fabric_seconds": health_checks().fabric_seconds}
    return expectations


def _services(platform: Platform) -> tuple[str, ...]:
    """Return the systemd units by NVIDIA's names. Source: Fabric Manager user guide, 2.5; IMEX guide, installation."""
    services = {"nvidia-fabricmanager": platform.fabric_manager, "nvidia-imex": platform.imex}
    return tuple(name for name, is_used in services.items() if is_used)
