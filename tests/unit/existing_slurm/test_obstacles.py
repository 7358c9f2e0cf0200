"""Findings about a running cluster: each row changes a configuration without findings."""

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

import landbridge.existing_slurm.obstacles as package
from landbridge.existing_slurm.obstacles import obstacles
from landbridge.existing_slurm.request import PoolRequest
from landbridge.findings import Finding, Severity
from tests.unit.existing_slurm.samples import CONF, GOOD, read, request, written

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True)
class Row:
    """Lines that replace those of their key or are added; other files; changes of the request; the finding."""

    rule: str
    severity: Severity
    text: str
    lines: str = ""
    without: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def findings(self) -> tuple[Finding, ...]:
        added = self.lines.splitlines()
        keys = {line.partition("=")[0] for line in added} | set(self.without)
        remaining_lines = [line for line in GOOD.splitlines() if line.partition("=")[0] not in keys]
        files = {f"/etc/slurm/{name}": content for name, content in self.files.items()}
        cluster, unread = read({CONF: "\n".join([*remaining_lines, *added]) + "\n", **files})
        return (*unread, *obstacles(cluster, request(**self.options)))


NODES = "NodeName=cn[01-02] NodeAddr=10.20.1.[1-2] CPUs=4"
ROWS = [
    Row("unsupported-release", ERROR, "22.05", options={"release": "22.05.11"}),
    Row("removed-setting", WARNING, "ControlMachine", "ControlMachine=ctl01\nControlAddr=10.20.0.11", without=("SlurmctldHost",)),
    Row("removed-setting", WARNING, "no effect", "CoreSpecPlugin=core_spec/none"),
    Row("select-type", ERROR, "single GPUs", "SelectType=select/linear"),
    Row("select-type", ERROR, "drain", "SelectType=select/cons_res"),
    Row("memory-not-allocated", INFO, "CR_Core_Memory", "SelectTypeParameters=CR_Core"),
    Row("process-tracking", WARNING, "linuxproc", "ProctrackType=proctrack/linuxproc"),
    Row("task-plugin", WARNING, "ConstrainDevices", "TaskPlugin=task/affinity"),
    Row("task-plugin", WARNING, "ConstrainDevices", without=("TaskPlugin",)),
    Row("cgroup-version", ERROR, "autodetect", files={"cgroup.conf": "cgroupplugin=cgroup/v1\n"}),
    Row("authentication", ERROR, "auth/none", "AuthType=auth/none"),
    Row("slurm-user", ERROR, "hpc", "SlurmUser=hpc"),
    Row("slurm-user", ERROR, "root", without=("SlurmUser",)),
    Row("slurmd-user", ERROR, "root", "SlurmdUser=slurm"),
    Row("plugin-directory", ERROR, "/usr/lib64/slurm", "PluginDir=/usr/lib64/slurm"),
    Row("slurm-port", ERROR, "6818", "SlurmdPort=7000"),
    Row("slurm-port", ERROR, "6817", "SlurmctldPort=6820-6823"),
    Row("ipv4-disabled", ERROR, "IPv4", "CommunicationParameters=EnableIPv6,DisableIPv4"),
    Row("cloud-dns", ERROR, "registers", "SlurmctldParameters=enable_configless,cloud_dns"),
    Row("srun-ports", WARNING, "60001-63000", without=("SrunPortRange",)),
    Row("slurmd-timeout", WARNING, "300 s", without=("SlurmdTimeout",)),
    Row("power-saving", ERROR, "ResumeProgram", "ResumeProgram=/usr/local/sbin/wake"),
    Row("power-saving", ERROR, "SuspendTime", "SuspendTime=600"),
    Row("cloud-nodes", ERROR, "other program", "NodeName=cn[01-02] NodeAddr=10.20.1.[1-2] State=CLOUD"),
    Row("topology-block", ERROR, "25.05", "TopologyPlugin=topology/block", files={"topology.conf": "BlockName=b Nodes=cn[01-02]\n"}),
    Row("topology-plugin", ERROR, "3d_torus", "TopologyPlugin=topology/3d_torus"),
    Row("topology-missing", ERROR, "copy", "TopologyPlugin=topology/tree"),
    Row("return-to-service", WARNING, "set down", "ReturnToService=2"),
    Row("config-overrides", WARNING, "fewer GPUs", "SlurmdParameters=config_overrides"),
    Row("no-accounting", ERROR, "slurmdbd", "AccountingStorageType=accounting_storage/none"),
    Row("accounts-not-enforced", WARNING, "any account", "AccountingStorageEnforce=nosteps"),
    Row("no-account", ERROR, "--account", options={"accounts": {}}),
    Row("job-submit-plugin", INFO, "RESIDENCY", "JobSubmitPlugins=lua"),
    Row("program-on-cloud-nodes", WARNING, "without a path", "Prolog=/etc/slurm/prolog.d/*"),
    Row("program-on-cloud-nodes", WARNING, "node image", "HealthCheckProgram=/usr/sbin/nhc"),
    Row("spank-plugins", WARNING, "optional", "PlugStackConfig=/etc/slurm/spank/plugstack.conf"),
    Row("node-name-in-path", INFO, "%n", "SlurmdSpoolDir=/var/spool/slurmd.%n"),
    Row("slurmctld-prolog", INFO, "in addition", "PrologSlurmctld=/usr/local/sbin/check"),
    Row("slurmctld-prolog", WARNING, "exec /opt/landbridge", "PrologSlurmctld=/usr/local/sbin/check", options={"release": "23.11.10"}),
    Row("node-name", ERROR, "cn-1", "NodeName=cn-1 NodeAddr=10.20.1.1\nPartitionName=batch Nodes=cn-1", options={"pools": (PoolRequest("cn", "p5.48xlarge", 2),)}),
    Row("partition-name", ERROR, "another name", options={"pools": (PoolRequest("batch", "p5.48xlarge", 2),)}, lines="PartitionName=Batch Nodes=cn01"),
    Row("partition-of-all-nodes", INFO, "batch", "PartitionName=batch Nodes=ALL"),
    Row("node-weight", INFO, "1000", f"{NODES} Weight=5000"),
    Row("node-count", ERROR, "MaxNodeCount=10", "MaxNodeCount=9"),
    Row("devices-of-all-nodes", ERROR, "NodeName=cn[01-02]", f"{NODES} Gres=gpu:4", files={"gres.conf": "Name=gpu File=/dev/nvidia[0-3]\n"}),
    Row("controller-address", ERROR, "--hosts", "SlurmctldHost=ctl01"),
    Row("no-controller", ERROR, "SlurmctldHost", without=("SlurmctldHost",)),
    Row("host-address", ERROR, "gw01", options={"addresses": {}}),
    Row("host-address", ERROR, "db01", "AccountingStorageHost=db01"),
    Row("node-address", WARNING, "cn[01-02]", "NodeName=cn[01-02] CPUs=4"),
    Row("overlapping-ranges", ERROR, "overlaps", options={"aws_cidr": IPv4Network("10.20.128.0/17")}),
    Row("address-in-aws", ERROR, "10.60.0.9", "NodeName=cn[01-02] NodeAddr=10.60.0.[8-9]"),
    Row("address-outside-site", ERROR, "192.168.1.1", "NodeName=cn[01-02] NodeAddr=192.168.1.[1-2]"),
    Row("include-not-sent", ERROR, "beside slurm.conf", "Include /etc/slurm/more.conf", files={"more.conf": "\n"}),
    Row("not-a-setting", ERROR, "KEY=VALUE", "Licenses"),
]  # fmt: skip


