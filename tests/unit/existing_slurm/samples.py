"""Configurations of clusters that run already, and requests, for tests."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

from landbridge.existing_slurm.adopt import AdoptResult, adopt
from landbridge.existing_slurm.cluster import ExistingCluster
from landbridge.existing_slurm.read import read_cluster
from landbridge.existing_slurm.request import AdoptRequest, PoolRequest, hosts_file
from landbridge.findings import Finding

DATA = Path(__file__).parent / "data"
#: In the manner of DeepOps, of OpenHPC, and of a site that has changed its files by hand since Slurm 20.02.
SHAPES = ("deepops", "openhpc", "grown")
CONF = "/etc/slurm/slurm.conf"

REQUEST = AdoptRequest(
    name="acme",
    owner="ml@example.org",
    region="us-east-1",
    release="24.11.5",
    onprem_cidr=IPv4Network("10.20.0.0/16"),
    aws_cidr=IPv4Network("10.60.0.0/16"),
    pools=(PoolRequest("p5", "p5.48xlarge", 8),),
    accounts={"vision": "internal"},
    gateway="gw01",
    gateway_address=IPv4Address("198.51.100.7"),
    asn=65010,
    uid=64030,
    addresses={"gw01": IPv4Address("10.20.0.1")},
)

#: A configuration without any finding.
GOOD = """\
ClusterName=good
SlurmctldHost=ctl01(10.20.0.11)
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=1
SlurmdTimeout=900
SrunPortRange=60001-63000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=ctl01
AccountingStorageEnforce=associations,limits
NodeName=cn[01-02] NodeAddr=10.20.1.[1-2] CPUs=4 State=UNKNOWN
PartitionName=batch Nodes=cn[01-02] Default=YES
"""


def folder(shape: str) -> dict[str, str]:
    """Return the files of a shape as they are in /etc/slurm."""
    files = (DATA / shape).iterdir()
    return {f"/etc/slurm/{file.name}": file.read_text() for file in files if file.suffix == ".conf"}


def request(shape: str = "", **changes: Any) -> AdoptRequest:
    """Return the request, for a shape with the addresses of its hosts file."""
    known = hosts_file((DATA / shape / "hosts").read_text()) if shape else REQUEST.addresses
    return replace(REQUEST, **{"addresses": known, **changes})


def read(texts: Mapping[str, str] | str) -> tuple[ExistingCluster, tuple[Finding, ...]]:
    """Return the cluster of these files, or of this slurm.conf."""
    files = {CONF: texts} if isinstance(texts, str) else texts
    return read_cluster(CONF, files.get)


def written(texts: Mapping[str, str] | str, options: AdoptRequest = REQUEST) -> AdoptResult:
    """Return the result for these files, or for this slurm.conf."""
    files = {CONF: texts} if isinstance(texts, str) else texts
    return adopt(CONF, files.get, options)
