"""Mistakes with Slurm's queues, nodes and settings."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
NODES: DataPath = ("onprem", "nodes")
NODE = {"hosts": "smc[01-02]", "platform": "dgx-a100", "address": "10.20.1.31"}
QUEUES: DataPath = ("scheduler", "partitions")
CONF: DataPath = ("scheduler", "overrides", "slurm_conf")
CGROUP: DataPath = ("scheduler", "overrides", "cgroup_conf")


def conf(**settings: Any) -> dict[DataPath, Any]:
    """Own settings of slurm.conf."""
    return {CONF[:-1]: {"slurm_conf": settings}}


def queue(**settings: Any) -> dict[DataPath, Any]:
    """Own settings of the queue gpu."""
    return {QUEUES: {"gpu": {"settings": settings}}}


OF_QUEUE: DataPath = (*QUEUES, "gpu", "settings")

ROWS = [
    Row("no-nodes", "no nodes at all", {("onprem", "nodes"): [], ("aws", "pools"): []}, ("onprem", "nodes"), "neither"),
    Row("node-name-clash", "a cloud node named like an on-prem host", {(*POOL, "name"): "n", (*NODES, 1): {**NODE, "hosts": "n-[1-2]"}}, (*POOL, "name"), "n-1"),
    Row("unknown-node", "a queue of nodes that are not there", {QUEUES: {"x": {"nodes": ["dgx[02-03]"]}}}, (*QUEUES, "x", "nodes", 0), "dgx03"),
    Row("unknown-node", "a misspelt pool in a queue", {QUEUES: {"x": {"nodes": ["onprme"]}}}, (*QUEUES, "x", "nodes", 0), '"onprem"'),
    Row("unknown-node", "a queue without nodes", {QUEUES: {"x": {}}}, (*QUEUES, "x"), "no nodes"),
    Row("duplicate-default-partition", "two default queues", {QUEUES: {"gpu": {"default": True}, "p5": {"default": True}}}, (*QUEUES, "p5", "default"), "gpu"),
    Row("partition-time", "a queue in which nothing can run", {QUEUES: {"gpu": {"max_time": "0"}}}, (*QUEUES, "gpu", "max_time"), "0"),
    Row("partition-time", "a default time past the longest", {QUEUES: {"gpu": {"max_time": "4:00:00", "settings": {"DefaultTime": "1-0"}}}}, (*OF_QUEUE, "DefaultTime"), "--time"),
    Row("cgroup-version", "cgroup v1 on new nodes", {("scheduler", "cgroup"): "v1"}, ("scheduler", "cgroup"), "v2"),
    Row("protected-setting", "overriding what follows from the file", conf(clusterName="x"), (*CONF, "clusterName"), "the environment's name"),
    Row("protected-setting", "another resume program", conf(ResumeProgram="/opt/mine"), (*CONF, "ResumeProgram"), "burst"),
    Row("protected-setting", "a queue's nodes among its settings", queue(Nodes="ALL"), (*OF_QUEUE, "Nodes"), "nodes:"),
    Row("residency-setting", "a queue for every account", queue(AllowAccounts="ALL"), (*OF_QUEUE, "AllowAccounts"), "data_class"),
    Row("residency-setting", "no associations", conf(AccountingStorageEnforce="limits"), (*CONF, "AccountingStorageEnforce"), "associations"),
    Row("residency-setting", "another plugin for submitted jobs", conf(JobSubmitPlugins="all_partitions"), (*CONF, "JobSubmitPlugins"), "lua"),
    Row("slurm-key", "misspelt key of slurm.conf", conf(SchedulerParamters="bf_continue"), (*CONF, "SchedulerParamters"), '"SchedulerParameters"'),
    Row("slurm-key", "misspelt key of a queue", queue(PriorityTeir=10), (*OF_QUEUE, "PriorityTeir"), '"PriorityTier"'),
    Row("slurm-key", "misspelt key of cgroup.conf", {CGROUP[:-1]: {"cgroup_conf": {"ConstrainRamSpce": True}}}, (*CGROUP, "ConstrainRamSpce"), '"ConstrainRAMSpace"'),
    Row("slurm-key", "a key that Slurm has no more", conf(FastSchedule=1), (*CONF, "FastSchedule"), "config_overrides"),
    Row("slurm-key", "a queue's key in slurm.conf", conf(PriorityTier=5), (*CONF, "PriorityTier"), "a partition's settings"),
    Row("slurm-key", "a key of cgroup.conf in slurm.conf", conf(ConstrainCores=True), (*CONF, "ConstrainCores"), "cgroup_conf"),
    Row("protected-setting", "another port for slurmd", conf(SlurmdPort=7000), (*CONF, "SlurmdPort"), "security groups"),
    Row("slurm-choice", "a misspelt state", queue(State="DRIAN"), (*OF_QUEUE, "State"), '"drain"'),
    Row("slurm-choice", "a word that is no choice of Slurm's", conf(SelectType="select/cons_res"), (*CONF, "SelectType"), "select/cons_tres"),
    Row("slurm-risky-setting", "nodes without configuration", conf(SlurmctldParameters="idle_on_node_suspend"), (*CONF, "SlurmctldParameters"), "configless"),
    Row("slurm-risky-setting", "every job sees every GPU", {CGROUP[:-1]: {"cgroup_conf": {"ConstrainDevices": False}}}, (*CGROUP, "ConstrainDevices"), "GPU"),
    Row("slurm-risky-setting", "jobs end when the link changes over", conf(SlurmdTimeout=60), (*CONF, "SlurmdTimeout"), "minutes"),
    Row("slurm-risky-setting", "suspended jobs keep GPUs' memory", conf(PreemptMode="SUSPEND,GANG"), (*CONF, "PreemptMode"), "memory"),
    Row("partition-named-default", "a queue named default", {QUEUES: {"default": {"nodes": ["onprem"]}}}, (*QUEUES, "default"), "the name default is reserved by Slurm"),
    Row("slurm-value", "two lines in one setting", conf(Prolog="/a\nNodeName=evil"), (*CONF, "Prolog"), "a line"),
    Row("slurm-value", "a key in two spellings", conf(TreeWidth=10, treewidth=20), (*CONF, "treewidth"), "same key"),
    Row("slurm-value", "an empty value", conf(Prolog=""), (*CONF, "Prolog"), "null"),
]  # fmt: skip
