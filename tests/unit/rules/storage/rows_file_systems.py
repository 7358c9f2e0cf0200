"""Mistakes with file systems in AWS."""

from typing import Any

from tests.unit.rules.parts import CAPACITY, FALLBACK, ON_DEMAND, POOL, SCRATCH, SHARES, pool
from tests.unit.rules.row import Row

SHARE = (*SHARES, "s")
ZONE_OF_POOL = "use1-az4"


def lustre(**keys: Any) -> dict[str, Any]:
    return {"kind": "fsx_lustre", **keys}


def zfs(**keys: Any) -> dict[str, Any]:
    return {"kind": "fsx_openzfs", **keys}


def efs(**keys: Any) -> dict[str, Any]:
    return {"kind": "efs", **keys}


LINK = {"folder": "/data", "data_class": "internal"}

MANY = [pool(name=f"p{number}") for number in range(61)]

ROWS = [
    Row("openzfs-root-hosts", "OpenZFS whose clients are all squashed", {SHARE: zfs()}, SHARE, "root_hosts"),
    Row("openzfs-root-hosts", "an administration host outside the VPC", {SHARE: zfs(root_hosts=["10.20.0.9/32"])}, (*SHARE, "root_hosts", 0), "outside the VPC"),
    Row("file-system-rules", "more pools than a file system's group has rules for", {("aws", "pools"): MANY, SHARE: efs()}, SHARE, "61 rules"),
    Row("lustre-options", "an invalid size of Lustre", {SCRATCH: lustre(capacity_gib=3000)}, (*SCRATCH, "capacity_gib"), "4800"),
    Row("lustre-options", "Lustre of 1000 GiB", {SCRATCH: lustre(capacity_gib=1000)}, (*SCRATCH, "capacity_gib"), "1200"),
    Row("lustre-options", "a throughput of another deployment", {SCRATCH: lustre(throughput=200)}, (*SCRATCH, "throughput"), "125, 250, 500, 1000"),
    Row("lustre-options", "throughput for scratch", {SCRATCH: lustre(deployment="scratch_2", throughput=250)}, (*SCRATCH, "throughput"), "no choice"),
    Row("lustre-options", "hard disks for persistent_2", {SCRATCH: lustre(storage_type="hdd")}, (*SCRATCH, "storage_type"), "ssd"),
    Row("lustre-options", "EFA on a file system too small for it", {SCRATCH: lustre(efa=True)}, (*SCRATCH, "capacity_gib"), "19200"),
    Row("lustre-options", "EFA on scratch", {SCRATCH: lustre(efa=True, deployment="scratch_2")}, (*SCRATCH, "efa"), "persistent_2"),
    Row("lustre-options", "backups of scratch", {SCRATCH: lustre(deployment="scratch_2", backup_days=7)}, (*SCRATCH, "backup_days"), "no backups"),
    Row("lustre-options", "backups kept for a year", {SCRATCH: lustre(backup_days=365)}, (*SCRATCH, "backup_days"), "0 to 90"),
    Row("lustre-options", "more repositories than a file system has", {SCRATCH: lustre(repositories=[{**LINK, "folder": f"/d{n}"} for n in range(9)])}, (*SCRATCH, "repositories"), "8 at most"),
    Row("lustre-options", "folders of repositories inside one another", {SCRATCH: lustre(repositories=[LINK, {**LINK, "folder": "/data/new"}])}, (*SCRATCH, "repositories"), "is inside the other"),
    Row("lustre-options", "a repository without a source", {SCRATCH: lustre(repositories=[{"folder": "/data"}])}, (*SCRATCH, "repositories"), "neither a data class nor a bucket"),
    Row("lustre-options", "a repository with two sources", {SCRATCH: lustre(repositories=[{**LINK, "bucket": "s3://mine"}])}, (*SCRATCH, "repositories"), "both"),
    Row("lustre-options", "import_path beside repositories", {SCRATCH: lustre(deployment="scratch_2", import_path="s3://mine", repositories=[LINK])}, (*SCRATCH, "import_path"), "exclude"),
    Row("lustre-options", "an export without an import", {SCRATCH: lustre(deployment="scratch_2", export_path="s3://mine/out")}, (*SCRATCH, "export_path"), "needs import_path"),
    Row("lustre-options", "persistent_2 in a region without it", {CAPACITY: ON_DEMAND, SCRATCH: lustre()}, (*SCRATCH, "deployment"), "eu-west-3", region="eu-west-3"),
    Row("lustre-options", "a size for intelligent tiering", {SCRATCH: lustre(storage_type="intelligent_tiering", capacity_gib=4800)}, (*SCRATCH, "capacity_gib"), "grows by itself"),
    Row("lustre-options", "intelligent tiering with a size's throughput", {SCRATCH: lustre(storage_type="intelligent_tiering", throughput=250)}, (*SCRATCH, "throughput"), "4000"),
    Row("lustre-import-path", "import_path on persistent_2", {SCRATCH: lustre(import_path="s3://mine")}, (*SCRATCH, "import_path"), "repositories"),
    Row("lustre-import-path", "import_path on scratch", {SCRATCH: lustre(deployment="scratch_2", import_path="s3://mine")}, (*SCRATCH, "import_path"), "import_path cannot be changed later"),
    Row("lustre-efa-region", "Lustre over EFA in a region without it", {CAPACITY: ON_DEMAND, SCRATCH: lustre(efa=True, capacity_gib=19200, deployment="persistent_2")}, (*SCRATCH, "efa"), "us-east-1", region="eu-central-2"),
    Row("lustre-efa-connections", "more EFA interfaces than a file system accepts", {CAPACITY: ON_DEMAND, (*POOL, "max_nodes"): 129, SCRATCH: lustre(efa=True, capacity_gib=19200)}, (*SCRATCH, "efa"), "1032"),
    Row("lustre-efa-clients", "Lustre over EFA for nodes that cannot", {CAPACITY: ON_DEMAND, (*POOL, "instance"): "p4d.24xlarge", SCRATCH: lustre(efa=True, capacity_gib=19200)}, (*SCRATCH, "efa"), "no pool reads"),
    Row("openzfs-options", "OpenZFS too small", {SHARE: zfs(capacity_gib=32)}, (*SHARE, "capacity_gib"), "capacity_gib: 64"),
    Row("openzfs-options", "a throughput of another OpenZFS deployment", {SHARE: zfs(throughput=512)}, (*SHARE, "throughput"), "640"),
    Row("openzfs-options", "fewer IOPS than are included", {SHARE: zfs(iops=1000)}, (*SHARE, "iops"), "3072"),
    Row("openzfs-options", "OpenZFS backups kept too long", {SHARE: zfs(backup_days=91)}, (*SHARE, "backup_days"), "90"),
    Row("openzfs-two-zones", "OpenZFS over two zones in one", {SHARE: zfs(deployment="multi_az_1")}, (*SHARE, "deployment"), "2 zones"),
    Row("efs-options", "provisioned throughput without a figure", {SHARE: efs(throughput="provisioned")}, (*SHARE, "throughput"), "provisioned_mibps"),
    Row("efs-options", "a figure without provisioned throughput", {SHARE: efs(provisioned_mibps=100)}, (*SHARE, "provisioned_mibps"), "no effect"),
    Row("efs-options", "max_io with elastic throughput", {SHARE: efs(performance="max_io")}, (*SHARE, "performance"), "exclude"),
    Row("efs-clear-text", "EFS without TLS", {SHARE: efs(tls=False)}, (*SHARE, "tls"), "in clear text"),
    Row("efs-bursting", "EFS in bursting mode", {SHARE: efs(throughput="bursting")}, (*SHARE, "throughput"), "elastic"),
    Row("efs-without-target", "a pool's zone without a mount target", {(*CAPACITY, "zones"): ["use1-az4", "use1-az6"], SHARE: efs(zones=["use1-az4"])}, (*SHARE, "zones"), "use1-az6"),
    Row("storage-zone", "Lustre in a zone without a subnet", {SCRATCH: lustre(zone="use1-az1")}, (*SCRATCH, "zone"), "no subnet"),
    Row("storage-zone", "a mount target in a zone without a subnet", {SHARE: efs(zones=["use1-az4", "use1-az1"])}, (*SHARE, "zones", 1), "no subnet"),
    Row("storage-in-other-zone", "Lustre in one zone, nodes in two", {(*CAPACITY, "zones"): ["use1-az4", "use1-az6"], SCRATCH: lustre(zone="use1-az6")}, (*SCRATCH, "zone"), "use1-az4"),
    Row("storage-in-other-zone", "a fallback in another zone than Lustre", {FALLBACK: {**ON_DEMAND, "zones": ["use1-az6"]}, SCRATCH: lustre()}, SCRATCH, "use1-az6"),
    Row("storage-without-pool", "a file system in a zone without a pool", {("aws", "pools"): [], SCRATCH: lustre(zone=ZONE_OF_POOL)}, SCRATCH, "no pool mounts this fsx_lustre, and it"),
    Row("storage-without-pool", "a file system and no pool", {("aws", "pools"): [], SCRATCH: lustre()}, SCRATCH, "no pool"),
    Row("storage-cost", "what a file system costs while it is idle", {SCRATCH: lustre()}, SCRATCH, "a month"),
]  # fmt: skip
