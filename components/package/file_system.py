"""`landbridge:index:FileSystem`."""

from typing import Any, NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, whole
from landbridge.plan.aws.file_system import FileSystemArgs, file_system_args


class FileSystemInputs(OwnedInputs):
    """A file system that many nodes mount."""

    share: dict[str, Any]
    """As in storage.cloud_shares of an environment file: kind, and what the kind has."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""
    clients: dict[str, pulumi.Input[str]]
    """Security groups of those that mount it, by a name that stays."""
    route_table_ids: NotRequired[list[pulumi.Input[str]]]
    """For OpenZFS in two zones."""
    bucket_names: NotRequired[dict[str, pulumi.Input[str]]]
    """The hub's buckets by data class, for folders that show them."""
    protect: NotRequired[bool]
    """Whether Pulumi refuses to remove it; on unless it is said otherwise."""


class FileSystem(pulumi.ComponentResource):
    """FSx for Lustre, FSx for OpenZFS or EFS, with its security group and its key; protected unless it is said otherwise."""

    filesystem_id: pulumi.Output[str]
    """Its id."""
    source: pulumi.Output[str]
    """What is mounted."""
    security_group_id: pulumi.Output[str]
    """Its security group."""

    def __init__(self, name: str, args: FileSystemInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> FileSystemArgs:
            site = site_of(
                args,
                zones=list(args["subnet_ids"]),
                storage={"cloud_shares": {"share": whole(args["share"])}},
                aws={"protect": args.get("protect", True)},
            )
            return file_system_args(site)[0]

        wanted = planned(f"FileSystem {name}", plan)
        super().__init__("landbridge:index:FileSystem", name, dict(args), opts)
        made = components.FileSystem(
            name,
            wanted,
            account=account_of(self),
            vpc_id=args["vpc_id"],
            subnet_ids=args["subnet_ids"],
            clients=args["clients"],
            route_table_ids=list(args.get("route_table_ids", [])),
            buckets=args.get("bucket_names"),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.filesystem_id = made.made.id
        self.source = pulumi.Output.from_input(made.made.source)
        self.security_group_id = made.security_group_id
        self.register_outputs(
            {"filesystemId": self.filesystem_id, "source": self.source, "securityGroupId": self.security_group_id}
        )
