"""Everything of an emulated AWS that a stack may have made, by kind: what a test compares before and after."""

from collections.abc import Callable
from typing import Any

import boto3

from sandbox.cloud.process import Cloud


def client(cloud: Cloud, service: str) -> Any:
    return boto3.client(
        service, endpoint_url=cloud.endpoint, region_name="us-east-1", aws_access_key_id="t", aws_secret_access_key="t"
    )


def left(cloud: Cloud) -> dict[str, set[str]]:
    """Return the names of everything there is. Keys that wait for their deletion are gone, as far as anybody can use them."""
    ec2, iam, s3 = (client(cloud, name) for name in ("ec2", "iam", "s3"))
    kms, secrets = client(cloud, "kms"), client(cloud, "secretsmanager")
    fsx, efs, logs = (client(cloud, name) for name in ("fsx", "efs", "logs"))

    def ids(call: Callable[..., Any], key: str, name: str, state: str = "State") -> set[str]:
        return {item[name] for item in call()[key] if "delet" not in str(item.get(state, ""))}

    keys = [kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"] for key in kms.list_keys()["Keys"]]
    return {
        "vpcs": ids(ec2.describe_vpcs, "Vpcs", "VpcId"),
        "subnets": ids(ec2.describe_subnets, "Subnets", "SubnetId"),
        "route tables": ids(ec2.describe_route_tables, "RouteTables", "RouteTableId"),
        "security groups": ids(ec2.describe_security_groups, "SecurityGroups", "GroupId"),
        "endpoints": ids(ec2.describe_vpc_endpoints, "VpcEndpoints", "VpcEndpointId"),
        "internet gateways": ids(ec2.describe_internet_gateways, "InternetGateways", "InternetGatewayId"),
        "nat gateways": ids(ec2.describe_nat_gateways, "NatGateways", "NatGatewayId"),
        "addresses": ids(ec2.describe_addresses, "Addresses", "PublicIp"),
        "transit gateways": ids(ec2.describe_transit_gateways, "TransitGateways", "TransitGatewayId"),
        "attachments": ids(
            ec2.describe_transit_gateway_vpc_attachments, "TransitGatewayVpcAttachments", "TransitGatewayAttachmentId"
        ),
        "customer gateways": ids(ec2.describe_customer_gateways, "CustomerGateways", "CustomerGatewayId"),
        "vpn connections": ids(ec2.describe_vpn_connections, "VpnConnections", "VpnConnectionId"),
        "launch templates": ids(ec2.describe_launch_templates, "LaunchTemplates", "LaunchTemplateId"),
        "placement groups": ids(ec2.describe_placement_groups, "PlacementGroups", "GroupName"),
        "roles": ids(iam.list_roles, "Roles", "RoleName"),
        "profiles": ids(iam.list_instance_profiles, "InstanceProfiles", "InstanceProfileName"),
        "buckets": ids(s3.list_buckets, "Buckets", "Name"),
        "keys": {key["KeyId"] for key in keys if key["KeyState"] == "Enabled"},
        "aliases": {alias["AliasName"] for alias in kms.list_aliases()["Aliases"] if "graph" in alias["AliasName"]},
        "file systems": {
            *ids(fsx.describe_file_systems, "FileSystems", "FileSystemId"),
            *ids(efs.describe_file_systems, "FileSystems", "FileSystemId"),
        },
        "interfaces": ids(ec2.describe_network_interfaces, "NetworkInterfaces", "NetworkInterfaceId"),
        "log groups": ids(logs.describe_log_groups, "logGroups", "logGroupName"),
        "flow logs": ids(ec2.describe_flow_logs, "FlowLogs", "FlowLogId"),
        "secrets": ids(secrets.list_secrets, "SecretList", "Name"),
    }
