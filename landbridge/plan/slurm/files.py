"""Slurm's configuration files, from the environment alone: independent of reachable hosts and of built AWS resources."""

from collections.abc import Iterable

from landbridge import hostlist
from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.environment.base import Scalar
from landbridge.plan.site.containers import plugstack
from landbridge.plan.site.mig import instance_files
from landbridge.plan.slurm.conf import slurm_settings
from landbridge.plan.slurm.jobs.job_classes import class_lines
from landbridge.plan.slurm.jobs.job_submit import has_job_submit, job_submit_lua
from landbridge.plan.slurm.nodes import Nodes, cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import partition_lines
from landbridge.plan.slurm.setting_overrides import setting_text, with_overrides
from landbridge.plan.slurm.topology import topology_file

#: Device files of accelerators without their number, by the NVIDIA and the Neuron driver.
DEVICES = {"gpu": "/dev/nvidia", "neuron": "/dev/neuron"}
HEADER = "# Written by Landbridge from the environment {name}; change that file instead.\n"


def slurm_files(environment: Environment) -> dict[str, str]:
    """Return every file of Slurm's configuration folder, by name.

    Nodes fetch them from the controller (configless), so one set serves both sites.
    """
    nodes = (*onprem_nodes(environment), *cloud_nodes(environment))
    topology_name, topology = topology_file(environment, nodes)
    files = {
        "slurm.conf": slurm_conf(environment, nodes),
        "gres.conf": gres_conf(nodes),
        "cgroup.conf": cgroup_conf(environment),
        topology_name: topology,
    }
    texts = {name: HEADER.format(name=environment.name) + body for name, body in files.items()}
    if has_job_submit(environment):
        texts["job_submit.lua"] = job_submit_lua(environment, nodes)
    if plugins := plugstack(environment):
        texts["plugstack.conf"] = HEADER.format(name=environment.name) + plugins
    return texts


def slurm_conf(environment: Environment, nodes: Iterable[Nodes]) -> str:
    """Render slurm.conf without its header: settings, then nodes, then partitions."""
    nodes = tuple(nodes)
    settings = slurm_settings(environment, nodes)
    lines = [f"{key}={value}" for key, values in settings.items() for value in values]
    lines += ["", *(node_line(environment, group) for group in nodes)]
    lines += ["", *partition_lines(environment, nodes)]
    if classes := class_lines(environment):
        lines += ["", *classes]
    return "\n".join(lines) + "\n"


def gres_conf(nodes: Iterable[Nodes]) -> str:
    """Render gres.conf without its header, with explicit device files: AutoDetect does not work with cloud nodes."""
    return "\n".join(["AutoDetect=off", *(line for group in nodes for line in gres_lines(group))]) + "\n"


def gres_lines(nodes: Nodes) -> list[str]:
    """Return the lines of gres.conf of one group of nodes; none without accelerators."""
    accelerators = nodes.accelerators
    if accelerators is None:
        return []
    device, start = DEVICES[accelerators.kind], f"NodeName={nodes.hostlist} Name={accelerators.kind}"
    lines = []
    for numbers, cores in nodes.gpus_and_cores:
        files = hostlist.compress(tuple(f"{device}{number}" for number in numbers))
        lines.append(f"{start} Type={accelerators.type} File={files}{f' Cores={cores}' if cores else ''}")
    return [*lines, *(f"{start} {part}" for part in instance_files(accelerators.type, nodes.parts))]


def cgroup_conf(environment: Environment) -> str:
    """Render cgroup.conf without its header. ConstrainDevices isolates the GPUs of different jobs."""
    version = environment.scheduler.cgroup
    settings: dict[str, Scalar] = {
        "CgroupPlugin": f"cgroup/{version}",
        "ConstrainCores": "yes",
        "ConstrainRAMSpace": "yes",
        "ConstrainDevices": "yes",
    }
    if version == "v1":
        settings["CgroupMountpoint"] = "/sys/fs/cgroup"
    else:
        settings |= {"ConstrainSwapSpace": "yes", "AllowedSwapSpace": 0, "MaxRAMPercent": 98}
    merged = with_overrides(settings, environment.scheduler.overrides.cgroup_conf)
    return "".join(f"{key}={setting_text(value)}\n" for key, value in merged.items())


def node_line(environment: Environment, nodes: Nodes) -> str:
    """Return the NodeName line of one group of nodes."""
    fields: dict[str, Scalar] = {"NodeName": nodes.hostlist}
    if nodes.addresses:
        fields["NodeAddr"] = hostlist.compress(nodes.addresses)
    fields |= {
        "Sockets": nodes.sockets,
        "CoresPerSocket": nodes.cores_per_socket,
        "ThreadsPerCore": nodes.threads_per_core,
        "RealMemory": nodes.memory_mib,
        **_reserved(environment, nodes),
        **({"Gres": nodes.gres} if nodes.gres else {}),
        "Feature": ",".join(nodes.features),
        "Weight": nodes.weight,
    }
    if nodes.suspend_after is not None and _has_node_suspend_time(environment):
        fields["SuspendTime"] = nodes.suspend_after
    fields["State"] = "CLOUD" if nodes.site == "aws" else "UNKNOWN"
    # NodeName has to be the first key of its line.
    merged = with_overrides(fields, dict(nodes.settings))
    return " ".join(f"{key}={setting_text(value)}" for key, value in merged.items())


def _reserved(environment: Environment, nodes: Nodes) -> dict[str, Scalar]:
    """Return the memory and cores that jobs cannot use; a key with value 0 is left out."""
    release = slurm_releases()[environment.scheduler.slurm.version]
    lines = {
        "CoreSpecCount": nodes.reserved_cores,
        "MemSpecLimit": nodes.reserved_memory_mib,
        "RestrictedCoresPerGPU": nodes.cores_kept_for_gpus if release.restricted_cores else 0,
    }
    return {key: value for key, value in lines.items() if value}


def _has_node_suspend_time(environment: Environment) -> bool:
    """True if Slurm supports SuspendTime on a NodeName line (since 26.05)."""
    return slurm_releases()[environment.scheduler.slurm.version].node_suspend_time
