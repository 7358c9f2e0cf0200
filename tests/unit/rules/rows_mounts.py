"""Mistakes with where file systems are mounted."""

from tests.unit.rules.parts import POOL, SCRATCH, SHARES
from tests.unit.rules.row import Row

LUSTRE = {"kind": "fsx_lustre"}
EFS = {"kind": "efs", "mount": "/data"}
CLINIC = {("scheduler", "accounts", "clinic"): {"users": ["bob"], "data_class": "restricted"}}

ROWS = [
    Row("reserved-mount", "a file system over /etc", {SCRATCH: {**LUSTRE, "mount": "/etc"}}, (*SCRATCH, "mount"), "system's own"),
    Row("reserved-mount", "a file system over Slurm", {SCRATCH: {**LUSTRE, "mount": "/opt/slurm/"}}, (*SCRATCH, "mount"), "/opt/slurm"),
    Row("reserved-mount", "a file system over the homes", {SCRATCH: {**LUSTRE, "mount": "/home"}}, (*SCRATCH, "mount"), "/home"),
    Row("reserved-mount", "local scratch at /tmp", {(*POOL, "local_scratch"): "/tmp"}, (*POOL, "local_scratch"), "/tmp"),
    Row("reserved-mount", "homes at /root", {("storage", "home"): {"kind": "nfs", "mount": "/root"}}, ("storage", "home", "mount"), "/homes"),
    Row("reserved-mount", "a mount point that climbs up", {SCRATCH: {**LUSTRE, "mount": "/data/../etc"}}, (*SCRATCH, "mount"), ".."),
    Row("duplicate-mount", "two file systems at one place", {SCRATCH: LUSTRE, (*SHARES, "more"): {**EFS, "mount": "/scratch/"}}, (*SHARES, "more", "mount"), "/scratch"),
    Row("duplicate-mount", "local scratch where a share is", {SCRATCH: LUSTRE, (*POOL, "local_scratch"): "/scratch"}, (*POOL, "local_scratch"), "fsx_lustre"),
    Row("nested-mount", "a share inside another", {SCRATCH: LUSTRE, (*SHARES, "more"): {**EFS, "mount": "/scratch/files"}}, (*SHARES, "more", "mount"), "lies inside"),
    Row("nested-mount", "a share inside the homes", {SCRATCH: {**LUSTRE, "mount": "/home/scratch"}}, (*SCRATCH, "mount"), "home directories"),
    Row("nested-mount", "a share around another", {SCRATCH: {**LUSTRE, "mount": "/data/fast"}, (*SHARES, "more"): EFS}, (*SHARES, "more", "mount"), "/data/fast"),
    Row("restricted-homes", "homes of restricted data on cloud nodes", CLINIC, ("storage", "home"), "on_cloud_nodes: false"),
]  # fmt: skip
