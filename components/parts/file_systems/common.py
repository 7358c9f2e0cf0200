"""Inputs and results that all kinds of file systems share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class FileSystemContext:
    """Placement of a file system: subnets by zone, its security group, and the key that it is encrypted with.

    `route_table_ids` are the clients' route tables: a file system with a standby in a second zone adds its address there.
    """

    subnet_ids: Mapping[str, pulumi.Input[str]]
    route_table_ids: Sequence[pulumi.Input[str]]
    security_group_id: pulumi.Input[str]
    key_arn: pulumi.Input[str] | None
    #: ARNs of the roles of all clients, and of those with root access, for EFS.
    client_roles: Sequence[pulumi.Input[str]]
    root_roles: Sequence[pulumi.Input[str]]
    #: Options of resources that hold data, and of resources without data (mount targets, associations).
    data_options: pulumi.ResourceOptions
    child_options: pulumi.ResourceOptions


@dataclass(frozen=True)
class FileSystemResource:
    """File system and the arguments of its mount: `mount -t type -o options source`."""

    id: pulumi.Output[str]
    dns_name: pulumi.Output[str]
    mount_name: pulumi.Output[str] | None
    source: pulumi.Output[str]
    type: str
    options: pulumi.Input[str]
