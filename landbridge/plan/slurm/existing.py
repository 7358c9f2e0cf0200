"""Files that Landbridge adds to a Slurm that runs already: settings of bursting, and the pools' nodes and partitions.

slurm.conf, gres.conf and topology.conf of the site name them by `Include`. Configless slurmctld sends an included file
to nodes only if its name has no path and it is beside slurm.conf (slurm.schedmd.com/configless_slurm.html).
"""

from collections.abc import Sequence

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.plan.slurm.conf import slurm_settings
from landbridge.plan.slurm.files import HEADER, gres_lines, node_line
from landbridge.plan.slurm.nodes import Nodes, cloud_nodes
from landbridge.plan.slurm.partitions import partition_lines
from landbridge.plan.slurm.topology import AWS_TREE

CONF, GRES, TOPOLOGY, TOPOLOGY_YAML, HOSTS = (
    "landbridge.conf",
    "landbridge-gres.conf",
    "landbridge-topology.conf",
    "landbridge-topology.yaml",
    "landbridge-hosts",
)
#: Settings of the whole cluster that bursting needs. SuspendTime is in the partitions of the pools.
SETTINGS = (
    "GresTypes",
    "AccountingStorageTRES",
    "SlurmctldParameters",
    "ResumeProgram",
    "SuspendProgram",
    "ResumeFailProgram",
    "PrologSlurmctld",
    "ResumeTimeout",
    "ResumeRate",
    "SuspendTimeout",
    "SuspendRate",
    "SuspendExcNodes",
    "SuspendExcStates",
    "ReconfigFlags",
    "PrivateData",
)


def existing_settings(environment: Environment) -> dict[str, str]:
    """Return every setting of the whole cluster that bursting needs, also those that the site's slurm.conf sets."""
    settings = slurm_settings(environment, cloud_nodes(environment))
    return {key: settings[key][0] for key in SETTINGS if key in settings}


def existing_files(environment: Environment) -> dict[str, str]:
    """Return the files by name; empty if Landbridge configures the whole site.

    All are beside slurm.conf, except that the lines of topology.yaml and of /etc/hosts are added to these files.
    """
    existing, nodes = environment.existing_slurm, cloud_nodes(environment)
    if existing is None:
        return {}
    own_keys = {key.casefold() for key in existing.sets}
    settings = {key: value for key, value in existing_settings(environment).items() if key.casefold() not in own_keys}
    lines = [f"{key}={value}" for key, value in settings.items()]
    lines += ["", *(node_line(environment, group) for group in nodes)]
    lines += ["", *partition_lines(environment, nodes)]
    header = HEADER.format(name=environment.name)
    files = {CONF: header + "\n".join(lines) + "\n"}
    if devices := _devices(nodes):
        files[GRES] = header + "".join(f"{line}\n" for line in devices)
    if existing.topology == "tree":
        files[TOPOLOGY] = header + "".join(f"SwitchName={group.switch} Nodes={group.hostlist}\n" for group in nodes)
    elif existing.topology == "yaml":
        files[TOPOLOGY_YAML] = header + _yaml(nodes)
    # Debian's and Ubuntu's slurmctld tries to resolve an unknown name for ten seconds, and holds its locks meanwhile.
    files[HOSTS] = header + "".join(f"0.0.0.1 {name}\n" for group in nodes for name in group.names)
    return files


def _devices(nodes: Sequence[Nodes]) -> list[str]:
    """Return the lines of gres.conf, each with AutoDetect=off, which applies to its nodes only.

    Source: gres.conf(5), AutoDetect: a node's value takes precedence, and it cannot be used with cloud nodes.
    """
    return [
        line.replace(f"NodeName={group.hostlist} ", f"NodeName={group.hostlist} AutoDetect=off ", 1)
        for group in nodes
        for line in gres_lines(group)
    ]


def _yaml(nodes: Sequence[Nodes]) -> str:
    """Return one topology for topology.yaml: a switch for each pool. It is not the cluster's default."""
    lines = [f"- topology: {AWS_TREE}", "  cluster_default: false", "  tree:", "    switches:"]
    for group in nodes:
        lines += [f"      - switch: {group.switch}", f"        nodes: {hostlist.compress(group.names)}"]
    return "\n".join(lines) + "\n"
