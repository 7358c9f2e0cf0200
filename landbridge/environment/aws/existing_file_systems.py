"""Environment keys of existing FSx and EFS file systems, which Landbridge mounts and does not manage."""

from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.pool import SecurityGroupId
from landbridge.environment.base import AbsolutePath, Model, Word, Zone

FileSystemId = Annotated[str, StringConstraints(pattern=r"^fs-[0-9a-f]{8,17}$")]
StorageVirtualMachineId = Annotated[str, StringConstraints(pattern=r"^svm-[0-9a-f]{17}$")]
AccessPointId = Annotated[str, StringConstraints(pattern=r"^fsap-[0-9a-f]{8,17}$")]
# Source: Amazon SageMaker API Reference, ClusterFsxLustreConfig (MountName).
LustreMountName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,8}$")]

_ENDPOINTS = "EndpointIpAddressRange of a file system in two zones, which is often outside the VPC; none: in one zone"


class _Existing(Model):
    """Keys of every existing file system."""

    id: FileSystemId = Field(description="id of the file system, in the environment's region and account")
    data_class: Word = Field(description="data class of its content, which must be allowed in AWS")
    mount: AbsolutePath = Field(description="mount point on nodes and, for NFS, on login hosts in AWS")
    read_only: bool = Field(default=False, description="mounted read-only")
    security_groups: tuple[SecurityGroupId, ...] = Field(
        default=(),
        description="security groups of the file system, which the rules of the nodes' group name; empty: they name the VPC's "
        "CIDR blocks",
    )


class ExistingLustre(_Existing):
    """Existing FSx for Lustre file system, mounted over TCP."""

    kind: Literal["existing_lustre"]
    mount_name: LustreMountName = Field(description="its MountName in `aws fsx describe-file-systems`")
    zone: Zone = Field(description="zone of its subnet")


class ExistingOpenZfs(_Existing):
    """Existing FSx for OpenZFS file system over NFS; its own NFS exports decide which clients may mount it."""

    kind: Literal["existing_openzfs"]
    volume_path: AbsolutePath = Field(default="/fsx", description="path of the volume; /fsx: the root volume")
    zone: Zone = Field(description="zone of the active file server")
    endpoint_cidr: IPv4Network | None = Field(default=None, description=_ENDPOINTS)


class ExistingOntap(_Existing):
    """Existing FSx for ONTAP volume over NFS; the export policy of its storage virtual machine decides which clients may mount it."""

    kind: Literal["existing_ontap"]
    svm: StorageVirtualMachineId = Field(description="id of the storage virtual machine")
    junction_path: AbsolutePath = Field(description="junction path of the volume")
    zone: Zone = Field(description="zone of the active file server")
    endpoint_cidr: IPv4Network | None = Field(default=None, description=_ENDPOINTS)


class ExistingEfs(_Existing):
    """Existing EFS file system, mounted through the mount target of the node's zone."""

    kind: Literal["existing_efs"]
    path: AbsolutePath = Field(default="/", description="folder of the file system that is mounted")
    access_point: AccessPointId | None = Field(
        default=None, description="EFS access point, which sets the folder that is mounted; needs tls"
    )
    tls: bool = Field(
        default=True,
        description="mounted with the EFS mount helper, over TLS, with the role of the host; false: in clear text",
    )
    zones: tuple[Zone, ...] = Field(
        default=(), description="zones of its mount targets; empty: at least every zone of the pools"
    )


ExistingShare = ExistingLustre | ExistingOpenZfs | ExistingOntap | ExistingEfs
