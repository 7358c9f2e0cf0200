"""Findings about a running cluster: each row changes a configuration without findings."""

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

import landbridge.existing_slurm.obstacles as package
from landbridge.catalog.slurm.existing import existing_slurm
from landbridge.catalog.slurm.keys import slurm_keys
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
    Row("enforcement-word", WARNING, "no word of Slurm", "AccountingStorageEnforce=associations,limit"),
    Row("removed-setting", WARNING, "no effect", files={"cgroup.conf": "CgroupAutomount=yes\n"}),
    Row("setting-on-cloud-nodes", ERROR, "certificates", "TLSType=tls/s2n"),
    Row("setting-on-cloud-nodes", WARNING, "munge.socket.2", "AuthInfo=socket=/opt/munge/munge.socket.2"),
    Row("setting-on-cloud-nodes", WARNING, "munge.socket.2", "AccountingStoragePass=/opt/munge/global.socket"),
    Row("setting-on-cloud-nodes", WARNING, "BMC", "AcctGatherEnergyType=acct_gather_energy/ipmi"),
    Row("setting-on-cloud-nodes", WARNING, "server of profiles", "AcctGatherProfileType=acct_gather_profile/influxdb"),
    Row("setting-on-cloud-nodes", WARNING, "helpers.conf", "NodeFeaturesPlugins=node_features/helpers"),
    Row("setting-on-cloud-nodes", WARNING, "network", "SwitchType=switch/nvidia_imex"),
    Row("setting-on-cloud-nodes", WARNING, "--tmp", "TmpFS=/nvme/tmp"),
    Row("setting-on-cloud-nodes", WARNING, "Spot", "JobRequeue=0"),
    Row("setting-on-cloud-nodes", WARNING, "larger", "MaxMemPerNode=256000"),
    Row("setting-on-cloud-nodes", WARNING, "billed", "PreemptMode=SUSPEND,GANG"),
    Row("setting-on-cloud-nodes", WARNING, "other", "UsePAM=1"),
    Row("setting-on-cloud-nodes", INFO, "sacct", "AccountingStorageBackupHost=db02"),
    Row("setting-on-cloud-nodes", WARNING, "percentage", files={"cgroup.conf": "MaxRAMPercent=40\n"}),
    Row("setting-on-cloud-nodes", WARNING, "GPUs of other jobs", files={"cgroup.conf": "ConstrainDevices=no\n"}),
    Row("unknown-setting", WARNING, "FutureKey", "FutureKey=1"),
    Row("unknown-setting", WARNING, "FutureKey", files={"cgroup.conf": "FutureKey=1\n"}),
    Row("path-on-cloud-nodes", WARNING, "/nvme/slurm", files={"job_container.conf": "AutoBasePath=true\nBasePath=/nvme/slurm # local\n"}),
    Row("path-on-cloud-nodes", WARNING, "/opt/mig", files={"helpers.conf": 'Feature=mig Helper="/opt/mig --all"\n'}),
    Row("file-on-cloud-nodes", INFO, "runtime", files={"oci.conf": 'RunTimeRun="runc --root=/run/runc run"\n'}),
    Row("file-on-cloud-nodes", INFO, "srun", files={"cli_filter.lua": "-- reads /etc/site.conf\nreturn slurm.SUCCESS\n"}),
    Row("spank-required", ERROR, "spank_pyxis.so", files={"plugstack.conf": "required /usr/local/lib/slurm/spank_pyxis.so\n"}),
    Row("spank-optional", WARNING, "lua.so", files={"plugstack.conf": "# site\noptional lua.so /etc/slurm/spank/*.lua\n"}),
    Row("spank-include", WARNING, "plugstack.conf.d", files={"plugstack.conf": "include /etc/slurm/plugstack.conf.d/*.conf\n"}),
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


def test_every_known_key_is_said_or_unremarkable() -> None:
    """A key that nobody has looked at would be silent."""
    facts, texts = existing_slurm(), [path.read_text() for path in Path(package.__file__).parent.parent.rglob("*.py")]
    reported = {key for row in facts.settings for key in row.keys}
    quoted = {word.casefold() for text in texts for word in re.findall(r'"([A-Za-z]+)"', text)}
    missing = (
        {key for key in slurm_keys().slurm_conf if key.casefold() not in quoted} - reported - {*facts.unremarkable}
    )
    assert missing == set()
    assert {*facts.unremarkable} | reported <= {*slurm_keys().slurm_conf} and not reported & {*facts.unremarkable}
    assert {key for row in facts.cgroup for key in row.keys} <= {*slurm_keys().cgroup_conf}


@pytest.mark.parametrize(
    ("lines", "files"),
    [
        (
            "AuthInfo=socket=/var/run/munge/munge.socket.2\nMpiDefault=pmix\nRebootProgram=/sbin/reboot\nPreemptMode=REQUEUE",
            {},
        ),
        ("AcctGatherEnergyType=none\nSwitchType=switch/none\nTmpFS=/tmp\nJobRequeue=1\nTLSType=tls/none", {}),
        (
            "",
            {
                "cgroup.conf": "MaxRAMPercent=98.5%\nConstrainDevices=yes\n",
                "helpers.conf": "NodeName=cn01 Helper=/opt/mig\n",
            },
        ),
        ("", {"plugstack.conf": "# required /opt/x.so\n", "job_container.conf": "NodeName=cn[01-02] BasePath=/nvme\n"}),
    ],
)
def test_values_that_mean_the_same_on_nodes_in_aws_are_silent(lines: str, files: dict[str, str]) -> None:
    assert Row("", INFO, "", lines, files=files).findings() == ()


def test_each_path_has_its_own_line_and_column() -> None:
    files = {"job_container.conf": "# BasePath=/a\nBasePath=/b Dirs=/tmp,/c\n"}
    findings = Row("", INFO, "", files=files).findings()
    assert [(finding.line, finding.column) for finding in findings] == [(2, 10), (2, 23)]
    assert all(finding.file == "/etc/slurm/job_container.conf" for finding in findings)


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
