"""`landbridge:index:FileSystem`."""

from typing import Any, NotRequired

import pulumi

from components import file_system
from components.multilang.inputs import OwnedInputs, environment_of, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.storage.file_system import EfsSettings, FileSystemArgs, file_system_args


class FileSystemInputs(OwnedInputs):
    """An FSx or EFS file system that many nodes mount."""

    share: dict[str, Any]
    """As in storage.cloud_shares of an environment file: kind, and the settings of the kind."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""
    clients: dict[str, pulumi.Input[str]]
    """Security groups that mount the file system, by a name that stays."""
    route_table_ids: NotRequired[list[pulumi.Input[str]]]
    """Route tables, for OpenZFS in two zones."""
    bucket_names: NotRequired[dict[str, pulumi.Input[str]]]
    """The data hub's buckets by data class, for folders that show them."""
    client_role_arns: NotRequired[list[pulumi.Input[str]]]
    """Roles that mount EFS over TLS; required for an EFS share without `tls: false`."""
    root_role_arns: NotRequired[list[pulumi.Input[str]]]
    """Roles among them whose root user is root on EFS. Default: none."""
    protect: NotRequired[bool]
    """Pulumi refuses to remove the file system. Default: true."""


class FileSystem(Adapter):
    """FSx for Lustre, FSx for OpenZFS or EFS, with its security group and its KMS key; protected by default."""

    file_system_id: pulumi.Output[str]
    """The file system's id."""
    source: pulumi.Output[str]
    """The address that clients mount."""
    security_group_id: pulumi.Output[str]
    """The file system's security group."""

    def __init__(self, name: str, args: FileSystemInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=file_system.FileSystem,
            arguments=lambda _: {
                "buckets": args.get("bucket_names"),
                "client_roles": args.get("client_role_arns") or (),
                "root_roles": args.get("root_role_arns") or (),
            },
            outputs=lambda component: {"file_system_id": component.resource.id, "source": component.resource.source},
        )


def _plan(args: FileSystemInputs) -> FileSystemArgs:
    environment = environment_of(
        args,
        zones=list(args["subnet_ids"]),
        storage={"cloud_shares": {"share": with_integers(args["share"])}},
        aws={"protect": args.get("protect", True)},
    )
    planned = file_system_args(environment)
    if not planned:
        raise ValueError(f"{args['share']['kind']} is an existing file system, which this component does not create")
    settings = planned[0].settings
    if isinstance(settings, EfsSettings) and settings.access is not None and not args.get("client_role_arns"):
        raise ValueError("an EFS share over TLS needs client_role_arns: only these roles may mount it")
    return planned[0]


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1", "use1-az6": "subnet-2"},
    "share": {"kind": "fsx_openzfs", "capacity_gib": 128.0},
    "clients": {"p5": "sg-1"},
    "route_table_ids": [],
    "protect": True,
    "bucket_names": {},
    "client_role_arns": [],
    "root_role_arns": [],
}
