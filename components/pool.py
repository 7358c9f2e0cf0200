"""Launch template, placement groups and security group of a pool."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.aws.pool import PoolArgs, SecurityGroupRule


class Pool(Component):
    """Launch template with its placement groups and security group. Starts no instance.

    Costs nothing until the burst controller launches from it. Protects: IMDSv2 only with hop limit 1 and no public address,
    unless the pool sets others; encrypted disks. `mounts` (source, type, options, mount) are the file systems that
    its nodes mount at boot. Opens all ports between the pool's own nodes (EFA requires it), and the ports of Slurm and SSH
    to the on-prem range.
    """

    template: aws.ec2.LaunchTemplate
    security_group_id: pulumi.Output[str]
    placement_groups: dict[str, pulumi.Input[str]]

    def __init__(
        self,
        name: str,
        args: PoolArgs,
        *,
        vpc_id: pulumi.Input[str],
        profile_arn: pulumi.Input[str],
        mounts: pulumi.Input[Sequence[Mapping[str, str]]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"instanceType": args.instance_type}, opts)
        self._name, self._args = name, args
        self._child_options = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            name,
            name=args.name,
            description=f"Landbridge {args.cluster}: nodes of pool {args.pool}",
            vpc_id=vpc_id,
            tags=named(args.tags, args.name),
            opts=self._child_options,
        )
        self.security_group_id = group.id
        for rule in args.security_group_rules:
            self._rule(rule, group.id)
        self.placement_groups = self._placement_groups()
        self.template = self._template(profile_arn, _encoded(args, mounts))
        self.register_outputs({"launchTemplateId": self.template.id, "securityGroupId": group.id})

    def exports(self, subnet_ids: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
        """Return the stack's output for this pool, given the network's subnets by zone."""
        args, groups = self._args, self.placement_groups
        return {
            "launch_template_id": self.template.id,
            "launch_template_name": self.template.name,
            "launch_template_version": self.template.latest_version.apply(str),
            "instance_type": args.instance_type,
            "max_nodes": args.max_nodes,
            "market": args.market.kind,
            "placement_group": next(iter(groups.values())) if args.has_one_capacity and len(groups) == 1 else None,
            "security_group_id": self.security_group_id,
            "subnets": [
                {"id": subnet_ids[zone], "zone": zone, "placement_group": groups.get(zone)} for zone in args.zones
            ],
        }

    def _rule(self, rule: SecurityGroupRule, group: pulumi.Output[str]) -> None:
        kind = aws.vpc.SecurityGroupIngressRule if rule.direction == "in" else aws.vpc.SecurityGroupEgressRule
        peer = {"referenced_security_group_id": group} if rule.peer == "self" else {"cidr_ipv4": rule.peer}
        ports = {} if rule.ports is None else {"from_port": rule.ports[0], "to_port": rule.ports[1]}
        kind(
            f"{self._name}-{rule.key}",
            security_group_id=group,
            ip_protocol=rule.protocol,
            description=rule.why,
            tags=self._args.tags,
            opts=self._child_options,
            **peer,
            **ports,
        )

    def _placement_groups(self) -> dict[str, pulumi.Input[str]]:
        """Return the placement group of each zone: an existing one, or a new one."""
        args, groups = self._args, dict[str, pulumi.Input[str]]()
        if args.own_placement_group is not None:
            return dict.fromkeys(args.placement_zones, args.own_placement_group)
        for zone in args.placement_zones:
            label = args.placement_group(zone)
            group = aws.ec2.PlacementGroup(
                f"{self._name}-{zone}",
                name=label,
                strategy=args.placement,
                tags=named(self._args.tags, label),
                opts=self._child_options,
            )
            groups[zone] = group.name
        return groups

    def _template(self, profile_arn: pulumi.Input[str], user_data: pulumi.Input[str]) -> aws.ec2.LaunchTemplate:
        """Create the launch template, without network interfaces: each launch sets them with their subnet, and EC2 does
        not document how it merges both.
        """
        args = self._args
        disk = {
            "volume_size": args.root_volume_gib,
            "volume_type": "gp3",
            "iops": args.root_volume_iops,
            "throughput": args.root_volume_throughput,
            "encrypted": "true",
            "delete_on_termination": "true",
        }
        return aws.ec2.LaunchTemplate(
            self._name,
            name=args.name,
            description=f"Landbridge {args.cluster}: pool {args.pool}",
            update_default_version=True,
            image_id=args.image,
            instance_type=args.instance_type,
            iam_instance_profile={"arn": profile_arn},
            # A node powers off at the end of its lease; "terminate" also ends its cost.
            instance_initiated_shutdown_behavior="terminate",
            metadata_options={
                "http_endpoint": "enabled",
                "http_tokens": "required",
                "http_put_response_hop_limit": args.imds_hop_limit,
                "instance_metadata_tags": "enabled",
            },
            monitoring={"enabled": args.detailed_monitoring},
            cpu_options=None if args.cpu_options is None else args.cpu_options.model_dump(),
            block_device_mappings=[{"device_name": args.root_device, "ebs": disk}],
            user_data=user_data,
            tag_specifications=[
                {"resource_type": kind, "tags": named(args.tags, args.name)} for kind in ("instance", "volume")
            ],
            tags=named(args.tags, args.name),
            opts=self._child_options,
            **self._placement(),
            **(_market(args) if args.has_one_capacity else {}),
        )

    def _placement(self) -> dict[str, Any]:
        """Return the template's placement: it names the group for one capacity in one zone; otherwise each launch names its zone's group."""
        if not self._args.has_one_capacity or len(self.placement_groups) != 1:
            return {}
        return {"placement": {"group_name": next(iter(self.placement_groups.values()))}}


def _encoded(args: PoolArgs, mounts: pulumi.Input[Sequence[Mapping[str, str]]] | None) -> pulumi.Input[str]:
    """Return the user data for EC2. A file system's address is known only after its creation."""

    def encode(mount_list: Sequence[Mapping[str, str]]) -> str:
        return base64.b64encode(args.user_data(mount_list).encode()).decode()

    return encode(()) if mounts is None else pulumi.Output.from_input(mounts).apply(encode)


def _market(args: PoolArgs) -> Mapping[str, Any]:
    market, arguments = args.market, dict[str, Any]()
    if market.kind == "spot":
        price = {} if market.max_price_usd is None else {"max_price": str(market.max_price_usd)}
        options = {"spot_instance_type": "one-time", "instance_interruption_behavior": "terminate", **price}
        arguments["instance_market_options"] = {"market_type": "spot", "spot_options": options}
    elif market.kind == "capacity-block":
        arguments["instance_market_options"] = {"market_type": "capacity-block"}
    target = (
        {"capacity_reservation_id": market.reservation}
        if market.reservation and market.preference is None
        else {"capacity_reservation_resource_group_arn": market.reservation_group}
        if market.reservation_group
        else None
    )
    if target is not None:
        arguments["capacity_reservation_specification"] = {"capacity_reservation_target": target}
    elif market.preference is not None:
        arguments["capacity_reservation_specification"] = {"capacity_reservation_preference": market.preference}
    return arguments