def test_the_good_configuration_has_no_finding() -> None:
    assert Row("", INFO, "").findings() == ()


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.rule}-{row.text}" for row in ROWS])
def test_each_obstacle_is_reported_with_its_position_and_fix(row: Row) -> None:
    findings = [finding for finding in row.findings() if finding.rule == row.rule]
    assert findings, [finding.rule for finding in row.findings()]
    assert {finding.severity for finding in findings} == {row.severity}
    texts = [f"{finding.message} {finding.fix}" for finding in findings]
    assert any(row.text in text for text in texts), texts
    assert all(finding.file and finding.line and finding.column and finding.fix for finding in findings)


def test_each_rule_has_a_row() -> None:
    folder = Path(package.__file__).parent
    names = {name for path in folder.glob("*.py") for name in re.findall(r'placed\("([a-z0-9-]+)"', path.read_text())}
    assert names == {row.rule for row in ROWS} - {"include-not-sent", "not-a-setting"}


def test_an_address_of_the_hosts_file_counts_for_names_in_any_case() -> None:
    row = Row("", INFO, "", "NodeName=CN01 CPUs=4\nPartitionName=batch Nodes=CN01", options={"addresses": {"gw01": IPv4Address("10.20.0.1"), "cn01": IPv4Address("10.20.1.1")}})  # fmt: skip
    assert row.findings() == ()


@pytest.mark.parametrize(
    "text",
    [
        "[slurm-master]\nmgmt01\n\n[slurm-node]\ngpu01 ansible_host=10.0.0.1\n",
        "---\n- hosts: slurm-cluster\n  roles:\n    - role: slurm\n",
        "openhpc_cluster_name: hpc\nopenhpc_slurm_partitions: []\n",
        "",
    ],
    ids=["inventory", "playbook", "variables", "empty"],
)
def test_a_file_that_is_no_slurm_conf_has_one_finding(text: str) -> None:
    (finding,) = written(text).findings
    assert (finding.rule, finding.severity) == ("not-slurm-conf", ERROR) and CONF in finding.message
