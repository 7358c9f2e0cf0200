"""Plan of an on-prem rack as text: roles, packages, health checks, Slurm's lines and the acceptance ladder."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from landbridge.acceptance.rungs import RUNGS, AcceptanceSettings, groups, job
from landbridge.acceptance.site import environment_site
from landbridge.catalog import gpu_stack, platforms
from landbridge.environment import Environment, NodeGroup
from landbridge.hostlist import compress, expand
from landbridge.plan.ansible.acceptance import Threshold, bandwidth_thresholds, collective_thresholds
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.roles.nodes.nvidia_driver import driver_of, installs_driver, own_branch, software
from landbridge.plan.slurm.files import slurm_files
from tests.unit.racks.roles import host_variables, role_value, roles_of


def plan_text(environment: Environment) -> str:
    """Return the plan of an environment, for review."""
    planned = inventory(environment)
    lines = [f"rack {environment.name}", "", "roles", *_roles(planned)]
    groups_by_text: dict[str, list[str]] = {}
    for group in environment.node_groups:
        text = "\n".join([f"{group.platform}, {group.os}", *_node(environment, group, planned)])
        groups_by_text.setdefault(text, []).append(group.hosts)
    for text, hosts in groups_by_text.items():
        lines += ["", f"nodes {','.join(hosts)}: {text}"]
    lines += ["", "Slurm", *_slurm(environment), "", "ladder", *_ladder(environment)]
    return "\n".join(lines) + "\n"


def _roles(planned: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hosts that have the same roles, with these."""
    hosts_by_roles: dict[tuple[str, ...], list[str]] = {}
    for host in planned["_meta"]["hostvars"]:
        hosts_by_roles.setdefault(tuple(roles_of(planned, host)), []).append(host)
    for roles, hosts in hosts_by_roles.items():
        yield f"  {compress(hosts)}"
        for start in range(0, len(roles), 6):
            yield f"    {' '.join(roles[start : start + 6])}"


def _node(environment: Environment, group: NodeGroup, planned: Mapping[str, Any]) -> Iterator[str]:
    """Yield packages, IMEX and health checks of the group's first node."""
    variables = host_variables(planned, expand(group.hosts)[0])
    driver, platform = driver_of(environment), platforms()[group.platform]
    yield "  packages"
    if installs_driver(driver, group):
        gpu_software = software(driver, platform)
        system = gpu_stack().systems[_system(group.os)][driver.repository]
        yield f"    driver {gpu_software.branch}, {gpu_software.modules} modules, {driver.repository}'s repository"
        for name, version in gpu_software.packages(system).items():
            yield f"      {name} {version}".rstrip()
    else:
        branch = own_branch(driver)
        yield f"    driver of the operating system, {f'branch {branch}' if branch else 'any branch'}"
    if variables.get("landbridge_dcgm"):
        yield f"    dcgm: {' '.join(role_value('dcgm', 'dcgm_packages', variables))}"
    if variables.get("landbridge_container_toolkit"):
        yield f"    container toolkit: {' '.join(variables['nvidia_container_toolkit_packages'])}"
    if variables.get("landbridge_rdma"):
        packages = role_value("rdma", "rdma_packages", variables)[variables["rdma_stack"]]
        roce = [port["device"] for port in variables["rdma_roce"]]
        yield f"    rdma: {' '.join(packages)}" + (f"; RoCE on {' '.join(roce)}" if roce else "")
    names = variables.get("slurm_common_names", {})
    slurm = [package for name in ("slurmd", "slurm-client") for package in names.get(name, [name])]
    yield f"    slurm {variables['slurm_common_version']} of {variables['slurm_common_release']}: {' '.join(dict.fromkeys(slurm))}"
    if imex := variables.get("nvidia_fabric_imex_nodes"):
        yield f"  IMEX: {len(imex)} nodes, {imex[0]} to {imex[-1]}"
    yield "  health"
    yield from _health(variables)


def _system(name: str) -> str:
    """Return an operating system as gpu_stack.yaml writes it."""
    return name.title()


def _health(variables: Mapping[str, Any]) -> Iterator[str]:
    expected = {"driver_branch": variables["node_health_driver_branch"], **variables["node_health_expected"]}
    for key, value in expected.items():
        yield f"    {key}: {_value(value)}"


def _value(value: Any) -> str:
    """Return a value in a line: `key value, key value` for a mapping."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(part).replace(',', '')}" for key, part in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _slurm(environment: Environment) -> Iterator[str]:
    files = slurm_files(environment)
    for name in ("slurm.conf", "gres.conf"):
        starts = ("NodeName=", "PartitionName=", "AutoDetect=")
        for line in files[name].splitlines():
            if line.startswith(starts):
                yield f"  {name}: {line}"
    for name, text in files.items():
        if name.startswith("topology"):
            yield from (f"  {name}: {line}" for line in text.splitlines() if not line.startswith("#"))


def _ladder(environment: Environment) -> Iterator[str]:
    """Yield the rungs on all nodes, which are of one platform, with their thresholds."""
    site = environment_site(environment, None)
    names = list(site.platforms)
    platform = site.platforms[names[0]]
    domains = {site.domains.get(name, "") for name in names}
    one_domain = len(domains) == 1 and "" not in domains
    thresholds = {
        "driver": (f"{platform.gpus.count} GPUs, {platform.gpu.name}, {platform.gpu.memory_mib} MiB",),
        "dcgm": ("no failed test, no warning",),
        "bandwidth": _texts(bandwidth_thresholds(platform)),
        "nccl-node": _texts(collective_thresholds([platform])),
        "nccl-pairs": _texts(collective_thresholds([platform] * 2, one_domain=one_domain)),
        "nccl-all": _texts(collective_thresholds([platform] * len(names), one_domain=one_domain)),
        "storage": _texts(()),
        "training": ("the loss falls",),
    }
    for rung in RUNGS:
        if rung.site == "onprem" and (count := len(groups(rung, names))):
            yield f"  {rung.name}, {count} {'job' if count == 1 else 'jobs'}"
            yield from (f"    {text}" for text in thresholds[rung.name])
    (pairs,) = (rung for rung in RUNGS if rung.name == "nccl-pairs")
    settings = AcceptanceSettings(mpi="pmi2")
    words = job(pairs, groups(pairs, names)[0], platform.gpus.count, settings, wait=600, partition=site.partition)
    yield f"  {shlex.join(words)}"


def _texts(thresholds: tuple[Threshold, ...]) -> tuple[str, ...]:
    texts = (f"{row.measurement} {row.at_least:g} {row.unit} ({row.confidence})" for row in thresholds)
    return tuple(texts) or ("no threshold: unjudged",)
