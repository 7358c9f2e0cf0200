"""Slurm's topology: trees without a common root, because no job may span both sites, and blocks for NVLink domains."""

from collections.abc import Iterable, Sequence

from landbridge import hostlist
from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.plan.slurm.nodes import Nodes

ONPREM = "onprem"
#: Topology of nodes in NVLink domains with several nodes; a partition with only such nodes uses it.
DOMAINS = "nvlink"
#: Topology of the pools in the topology.yaml of a Slurm that runs already; their partitions use it.
AWS_TREE = "landbridge"


def topology_file(environment: Environment, nodes: Sequence[Nodes]) -> tuple[str, str]:
    """Return file name and content: topology.yaml if Slurm supports it (since 25.05), else topology.conf with one
    topology.
    """
    leaves: dict[str, list[str]] = {}
    for group in nodes:
        leaves.setdefault(_leaf(group, nodes), []).extend(group.names)
    roots = _roots(nodes)
    blocks = _blocks(nodes)
    if _has_yaml(environment):
        return "topology.yaml", _yaml(leaves, roots) + _yaml_blocks(blocks)
    if _only_domains(nodes):
        return "topology.conf", _conf_blocks(blocks)
    return "topology.conf", _conf(leaves, roots)


def topology_plugin(environment: Environment, nodes: Sequence[Nodes]) -> str | None:
    """Return the TopologyPlugin setting; None with topology.yaml."""
    if _has_yaml(environment):
        return None
    return "topology/block" if _only_domains(nodes) else "topology/tree"


def queue_topology(environment: Environment, groups: Sequence[Nodes]) -> str | None:
    """Return the topology of a partition over these nodes; None: the cluster's default, the tree of switches.

    A partition with domains of both sites keeps the tree: Slurm combines blocks for large jobs, also of two sites.

    Slurm places a job in as few NVLink domains as possible: traffic between domains uses the network adapters. Source:
    Slurm's topology guide, topology/block; slurm.conf(5), Topology of a partition (since 25.05).
    """
    if environment.existing_slurm is not None:
        return None
    return DOMAINS if groups and _has_yaml(environment) and _only_domains(groups) else None


def _has_yaml(environment: Environment) -> bool:
    return slurm_releases()[environment.scheduler.slurm.version].topology_yaml


def _only_domains(nodes: Iterable[Nodes]) -> bool:
    """Return true if all nodes are in NVLink domains of one site."""
    groups = list(nodes)
    return len({group.site for group in groups}) == 1 and all(group.domain is not None for group in groups)


def _blocks(nodes: Iterable[Nodes]) -> dict[str, list[str]]:
    blocks: dict[str, list[str]] = {}
    for group in nodes:
        if group.domain is not None:
            blocks.setdefault(group.domain, []).extend(group.names)
    return blocks


def _block_size(blocks: dict[str, list[str]]) -> int:
    """Return the block size. Source: topology.conf(5), BlockSizes: no block has fewer nodes than the first size."""
    return min(len(names) for names in blocks.values())


def _kinds(nodes: Iterable[Nodes]) -> set[str]:
    """Return the kinds of the on-prem nodes' fabrics, of those that are known."""
    return {group.fabric for group in nodes if group.site == "onprem" and group.fabric is not None}


def _leaf(group: Nodes, nodes: Sequence[Nodes]) -> str:
    """Return the switch of a node group: its rack's, or its fabric's in a rack with InfiniBand and Ethernet."""
    in_rack = [other for other in nodes if other.switch == group.switch]
    return f"{group.switch}-{group.fabric}" if len(_kinds(in_rack)) > 1 and group.fabric else group.switch


def _roots(nodes: Sequence[Nodes]) -> dict[str, list[str]]:
    """Return the leaf switches of the on-prem site by the root above them.

    A site with an InfiniBand and an Ethernet fabric has a root for each, because no job may span both; racks whose
    fabric is not known have none then.
    """
    onprem, kinds = [group for group in nodes if group.site == "onprem"], _kinds(nodes)
    roots: dict[str, list[str]] = {}
    for group in onprem:
        root = ONPREM if len(kinds) <= 1 else f"{ONPREM}-{group.fabric}" if group.fabric else None
        leaf = _leaf(group, nodes)
        if root is not None and leaf not in roots.setdefault(root, []):
            roots[root].append(leaf)
    return {root: leaves for root, leaves in roots.items() if len(leaves) > 1}


def _yaml(leaves: dict[str, list[str]], roots: dict[str, list[str]]) -> str:
    lines = ["---", "- topology: sites", "  cluster_default: true"]
    if not leaves:
        return "\n".join([*lines, "  flat: true"]) + "\n"
    lines += ["  tree:", "    switches:"]
    for switch, names in leaves.items():
        lines += [f"      - switch: {switch}", f"        nodes: {hostlist.compress(names)}"]
    for root, children in roots.items():
        lines += [f"      - switch: {root}", f"        children: {','.join(children)}"]
    return "\n".join(lines) + "\n"


def _yaml_blocks(blocks: dict[str, list[str]]) -> str:
    if not blocks:
        return ""
    lines = [f"- topology: {DOMAINS}", "  cluster_default: false", "  block:", "    block_sizes:"]
    lines += [f"      - {_block_size(blocks)}", "    blocks:"]
    for name, members in blocks.items():
        lines += [f"      - block: {name}", f"        nodes: {hostlist.compress(members)}"]
    return "\n".join(lines) + "\n"


def _conf(leaves: dict[str, list[str]], roots: dict[str, list[str]]) -> str:
    lines = [f"SwitchName={switch} Nodes={hostlist.compress(names)}" for switch, names in leaves.items()]
    lines += [f"SwitchName={root} Switches={','.join(children)}" for root, children in roots.items()]
    return "".join(f"{line}\n" for line in lines)


def _conf_blocks(blocks: dict[str, list[str]]) -> str:
    lines = [f"BlockName={name} Nodes={hostlist.compress(members)}" for name, members in blocks.items()]
    return "".join(f"{line}\n" for line in [*lines, f"BlockSizes={_block_size(blocks)}"])
