"""Slurm's topology: trees without a common root, because no job may ever span the two sites."""

from collections.abc import Sequence

from landbridge import hostlist
from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.plan.nodes import Nodes

ONPREM = "onprem"


def topology_file(environment: Environment, nodes: Sequence[Nodes]) -> tuple[str, str]:
    """Name and content: topology.yaml where Slurm reads it (since 25.05), else topology.conf."""
    leaves: dict[str, list[str]] = {}
    for group in nodes:
        leaves.setdefault(group.switch, []).extend(group.names)
    racks = [group.switch for group in nodes if group.site == "onprem"]
    racks = list(dict.fromkeys(racks))
    if slurm_releases()[environment.scheduler.slurm.version].topology_yaml:
        return "topology.yaml", _yaml(leaves, racks)
    return "topology.conf", _conf(leaves, racks)


def _yaml(leaves: dict[str, list[str]], racks: list[str]) -> str:
    lines = ["---", "- topology: sites", "  cluster_default: true"]
    if not leaves:
        return "\n".join([*lines, "  flat: true"]) + "\n"
    lines += ["  tree:", "    switches:"]
    for switch, names in leaves.items():
        lines += [f"      - switch: {switch}", f"        nodes: {hostlist.compress(names)}"]
    if len(racks) > 1:
        lines += [f"      - switch: {ONPREM}", f"        children: {','.join(racks)}"]
    return "\n".join(lines) + "\n"


def _conf(leaves: dict[str, list[str]], racks: list[str]) -> str:
    lines = [f"SwitchName={switch} Nodes={hostlist.compress(names)}" for switch, names in leaves.items()]
    if len(racks) > 1:
        lines.append(f"SwitchName={ONPREM} Switches={','.join(racks)}")
    return "".join(f"{line}\n" for line in lines)
