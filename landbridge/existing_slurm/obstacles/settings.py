"""Findings about settings of the whole cluster: release, selection of nodes, authentication, ports and power saving."""

from collections.abc import Iterator

from landbridge.catalog import slurm_releases
from landbridge.catalog.slurm.keys import slurm_keys
from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
#: Seconds. Source: slurm.conf(5), SlurmdTimeout: default. Landbridge sets 900 on clusters that it configures.
_SLURMD_TIMEOUT_SECONDS, _LONG_TIMEOUT_SECONDS = 300, 900
#: slurm.conf(5): parts of power saving that a second program or a time limit of the whole cluster would change.
_POWER_SAVING = (
    "ResumeProgram",
    "SuspendProgram",
    "ResumeFailProgram",
    "SuspendTime",
    "SuspendExcNodes",
    "SuspendExcParts",
    "SuspendExcStates",
    "ResumeTimeout",
    "SuspendTimeout",
    "ResumeRate",
    "SuspendRate",
)
#: Keys that the parser still reads, and the names of the same host in new releases.
_STILL_READ = frozenset({"controlmachine", "controladdr", "backupcontroller", "backupaddr", "cryptotype"})


def setting_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about settings of slurm.conf and cgroup.conf."""
    if request.version not in slurm_releases():
        releases = ", ".join(slurm_releases())
        message = f"Slurm {request.release} is not supported; supported: {releases}"
        fix = "upgrade Slurm first (slurm.schedmd.com/upgrades.html)"
        yield placed("unsupported-release", ERROR, cluster.at(), message, fix)
    yield from _removed(cluster)
    yield from _selection(cluster)
    yield from _identity(cluster)
    yield from _network(cluster)
    yield from _power_saving(cluster)
    yield from _topology(cluster, request)
    yield from _nodes_behaviour(cluster)


def _removed(cluster: ExistingCluster) -> Iterator[Finding]:
    removed = {key.casefold(): replacement for key, replacement in slurm_keys().removed.items()}
    for key, pairs in (*cluster.settings.items(), *cluster.cgroup.items()):
        if key in removed:
            old = "is an old name" if key in _STILL_READ else "has no effect in supported releases"
            message, fix = f"{pairs[0].key} {old}", f"use instead: {removed[key]}"
            yield placed("removed-setting", WARNING, pairs[0].at, message, fix)


def _selection(cluster: ExistingCluster) -> Iterator[Finding]:
    select = cluster.value("SelectType", "select/cons_tres").casefold()
    if select != "select/cons_tres":
        message = f"SelectType={cluster.value('SelectType')} cannot allocate single GPUs"
        fix = "set SelectType=select/cons_tres; running jobs are lost when it changes, so drain the cluster first"
        yield placed("select-type", ERROR, cluster.at("SelectType"), message, fix)
    parameters = cluster.words("SelectTypeParameters")
    if not any("memory" in word for word in parameters):
        message = "memory is not allocated to jobs: a job may use the memory of all others on its node"
        fix = "set SelectTypeParameters=CR_Core_Memory"
        yield placed("memory-not-allocated", INFO, cluster.at("SelectTypeParameters", "SelectType"), message, fix)
    if cluster.value("ProctrackType", "proctrack/cgroup").casefold() != "proctrack/cgroup":
        message = f"{cluster.value('ProctrackType')} does not end all processes of a job"
        yield placed("process-tracking", WARNING, cluster.at("ProctrackType"), message, "set proctrack/cgroup")
    # Source: src/interfaces/task.c, task_g_init: the prefix task/ may be missing.
    if "cgroup" not in {word.removeprefix("task/") for word in cluster.words("TaskPlugin")}:
        message = "without task/cgroup a job sees the GPUs of other jobs on its node"
        fix = "set TaskPlugin=task/cgroup,task/affinity, and ConstrainDevices=yes in cgroup.conf"
        yield placed("task-plugin", WARNING, cluster.at("TaskPlugin"), message, fix)
    plugin = next((pair for pair in reversed(cluster.cgroup.get("cgroupplugin", ()))), None)
    if plugin is not None and plugin.value.casefold() == "cgroup/v1":
        message = (
            "CgroupPlugin=cgroup/v1 is valid for nodes in AWS too, which boot with cgroup v2: slurmd does not start"
        )
        yield placed("cgroup-version", ERROR, plugin.at, message, "set CgroupPlugin=autodetect")


def _identity(cluster: ExistingCluster) -> Iterator[Finding]:
    auth = cluster.value("AuthType", "auth/munge").casefold()
    if auth not in ("auth/munge", "auth/slurm"):
        message = f"AuthType={cluster.value('AuthType')} is not supported"
        yield placed("authentication", ERROR, cluster.at("AuthType"), message, "use auth/munge or auth/slurm")
    user = cluster.value("SlurmUser", "root")
    if user != "slurm":
        message = f"SlurmUser is {user}: the burst controller and slurmd in AWS use the account slurm"
        fix = "change SlurmUser to slurm, with StateSaveLocation and log files of this account"
        yield placed("slurm-user", ERROR, cluster.at("SlurmUser"), message, fix)
    if cluster.value("SlurmdUser", "root") != "root":
        message = "slurmd does not run as root"
        yield placed("slurmd-user", ERROR, cluster.at("SlurmdUser"), message, "remove SlurmdUser")
    if cluster.pair("PluginDir") is not None:
        message = f"PluginDir={cluster.value('PluginDir')} is valid for nodes in AWS too, whose packages have another"
        fix = "remove PluginDir: each build of Slurm knows its own folder"
        yield placed("plugin-directory", ERROR, cluster.at("PluginDir"), message, fix)


def _network(cluster: ExistingCluster) -> Iterator[Finding]:
    for key, port in (("SlurmctldPort", SLURMCTLD_PORT), ("SlurmdPort", SLURMD_PORT)):
        if cluster.value(key, str(port)) != str(port):
            message = f"{key}={cluster.value(key)}: the security groups permit port {port}"
            yield placed("slurm-port", ERROR, cluster.at(key), message, f"use port {port}")
    if "disableipv4" in cluster.words("CommunicationParameters"):
        message = "CommunicationParameters=DisableIPv4: the link and the pools use IPv4"
        yield placed("ipv4-disabled", ERROR, cluster.at("CommunicationParameters"), message, "remove DisableIPv4")
    # Source: slurm.conf(5), SlurmctldParameters: without cloud_dns slurmctld uses the address that a node registers with.
    if "cloud_dns" in cluster.words("SlurmctldParameters"):
        message = "SlurmctldParameters=cloud_dns: slurmctld then resolves names of nodes in AWS, which are in no DNS"
        fix = "remove cloud_dns, so that a node registers with its address"
        yield placed("cloud-dns", ERROR, cluster.at("SlurmctldParameters"), message, fix)
    if cluster.pair("SrunPortRange") is None:
        message = "without SrunPortRange tasks in AWS connect to any port of a login host"
        fix = "set SrunPortRange=60001-63000 and permit these ports in the site's firewall, or permit 1024-65535"
        yield placed("srun-ports", WARNING, cluster.at(), message, fix)
    timeout = cluster.value("SlurmdTimeout", str(_SLURMD_TIMEOUT_SECONDS))
    if timeout.isdigit() and 0 < int(timeout) < _LONG_TIMEOUT_SECONDS:
        message = f"an outage of the link of more than {timeout} s ends the jobs in AWS"
        fix = f"set SlurmdTimeout={_LONG_TIMEOUT_SECONDS}"
        yield placed("slurmd-timeout", WARNING, cluster.at("SlurmdTimeout"), message, fix)


def _power_saving(cluster: ExistingCluster) -> Iterator[Finding]:
    for key in _POWER_SAVING:
        pair = cluster.pair(key)
        if pair is None or (key == "SuspendTime" and pair.value.casefold() in ("-1", "infinite")):
            continue
        message = f"{key}={pair.value}: the cluster saves power already, and Slurm has one set of these programs"
        fix = "remove it, or keep this cluster's power saving and do not adopt it"
        yield placed("power-saving", ERROR, pair.at, message, fix)
    for group in cluster.nodes:
        if group.value("State").casefold() == "cloud":
            message = f"{group.names[0]} is a cloud node already, and Landbridge's programs would start it"
            yield placed("cloud-nodes", ERROR, group.at, message, "remove the nodes of the other program")


def _topology(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    plugin = cluster.value("TopologyPlugin", "topology/flat").casefold()
    if cluster.topology_yaml:
        return
    if plugin == "topology/block" or any(entry.key == "blockname" for entry in cluster.topology):
        message = "topology/block: nodes outside of all blocks, such as those in AWS, get no jobs of this cluster"
        fix = "from Slurm 25.05 on write topology.yaml, in which each partition may have another topology"
        yield placed("topology-block", ERROR, cluster.at("TopologyPlugin"), message, fix)
    elif plugin not in ("topology/flat", "topology/default", "topology/none", "topology/tree"):
        message = f"TopologyPlugin={cluster.value('TopologyPlugin')} cannot contain nodes in AWS"
        yield placed("topology-plugin", ERROR, cluster.at("TopologyPlugin"), message, "use topology/tree")
    elif plugin == "topology/tree" and not cluster.topology:
        message = "TopologyPlugin=topology/tree, but topology.conf cannot be read"
        fix = "copy topology.conf into the folder of slurm.conf"
        yield placed("topology-missing", ERROR, cluster.at("TopologyPlugin"), message, fix)


def _nodes_behaviour(cluster: ExistingCluster) -> Iterator[Finding]:
    if cluster.value("ReturnToService") == "2":
        message = "ReturnToService=2: a cloud node that the burst controller has set down returns to service by itself"
        fix = "set ReturnToService=1"
        yield placed("return-to-service", WARNING, cluster.at("ReturnToService"), message, fix)
    if "config_overrides" in cluster.words("SlurmdParameters"):
        message = "SlurmdParameters=config_overrides: an instance with fewer GPUs or CPUs than planned gets jobs too"
        fix = "remove config_overrides"
        yield placed("config-overrides", WARNING, cluster.at("SlurmdParameters"), message, fix)
