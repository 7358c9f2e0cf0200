"""The kinds of thing that are looked for, in the order in which AWS lets go of them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from landbridge.live.answers import AwsRefusal
from landbridge.live.aws import AwsClient
from landbridge.live.sweep import databases, lines, names, network, rights

Item = Mapping[str, Any]
CLUSTER = "landbridge:cluster"


@dataclass(frozen=True, slots=True)
class SweptType:
    """One kind: how to list what bears a cluster's tag, and how to remove one.

    `billed` while it merely exists; `data`: what it holds is nowhere else, so that it is removed only by name.
    """

    name: str
    action: str
    find: Callable[[AwsClient, str], Iterable[Item]]
    id_key: str
    delete: Callable[[AwsClient, Item], None]
    billed: bool = False
    data: bool = False
    tags_key: str = "Tags"

    def id(self, item: Item) -> str:
        """The id by which AWS and people know it."""
        return str(item[self.id_key])

    def tags(self, item: Item) -> dict[str, str]:
        """Its tags."""
        return {str(tag["Key"]): str(tag["Value"]) for tag in item.get(self.tags_key) or ()}


def _ec2(operation: str, key: str, *states: str, pages: bool = True) -> Callable[[AwsClient, str], Iterable[Item]]:
    """List with EC2's own filter by tag; only things in `states`, where some are given."""

    def find(aws: AwsClient, cluster: str) -> Iterable[Item]:
        filters = [{"Name": f"tag:{CLUSTER}", "Values": [cluster]}]
        found = aws.all("ec2", operation, key, Filters=filters) if pages else None
        items = aws.ask("ec2", operation, Filters=filters)[key] if found is None else found
        return [item for item in items if not states or str(item.get("State", item.get("Status"))).lower() in states]

    return find


def _instances(aws: AwsClient, cluster: str) -> Iterable[Item]:
    filters = [
        {"Name": f"tag:{CLUSTER}", "Values": [cluster]},
        {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]},
    ]
    groups = aws.all("ec2", "describe_instances", "Reservations", Filters=filters)
    return [instance for group in groups for instance in group["Instances"]]


