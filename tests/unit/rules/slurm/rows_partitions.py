"""Mistakes with Slurm's partitions, nodes and settings."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
NODES: DataPath = ("onprem", "nodes")
NODE = {"hosts": "smc[01-02]", "platform": "dgx-a100", "address": "10.20.1.31"}
PARTITIONS: DataPath = ("scheduler", "partitions")
CONF: DataPath = ("scheduler", "overrides", "slurm_conf")
CGROUP: DataPath = ("scheduler", "overrides", "cgroup_conf")


def conf(**settings: Any) -> dict[DataPath, Any]:
    """Return the changes for settings of slurm.conf."""
    return {CONF[:-1]: {"slurm_conf": settings}}


def partition(**settings: Any) -> dict[DataPath, Any]:
    """Return the changes for settings of the partition gpu."""
    return {PARTITIONS: {"gpu": {"settings": settings}}}


SETTINGS: DataPath = (*PARTITIONS, "gpu", "settings")

URGENT_QOS: DataPath = ("scheduler", "qos", "urgent")
URGENT: dict[DataPath, Any] = {
    URGENT_QOS: {"preempts": ["normal"]},
    ("scheduler", "accounts", "vision", "qos"): ["normal", "urgent"],
}

ROWS = [
    Row("no-nodes", "no nodes at all", {("onprem", "nodes"): [], ("aws", "pools"): []}, ("onprem", "nodes"), "neither"),
    Row("node-name-clash", "a cloud node named like an on-prem host", {(*POOL, "name"): "n", (*NODES, 1): {**NODE, "hosts": "n-[1-2]"}}, (*POOL, "name"), "n-1"),
    Row("unknown-node", "a partition of unknown nodes", {PARTITIONS: {"x": {"nodes": ["dgx[02-03]"]}}}, (*PARTITIONS, "x", "nodes", 0), "dgx03"),
    Row("unknown-node", "a misspelt pool in a partition", {PARTITIONS: {"x": {"nodes": ["onprme"]}}}, (*PARTITIONS, "x", "nodes", 0), '"onprem"'),
    Row("unknown-node", "a partition without nodes", {PARTITIONS: {"x": {}}}, (*PARTITIONS, "x"), "no nodes"),
    Row("duplicate-default-partition", "two default partitions", {PARTITIONS: {"gpu": {"default": True}, "p5": {"default": True}}}, (*PARTITIONS, "p5", "default"), "gpu"),
    Row("partition-time", "a partition with a time limit of zero", {PARTITIONS: {"gpu": {"max_time": "0"}}}, (*PARTITIONS, "gpu", "max_time"), "0"),
    Row("partition-time", "a default time above the maximum", {PARTITIONS: {"gpu": {"max_time": "4:00:00", "settings": {"DefaultTime": "1-0"}}}}, (*SETTINGS, "DefaultTime"), "--time"),
    Row("cgroup-version", "cgroup v1 on new nodes", {("scheduler", "cgroup"): "v1"}, ("scheduler", "cgroup"), "v2"),
    Row("protected-setting", "a setting that is derived from the file", conf(clusterName="x"), (*CONF, "clusterName"), "the environment's name"),
    Row("protected-setting", "another resume program", conf(ResumeProgram="/opt/mine"), (*CONF, "ResumeProgram"), "burst"),
    Row("protected-setting", "a partition's nodes in its settings", partition(Nodes="ALL"), (*SETTINGS, "Nodes"), "nodes:"),
    Row("residency-setting", "a partition for every account", partition(AllowAccounts="ALL"), (*SETTINGS, "AllowAccounts"), "data_class"),
    Row("residency-setting", "no associations", conf(AccountingStorageEnforce="limits"), (*CONF, "AccountingStorageEnforce"), "associations"),
    Row("residency-setting", "another plugin for submitted jobs", conf(JobSubmitPlugins="all_partitions"), (*CONF, "JobSubmitPlugins"), "lua"),
    Row("slurm-program", "an own Prolog in place of Landbridge's", conf(Prolog="/etc/slurm/prolog.d/*"), (*CONF, "Prolog"), "restricted accounts"),
    Row("slurm-program", "no Epilog", conf(Epilog=None), (*CONF, "Epilog"), "reset of its GPUs"),
    Row("slurm-program", "an own TaskProlog", conf(taskprolog="/etc/slurm/task.sh"), (*CONF, "taskprolog"), "TMPDIR"),
    Row("slurm-program", "flags without those of Landbridge", conf(PrologFlags="X11"), (*CONF, "PrologFlags"), "keep Contain, DeferBatch"),
    Row("slurm-program", "another plugin for the Prolog", conf(PrEpPlugins="prep/mine"), (*CONF, "PrEpPlugins"), "Prolog and Epilog"),
    Row("slurm-program", "an own health check", conf(HealthCheckProgram="/usr/sbin/nhc"), (*CONF, "HealthCheckProgram"), "nodes with faults"),
    Row("slurm-program", "jobs that are not limited to their GPUs", conf(TaskPlugin="task/affinity"), (*CONF, "TaskPlugin"), "own GPUs"),
    Row("slurm-program", "accounting without GPUs", conf(AccountingStorageTRES="cpu,mem"), (*CONF, "AccountingStorageTRES"), "keep gres/gpu"),
    Row("protected-setting", "a log file that no role rotates", conf(SlurmdLogFile="/data/slurmd.log"), (*CONF, "SlurmdLogFile"), "rotate"),
    Row("slurm-program", "a file that slurm.conf includes", conf(Include="/etc/slurm/site.conf"), (*CONF, "Include"), "residency prove"),
    Row("residency-setting", "no accounting", conf(AccountingStorageType=None), (*CONF, "AccountingStorageType"), "any account"),
    Row("residency-setting", "enforcement that is switched off", conf(AccountingStorageEnforce=None), (*CONF, "AccountingStorageEnforce"), "associations"),
    Row("idle-setting", "preemption that is switched off", {**conf(PreemptType="preempt/none"), **URGENT}, (*URGENT_QOS, "preempts"), "no effect"),
    Row("idle-setting", "priorities that are switched off", {**conf(PriorityType="priority/basic"), ("scheduler", "accounts", "vision", "fairshare"): 4}, ("scheduler", "accounts", "vision", "fairshare"), "PriorityType"),
    Row("idle-setting", "limits that are not enforced", {**conf(AccountingStorageEnforce="associations,qos"), ("scheduler", "accounts", "vision", "max_gpus"): 8}, ("scheduler", "accounts", "vision", "max_gpus"), "AccountingStorageEnforce"),
    Row("idle-setting", "a list of nodes in place of min_nodes", {**conf(SuspendExcNodes="p5-1"), (*POOL, "min_nodes"): 2}, (*POOL, "min_nodes"), "SuspendExcNodes"),
    Row("idle-setting", "metrics that Prometheus cannot read", {**conf(MetricsType=None), ("onprem", "services", "monitoring"): "mlops01"}, ("onprem", "services", "monitoring"), "MetricsType"),
    Row("partition-qos-setting", "a partition with an unknown QOS", partition(QOS="nosuch"), (*SETTINGS, "QOS"), '"nosuch"'),
    Row("partition-qos-setting", "a QOS in place of the budget's", {PARTITIONS: {"p5": {"settings": {"QOS": "normal"}}}, ("budget",): {"monthly_usd": 5000, "hard": True}}, (*PARTITIONS, "p5", "settings", "QOS"), "budget"),
    Row("slurm-key", "misspelt key of slurm.conf", conf(SchedulerParamters="bf_continue"), (*CONF, "SchedulerParamters"), '"SchedulerParameters"'),
    Row("slurm-key", "misspelt key of a partition", partition(PriorityTeir=10), (*SETTINGS, "PriorityTeir"), '"PriorityTier"'),
    Row("slurm-key", "misspelt key of cgroup.conf", {CGROUP[:-1]: {"cgroup_conf": {"ConstrainRamSpce": True}}}, (*CGROUP, "ConstrainRamSpce"), '"ConstrainRAMSpace"'),
    Row("slurm-key", "a key that Slurm has removed", conf(FastSchedule=1), (*CONF, "FastSchedule"), "config_overrides"),
    Row("slurm-key", "a partition's key in slurm.conf", conf(PriorityTier=5), (*CONF, "PriorityTier"), "a partition's settings"),
    Row("slurm-key", "a key of cgroup.conf in slurm.conf", conf(ConstrainCores=True), (*CONF, "ConstrainCores"), "cgroup_conf"),
    Row("protected-setting", "another port for slurmd", conf(SlurmdPort=7000), (*CONF, "SlurmdPort"), "security groups"),
    Row("slurm-choice", "a misspelt state", partition(State="DRIAN"), (*SETTINGS, "State"), '"drain"'),
    Row("slurm-choice", "an invalid choice of Slurm's", conf(SelectType="select/cons_res"), (*CONF, "SelectType"), "select/cons_tres"),
    Row("slurm-risky-setting", "nodes without configuration", conf(SlurmctldParameters="idle_on_node_suspend"), (*CONF, "SlurmctldParameters"), "configless"),
    Row("slurm-risky-setting", "every job sees every GPU", {CGROUP[:-1]: {"cgroup_conf": {"ConstrainDevices": False}}}, (*CGROUP, "ConstrainDevices"), "GPU"),
    Row("slurm-risky-setting", "nodes without configuration, by removal", conf(SlurmctldParameters=None), (*CONF, "SlurmctldParameters"), "configless"),
    Row("slurm-risky-setting", "every job sees every GPU, by removal", {CGROUP[:-1]: {"cgroup_conf": {"ConstrainDevices": None}}}, (*CGROUP, "ConstrainDevices"), "GPU"),
    Row("slurm-risky-setting", "jobs use the memory of others, by removal", {CGROUP[:-1]: {"cgroup_conf": {"ConstrainRAMSpace": None}}}, (*CGROUP, "ConstrainRAMSpace"), "memory"),
    Row("slurm-risky-setting", "jobs without cgroups", {CGROUP[:-1]: {"cgroup_conf": {"CgroupPlugin": "disabled"}}}, (*CGROUP, "CgroupPlugin"), "GPUs and the memory"),
    Row("slurm-risky-setting", "jobs end when the link changes over", conf(SlurmdTimeout=60), (*CONF, "SlurmdTimeout"), "minutes"),
    Row("slurm-risky-setting", "suspended jobs keep GPUs' memory", conf(PreemptMode="SUSPEND,GANG"), (*CONF, "PreemptMode"), "memory"),
    Row("partition-named-default", "a partition named default", {PARTITIONS: {"default": {"nodes": ["onprem"]}}}, (*PARTITIONS, "default"), "the name default is reserved by Slurm"),
    Row("slurm-value", "two lines in one setting", conf(Prolog="/a\nNodeName=evil"), (*CONF, "Prolog"), "a line"),
    Row("slurm-value", "a key in two spellings", conf(TreeWidth=10, treewidth=20), (*CONF, "treewidth"), "same key"),
    Row("slurm-value", "an empty value", conf(Prolog=""), (*CONF, "Prolog"), "null"),
]  # fmt: skip
