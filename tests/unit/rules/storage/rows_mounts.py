"""Mistakes with mount points of file systems."""

from tests.unit.rules.aws.rows_cloud_services import CLOUD
from tests.unit.rules.parts import POOL, SCRATCH, SHARES
from tests.unit.rules.row import Row

LUSTRE = {"kind": "fsx_lustre"}
EFS = {"kind": "efs", "mount": "/data"}
CLINIC = {("scheduler", "accounts", "clinic"): {"users": ["bob"], "data_class": "restricted"}}
LAB = ("scheduler", "accounts", "lab")
OTHER_REGION = {
    "cidr": "10.70.0.0/16",
    "pools": {"p5": {"capacity": [{"kind": "on_demand", "zones": ["use2-az1"]}], "image": "ami-0123456789abcdef1"}},
}
ELSEWHERE_TOO = {
    ("aws", "other_regions", "us-east-2"): OTHER_REGION,
    ("data_classes", "internal", "regions"): ["us-east-2"],
    ("data_classes", "local"): {"sites": ["onprem", "aws"]},
    LAB: {"users": ["bob"], "data_class": "local"},
}  # fmt: skip
CLOUD_ONLY = {("data_classes", "public"): {"sites": ["aws"]}, LAB: {"users": ["bob"], "data_class": "public"}}
SITE, GROUP = ("storage", "site_shares"), ("onprem", "nodes", 0)
FILER = {"kind": "nfs", "host": "filer", "export": "/vol/sets", "mount": "/sets"}
FAST = {"kind": "lustre", "source": "10.20.9.1@tcp:/fast", "mount": "/fast"}
ELSEWHERE = {**CLOUD, ("storage",): {"home": {"kind": "efs"}, "site_shares": {"sets": FILER}}}

ROWS = [
    Row("reserved-mount", "a file system over /etc", {SCRATCH: {**LUSTRE, "mount": "/etc"}}, (*SCRATCH, "mount"), "system folder"),
    Row("reserved-mount", "a file system over Slurm", {SCRATCH: {**LUSTRE, "mount": "/opt/slurm/"}}, (*SCRATCH, "mount"), "/opt/slurm"),
    Row("reserved-mount", "a file system over the homes", {SCRATCH: {**LUSTRE, "mount": "/home"}}, (*SCRATCH, "mount"), "/home"),
    Row("reserved-mount", "local scratch at /tmp", {(*POOL, "local_scratch"): "/tmp"}, (*POOL, "local_scratch"), "/tmp"),
    Row("reserved-mount", "homes at /root", {("storage", "home"): {"kind": "nfs", "mount": "/root"}}, ("storage", "home", "mount"), "/homes"),
    Row("reserved-mount", "a mount point with ..", {SCRATCH: {**LUSTRE, "mount": "/data/../etc"}}, (*SCRATCH, "mount"), ".."),
    Row("duplicate-mount", "two file systems with one mount point", {SCRATCH: LUSTRE, (*SHARES, "more"): {**EFS, "mount": "/scratch/"}}, (*SHARES, "more", "mount"), "/scratch"),
    Row("duplicate-mount", "local scratch at a file system's mount point", {SCRATCH: LUSTRE, (*POOL, "local_scratch"): "/scratch"}, (*POOL, "local_scratch"), "fsx_lustre"),
    Row("nested-mount", "a share inside another", {SCRATCH: LUSTRE, (*SHARES, "more"): {**EFS, "mount": "/scratch/files"}}, (*SHARES, "more", "mount"), "is inside"),
    Row("nested-mount", "a share inside the homes", {SCRATCH: {**LUSTRE, "mount": "/home/scratch"}}, (*SCRATCH, "mount"), "home directories"),
    Row("nested-mount", "a share around another", {SCRATCH: {**LUSTRE, "mount": "/data/fast"}, (*SHARES, "more"): EFS}, (*SHARES, "more", "mount"), "/data/fast"),
    Row("duplicate-mount", "a filer at the homes' mount point", {SITE: {"sets": {**FILER, "mount": "/home"}}}, (*SITE, "sets", "mount"), "/home"),
    Row("duplicate-mount", "the site's Lustre at the nodes' scratch", {SITE: {"fast": FAST}, (*GROUP, "local_scratch"): "/fast"}, (*GROUP, "local_scratch"), "lustre fast"),
    Row("nested-mount", "a filer inside the site's Lustre", {SITE: {"fast": FAST, "sets": {**FILER, "mount": "/fast/sets"}}}, (*SITE, "sets", "mount"), "is inside"),
    Row("reserved-mount", "a filer over /usr", {SITE: {"sets": {**FILER, "mount": "/usr"}}}, (*SITE, "sets", "mount"), "system folder"),
    Row("site-shares-without-site", "a filer without a site", ELSEWHERE, (*SITE, "sets"), "the site"),
    Row("lustre-without-client", "nodes that cannot mount Lustre", {SCRATCH: LUSTRE, (*POOL, "image"): "node", ("aws", "images"): {"node": {"build": {"parent": "debian-13"}}}}, (*POOL, "image"), "the node image of p5 has no"),
    Row("restricted-homes", "homes of restricted data on cloud nodes", CLINIC, ("storage", "home"), "on_cloud_nodes: false"),
    Row("restricted-homes", "homes on nodes of a region where the class may not be", ELSEWHERE_TOO, ("storage", "home"), "(local) may not be in us-east-2"),
    Row("restricted-homes", "homes at the site of data that may be in AWS only", CLOUD_ONLY, ("storage", "home"), "at the site"),
]  # fmt: skip
