"""Mistakes with existing file systems in AWS."""

from typing import Any

from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL, SCRATCH, SHARES
from tests.unit.rules.row import Row

SHARE, OTHER = (*SHARES, "sets"), (*SHARES, "more")
ID = "fs-0123456789abcdef0"


def lustre(**keys: Any) -> dict[str, Any]:
    return {
        "kind": "existing_lustre",
        "id": ID,
        "mount_name": "abcdefgh",
        "zone": "use1-az4",
        "data_class": "internal",
        "mount": "/sets",
        **keys,
    }


def efs(**keys: Any) -> dict[str, Any]:
    return {"kind": "existing_efs", "id": ID, "data_class": "internal", "mount": "/sets", **keys}


def ontap(**keys: Any) -> dict[str, Any]:
    svm = {"svm": "svm-0123456789abcdef0", "junction_path": "/vol1", "zone": "use1-az4"}
    return {"kind": "existing_ontap", "id": ID, "data_class": "internal", "mount": "/sets", **svm, **keys}


ROWS = [
    Row("existing-share-class", "an existing file system of a class that must stay on-prem", {SHARE: efs(data_class="restricted")}, (*SHARE, "data_class"), "onprem only"),
    Row("existing-share-class", "an existing file system of an unknown class", {SHARE: efs(data_class="internel")}, (*SHARE, "data_class"), "internal"),
    Row("existing-share-zone", "an existing Lustre file system in another zone than the nodes", {SHARE: lustre(zone="use1-az6")}, (*SHARE, "zone"), "p5 (use1-az4)"),
    Row("existing-share-zone", "an existing EFS without a mount target in a pool's zone", {SHARE: efs(zones=["use1-az6"])}, (*SHARE, "zones"), "p5 (use1-az4)"),
    Row("existing-share-zone", "an existing ONTAP volume in one of two zones", {SHARE: ontap(), CAPACITY: {**ON_DEMAND, "zones": ["use1-az4", "use1-az6"]}}, (*SHARE, "zone"), "write zones: [use1-az4]"),
    Row("existing-share-vpc", "an existing file system and a new VPC", {SHARE: lustre()}, (*SHARE, "id"), "aws.vpc"),
    Row("existing-share-ports", "ports that the owner of a file system must open", {SHARE: lustre()}, SHARE, "tcp 988 and tcp 1018-1023 from the security groups test-p5"),
    Row("existing-share-twice", "one file system as two kinds", {SHARE: efs(), OTHER: lustre(mount="/more")}, (*OTHER, "kind"), "existing_efs as sets"),
    Row("existing-share-twice", "one file system with two data classes", {SHARE: efs(), OTHER: efs(mount="/more", data_class="restricted")}, (*OTHER, "data_class"), "internal as sets"),
    Row("efs-access-point", "an access point and a path", {SHARE: efs(access_point="fsap-0123456789abcdef0", path="/a")}, (*SHARE, "path"), "remove path"),
    Row("efs-access-point", "an access point without TLS", {SHARE: efs(access_point="fsap-0123456789abcdef0", tls=False)}, (*SHARE, "access_point"), "cannot be mounted in clear text"),
    Row("efs-clear-text", "an existing EFS without TLS", {SHARE: efs(tls=False)}, (*SHARE, "tls"), "in clear text"),
    Row("wrong-format", "the DNS name of an existing file system instead of its id", {SHARE: efs(id=f"{ID}.efs.us-east-1.amazonaws.com")}, (*SHARE, "id"), "a file system's id, such as fs-"),
    Row("unknown-zone", "an existing file system in another region's zone", {SHARE: lustre(zone="usw2-az1")}, (*SHARE, "zone"), "us-east-1"),
    Row("duplicate-mount", "an existing file system at the mount point of another", {SCRATCH: {"kind": "fsx_lustre"}, SHARE: efs(mount="/scratch")}, (*SHARE, "mount"), "existing_efs sets"),
    Row("reserved-mount", "an existing file system over /opt/slurm", {SHARE: efs(mount="/opt/slurm")}, (*SHARE, "mount"), "system folder"),
    Row("lustre-without-client", "nodes that cannot mount an existing Lustre", {SHARE: lustre(), (*POOL, "image"): "node", ("aws", "images"): {"node": {"build": {"parent": "debian-13"}}}}, (*POOL, "image"), "the node image of p5 has no"),
]  # fmt: skip