def _snapshots(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Those of volumes: an image's own go with the image."""
    images = aws.ask("ec2", "describe_images", Owners=["self"])["Images"]
    disks = [disk.get("Ebs", {}) for image in images for disk in image.get("BlockDeviceMappings") or ()]
    of_images = {disk.get("SnapshotId") for disk in disks}
    found = _ec2("describe_snapshots", "Snapshots", "pending", "completed")(aws, cluster)
    return [one for one in found if one["SnapshotId"] not in of_images]


def _fsx(aws: AwsClient, cluster: str) -> Iterable[Item]:
    return _tagged(aws.all("fsx", "describe_file_systems", "FileSystems"), cluster)


def _efs(aws: AwsClient, cluster: str) -> Iterable[Item]:
    return _tagged(aws.all("efs", "describe_file_systems", "FileSystems"), cluster)


def _activations(aws: AwsClient, cluster: str) -> Iterable[Item]:
    return _tagged(aws.all("ssm", "describe_activations", "ActivationList"), cluster)


def _tagged(items: Iterable[Item], cluster: str) -> list[Item]:
    own = {"Key": CLUSTER, "Value": cluster}
    return [
        item
        for item in items
        if own in (item.get("Tags") or ())
        and str(item.get("Lifecycle", item.get("LifeCycleState"))).lower() != "deleting"
    ]


def _call(
    service: str, operation: str, parameter: str, key: str, many: bool = False
) -> Callable[[AwsClient, Item], None]:
    def delete(aws: AwsClient, item: Item) -> None:
        named: dict[str, Any] = {parameter: [item[key]] if many else item[key]}
        aws.ask(service, operation, **named)

    return delete


def _delete_group(aws: AwsClient, item: Item) -> None:
    """Rules go first: two groups that name one another keep one another alive."""
    for way, permissions in (("ingress", "IpPermissions"), ("egress", "IpPermissionsEgress")):
        rules = item.get(permissions)
        # An earlier pass, or the other group's end, may have taken them; if not, the deletion says what is in the way.
        with suppress(AwsRefusal):
            if rules:
                aws.ask("ec2", f"revoke_security_group_{way}", GroupId=item["GroupId"], IpPermissions=rules)
    aws.ask("ec2", "delete_security_group", GroupId=item["GroupId"])


def _delete_efs(aws: AwsClient, item: Item) -> None:
    own = {"FileSystemId": item["FileSystemId"]}
    for target in aws.all("efs", "describe_mount_targets", "MountTargets", **own):
        with suppress(AwsRefusal):  # it may be going already; the file system's deletion says whether it is gone
            aws.ask("efs", "delete_mount_target", MountTargetId=target["MountTargetId"])
    aws.ask("efs", "delete_file_system", **own)


def _delete_endpoint(aws: AwsClient, item: Item) -> None:
    told = aws.ask("ec2", "delete_vpc_endpoints", VpcEndpointIds=[item["VpcEndpointId"]])
    # EC2 answers this call with success whatever came of it.
    for failed in told.get("Unsuccessful") or ():
        error = failed.get("Error", {})
        raise AwsRefusal("ec2:DeleteVpcEndpoints", str(error.get("Code")), str(error.get("Message")))


def _delete_image(aws: AwsClient, item: Item) -> None:
    """With the snapshots that it starts from: they are what costs."""
    aws.ask("ec2", "deregister_image", ImageId=item["ImageId"], DeleteAssociatedSnapshots=True)


#: Source of the order: an interface outlives its instance by moments, a group its interfaces, a gateway its attachments.
KINDS: tuple[SweptType, ...] = (
    SweptType("instance", "ec2:DescribeInstances", _instances, "InstanceId",
         _call("ec2", "terminate_instances", "InstanceIds", "InstanceId", many=True), billed=True),
    # Whatever a pipeline has built it can build again.
    SweptType("image", "ec2:DescribeImages", _ec2("describe_images", "Images", "available", "pending", "failed", pages=False),
         "ImageId", _delete_image, billed=True),
    SweptType("NAT gateway", "ec2:DescribeNatGateways", _ec2("describe_nat_gateways", "NatGateways", "pending", "available"),
         "NatGatewayId", _call("ec2", "delete_nat_gateway", "NatGatewayId", "NatGatewayId"), billed=True),
    SweptType("VPN", "ec2:DescribeVpnConnections",
         _ec2("describe_vpn_connections", "VpnConnections", "pending", "available", pages=False),
         "VpnConnectionId", _call("ec2", "delete_vpn_connection", "VpnConnectionId", "VpnConnectionId"), billed=True),
    SweptType("attachment", "ec2:DescribeTransitGatewayVpcAttachments",
         _ec2("describe_transit_gateway_vpc_attachments", "TransitGatewayVpcAttachments", "pending", "available"),
         "TransitGatewayAttachmentId",
         _call("ec2", "delete_transit_gateway_vpc_attachment", "TransitGatewayAttachmentId", "TransitGatewayAttachmentId"),
         billed=True),
    SweptType("peering", "ec2:DescribeTransitGatewayPeeringAttachments",
         _ec2("describe_transit_gateway_peering_attachments", "TransitGatewayPeeringAttachments",
              "initiating", "initiatingrequest", "pendingacceptance", "pending", "available", "modifying"),
         "TransitGatewayAttachmentId",
         _call("ec2", "delete_transit_gateway_peering_attachment", "TransitGatewayAttachmentId", "TransitGatewayAttachmentId"),
         billed=True),
    SweptType("virtual interface", "directconnect:DescribeVirtualInterfaces", lines.interfaces, "virtualInterfaceId",
         lines.delete_interface, billed=True),
    SweptType("Direct Connect gateway", "directconnect:DescribeDirectConnectGateways", lines.gateways,
         "directConnectGatewayId", lines.delete_gateway, billed=True),
    SweptType("transit route table", "ec2:DescribeTransitGatewayRouteTables", lines.tables, "TransitGatewayRouteTableId",
         lines.delete_table),
    SweptType("transit gateway", "ec2:DescribeTransitGateways",
         _ec2("describe_transit_gateways", "TransitGateways", "pending", "available"), "TransitGatewayId",
         _call("ec2", "delete_transit_gateway", "TransitGatewayId", "TransitGatewayId")),
    SweptType("customer gateway", "ec2:DescribeCustomerGateways",
         _ec2("describe_customer_gateways", "CustomerGateways", "pending", "available", pages=False), "CustomerGatewayId",
         _call("ec2", "delete_customer_gateway", "CustomerGatewayId", "CustomerGatewayId")),
    SweptType("endpoint", "ec2:DescribeVpcEndpoints",
         _ec2("describe_vpc_endpoints", "VpcEndpoints", "pending", "available", "pendingacceptance"), "VpcEndpointId",
         _delete_endpoint, billed=True),
    SweptType("resolver rule", "route53resolver:ListResolverRules", names.resolver_rules, "Id", names.delete_rule),
    SweptType("resolver endpoint", "route53resolver:ListResolverEndpoints", names.resolver_endpoints, "Id",
         _call("route53resolver", "delete_resolver_endpoint", "ResolverEndpointId", "Id"), billed=True),
    SweptType("log of questions", "route53resolver:ListResolverQueryLogConfigs", names.query_logs, "Id",
         names.delete_query_log),
    SweptType("group of models", "sagemaker:ListModelPackageGroups", names.model_groups, "ModelPackageGroupName",
         _call("sagemaker", "delete_model_package_group", "ModelPackageGroupName", "ModelPackageGroupName"), data=True),
    # Others may have put names into it.
    SweptType("zone", "route53:ListHostedZones", names.zones, "Id", names.delete_zone, billed=True, data=True),
    SweptType("FSx file system", "fsx:DescribeFileSystems", _fsx, "FileSystemId",
         _call("fsx", "delete_file_system", "FileSystemId", "FileSystemId"), billed=True, data=True),
    SweptType("EFS file system", "elasticfilesystem:DescribeFileSystems", _efs, "FileSystemId", _delete_efs,
         billed=True, data=True),
    SweptType("database", "rds:DescribeDBInstances", databases.instances, "DBInstanceIdentifier", databases.delete_instance,
         billed=True, data=True),
    SweptType("database's snapshot", "rds:DescribeDBSnapshots", databases.snapshots, "DBSnapshotIdentifier",
         _call("rds", "delete_db_snapshot", "DBSnapshotIdentifier", "DBSnapshotIdentifier"), billed=True, data=True),
    SweptType("database's subnets", "rds:DescribeDBSubnetGroups", databases.subnet_groups, "DBSubnetGroupName",
         _call("rds", "delete_db_subnet_group", "DBSubnetGroupName", "DBSubnetGroupName")),
    SweptType("database's parameters", "rds:DescribeDBParameterGroups", databases.parameter_groups, "DBParameterGroupName",
         _call("rds", "delete_db_parameter_group", "DBParameterGroupName", "DBParameterGroupName")),
    SweptType("interface", "ec2:DescribeNetworkInterfaces",
         _ec2("describe_network_interfaces", "NetworkInterfaces", "available", "pending"), "NetworkInterfaceId",
         _call("ec2", "delete_network_interface", "NetworkInterfaceId", "NetworkInterfaceId"), tags_key="TagSet"),
    SweptType("address", "ec2:DescribeAddresses", _ec2("describe_addresses", "Addresses", pages=False), "AllocationId",
         _call("ec2", "release_address", "AllocationId", "AllocationId"), billed=True),
    SweptType("volume", "ec2:DescribeVolumes", _ec2("describe_volumes", "Volumes", "creating", "available"), "VolumeId",
         _call("ec2", "delete_volume", "VolumeId", "VolumeId"), billed=True, data=True),
    SweptType("snapshot", "ec2:DescribeSnapshots", _snapshots, "SnapshotId",
         _call("ec2", "delete_snapshot", "SnapshotId", "SnapshotId"), billed=True, data=True),
    SweptType("launch template", "ec2:DescribeLaunchTemplates", _ec2("describe_launch_templates", "LaunchTemplates"),
         "LaunchTemplateId", _call("ec2", "delete_launch_template", "LaunchTemplateId", "LaunchTemplateId")),
    SweptType("placement group", "ec2:DescribePlacementGroups",
         _ec2("describe_placement_groups", "PlacementGroups", "pending", "available", pages=False), "GroupName",
         _call("ec2", "delete_placement_group", "GroupName", "GroupName")),
    SweptType("security group", "ec2:DescribeSecurityGroups", _ec2("describe_security_groups", "SecurityGroups"), "GroupId",
         _delete_group),
    SweptType("route table", "ec2:DescribeRouteTables", _ec2("describe_route_tables", "RouteTables"), "RouteTableId",
         network.delete_route_table),
    SweptType("subnet", "ec2:DescribeSubnets", _ec2("describe_subnets", "Subnets"), "SubnetId",
         _call("ec2", "delete_subnet", "SubnetId", "SubnetId")),
    SweptType("internet gateway", "ec2:DescribeInternetGateways", _ec2("describe_internet_gateways", "InternetGateways"),
         "InternetGatewayId", network.delete_internet_gateway),
    SweptType("VPC", "ec2:DescribeVpcs", _ec2("describe_vpcs", "Vpcs"), "VpcId", _call("ec2", "delete_vpc", "VpcId", "VpcId")),
    SweptType("key", "kms:ListKeys", network.keys, "KeyId", network.delete_key, billed=True, data=True),
    SweptType("activation", "ssm:DescribeActivations", _activations, "ActivationId",
         _call("ssm", "delete_activation", "ActivationId", "ActivationId")),
    SweptType("profile of IAM Roles Anywhere", "rolesanywhere:ListProfiles", rights.profiles, "profileId",
         _call("rolesanywhere", "delete_profile", "profileId", "profileId")),
    # Whoever has its key may still ask for credentials.
    SweptType("trust anchor", "rolesanywhere:ListTrustAnchors", rights.anchors, "trustAnchorId",
         _call("rolesanywhere", "delete_trust_anchor", "trustAnchorId", "trustAnchorId")),
    SweptType("budget", "budgets:ViewBudget", rights.budgets, "Id", rights.delete_budget),
)  # fmt: skip
