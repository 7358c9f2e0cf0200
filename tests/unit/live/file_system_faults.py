"""Faults of existing file systems that only AWS can report: each is created in an emulated account."""

from landbridge.findings import DataPath

from . import existing_file_systems as f
from .faults import Fault

SHARE: DataPath = ("storage", "cloud_shares", "sets")
BOTH = ("use1-az4", "use1-az6")
GONE = {"id": "fs-0123456789abcdef0"}
SYSTEM, PORTS, VOLUME = "live-existing-file-system", "live-existing-file-system-ports", "live-existing-volume"
EXISTING = [
    Fault("a file system of another region", SYSTEM, "kind: existing_lustre, id: a file system in us-west-2",
          "FSx has no file system fs-… in us-east-1 in this account", (*SHARE, "id"), f.existing_lustre(), f.with_share(**GONE)),
    Fault("an EFS file system of another account", SYSTEM, "kind: existing_efs, id: a file system of another team",
          "EFS has no file system fs-… in us-east-1 in this account", (*SHARE, "id"), f.existing_efs(*BOTH), f.with_share(**GONE)),
    Fault("the mount name of another file system", SYSTEM, "mount_name: abcdefgh",
          "the mount name of fs-… is NAME, not abcdefgh", (*SHARE, "mount_name"), f.existing_lustre(), f.with_share(mount_name="abcdefgh")),
    Fault("a file system in another zone than the file says", SYSTEM, "zone: use1-az4, and its subnet is in use1-az6",
          "fs-… is in use1-az6, not in use1-az4", (*SHARE, "zone"), f.existing_lustre("use1-az6"), f.with_share()),
    Fault("a zone without a mount target", SYSTEM, "kind: existing_efs with a mount target in one of two zones",
          "fs-… has no mount target in use1-az6", (*SHARE, "id"), f.existing_efs("use1-az4"), f.with_share()),
    Fault("an EFS file system of the VPC next door", SYSTEM, "kind: existing_efs, id: a file system with mount targets in another VPC",
          "fs-… is in vpc-…, and the nodes are in vpc-…", (*SHARE, "id"), f.existing_elsewhere, f.with_share()),
    Fault("an EFS file system in clear text", SYSTEM, "kind: existing_efs, and Encrypted is false",
          "fs-… is not encrypted, and EFS cannot encrypt it later", (*SHARE, "id"), f.existing_efs(*BOTH, encrypted=False), f.with_share(),
          severity="warning"),
    Fault("a file system of another kind", SYSTEM, "kind: existing_openzfs, id: a Lustre file system",
          "fs-… is an FSx file system of type LUSTRE", (*SHARE, "kind"), f.existing_lustre(),
          lambda e: {SHARE: {**{key: e.share[key] for key in ("id", "zone", "data_class", "mount")}, "kind": "existing_openzfs"}}),
    Fault("an OpenZFS volume that does not exist", VOLUME, "volume_path: /fsx/home",
          "fs-… has no volume /fsx/home", (*SHARE, "volume_path"), f.existing_openzfs(), f.with_share(volume_path="/fsx/home")),
    Fault("an OpenZFS volume that is exported to others", VOLUME, "NfsExports with the clients 10.99.0.0/16 only",
          "the NFS exports of /fsx/homes in fs-… have no client 10.60.0.0/16: 10.99.0.0/16", (*SHARE, "volume_path"),
          f.existing_openzfs(clients="10.99.0.0/16"), f.with_share(), severity="warning"),
    Fault("a storage virtual machine that does not exist", VOLUME, "svm: an id with a typing error",
          "there is no storage virtual machine svm-…", (*SHARE, "svm"), f.existing_ontap(), f.with_share(svm="svm-0123456789abcdef0")),
    Fault("a junction path that does not exist", VOLUME, "junction_path: /vol2",
          "svm-… has no volume with the junction path /vol2", (*SHARE, "junction_path"), f.existing_ontap(), f.with_share(junction_path="/vol2")),
    Fault("an endpoint outside the VPC", VOLUME, "ONTAP in two zones, without endpoint_cidr",
          "the endpoints of fs-… have addresses of 198.19.255.0/26, and no rule of the nodes' group names it", (*SHARE, "endpoint_cidr"),
          f.existing_ontap(), f.with_share(endpoint_cidr=None)),
    Fault("an endpoint without a route", VOLUME, "ONTAP in two zones, without the route table of the nodes' subnets",
          "fs-… has no routes in rtb-…, the route table of subnet-… (use1-az4)", (*SHARE, "id"), f.existing_ontap(routed=False), f.with_share()),
    Fault("an existing file system with closed ports", PORTS, "a security group that allows its own members only",
          "sg-… of fs-… does not allow tcp 988, tcp 1018-1023 from 10.60.0.0/16", SHARE, f.existing_lustre(open_to=None), f.with_share(),
          severity="warning"),
    Fault("an EFS file system that half of the VPC reaches", PORTS, "ingress from 10.60.0.0/17 only",
          "sg-… of fs-… does not allow tcp 2049 from 10.60.0.0/16", SHARE, f.existing_efs(*BOTH, open_to="10.60.0.0/17"), f.with_share(),
          severity="warning"),
    Fault("another group than the file system's", PORTS, "security_groups: [sg-0123456789abcdef0]",
          "the security groups of fs-… are sg-…", (*SHARE, "security_groups"), f.existing_efs(*BOTH),
          f.with_share(security_groups=["sg-0123456789abcdef0"])),
]  # fmt: skip
