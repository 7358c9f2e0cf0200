"""Resources of an emulated AWS by kind: a test compares them before and after."""

from collections.abc import Callable
from typing import Any

import boto3

from sandbox.aws_emulator.process import EmulatorProcess

ACCOUNT = "123456789012"


def client(cloud: EmulatorProcess, service: str, region: str = "us-east-1") -> Any:
    return boto3.client(
        service, endpoint_url=cloud.endpoint, region_name=region, aws_access_key_id="t", aws_secret_access_key="t"
    )


def left(cloud: EmulatorProcess, region: str = "us-east-1") -> dict[str, set[str]]:
    """Return the names of all resources in a region. Keys that wait for their deletion count as deleted."""
    ec2, iam, s3 = (client(cloud, name, region) for name in ("ec2", "iam", "s3"))
    kms, secrets = client(cloud, "kms", region), client(cloud, "secretsmanager", region)
    rds, lines = client(cloud, "rds", region), client(cloud, "directconnect", region)
    names, resolver, models = (client(cloud, name, region) for name in ("route53", "route53resolver", "sagemaker"))
    fsx, efs, logs = (client(cloud, name, region) for name in ("fsx", "efs", "logs"))
    anywhere, costs = client(cloud, "rolesanywhere", region), client(cloud, "ce", region)
    budgets, ssm = client(cloud, "budgets", region), client(cloud, "ssm", region)
    budget_names = [budget["BudgetName"] for budget in budgets.describe_budgets(AccountId=ACCOUNT).get("Budgets", [])]
    actions = [
        budgets.describe_budget_actions_for_budget(AccountId=ACCOUNT, BudgetName=budget_name)["Actions"]
        for budget_name in budget_names
    ]

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
        "transit tables": ids(
            ec2.describe_transit_gateway_route_tables, "TransitGatewayRouteTables", "TransitGatewayRouteTableId"
        ),
        "lines": {
            *ids(lines.describe_virtual_interfaces, "virtualInterfaces", "virtualInterfaceId"),
            *ids(lines.describe_direct_connect_gateways, "directConnectGateways", "directConnectGatewayId"),
        },
        "customer gateways": ids(ec2.describe_customer_gateways, "CustomerGateways", "CustomerGatewayId"),
        "vpn connections": ids(ec2.describe_vpn_connections, "VpnConnections", "VpnConnectionId"),
        "launch templates": ids(ec2.describe_launch_templates, "LaunchTemplates", "LaunchTemplateId"),
        "placement groups": ids(ec2.describe_placement_groups, "PlacementGroups", "GroupName"),
        "trust anchors": ids(anywhere.list_trust_anchors, "trustAnchors", "trustAnchorId"),
        "profiles of roles": ids(anywhere.list_profiles, "profiles", "profileId"),
        "activations": ids(ssm.describe_activations, "ActivationList", "ActivationId"),
        "budgets": set(budget_names),
        "actions of budgets": {action["ActionId"] for budget_actions in actions for action in budget_actions},
        "anomalies": {
            *ids(costs.get_anomaly_monitors, "AnomalyMonitors", "MonitorArn"),
            *ids(costs.get_anomaly_subscriptions, "AnomalySubscriptions", "SubscriptionArn"),
        },
        # Billing keeps every tag that it has seen: only active cost allocation tags count.
        "tags in billing": {
            tag["TagKey"] for tag in costs.list_cost_allocation_tags(Status="Active")["CostAllocationTags"]
        },
        "roles": ids(iam.list_roles, "Roles", "RoleName"),
        "profiles": ids(iam.list_instance_profiles, "InstanceProfiles", "InstanceProfileName"),
        "buckets": ids(s3.list_buckets, "Buckets", "Name"),
        # Without the key that AWS creates for the first encrypted volume of a region, and keeps.
        "keys": {
            key["KeyId"] for key in keys if key["KeyState"] == "Enabled" and "my EBS volumes" not in key["Description"]
        },
        "aliases": {alias["AliasName"] for alias in kms.list_aliases()["Aliases"] if "graph" in alias["AliasName"]},
        "file systems": {
            *ids(fsx.describe_file_systems, "FileSystems", "FileSystemId"),
            *ids(efs.describe_file_systems, "FileSystems", "FileSystemId"),
        },
        "interfaces": ids(ec2.describe_network_interfaces, "NetworkInterfaces", "NetworkInterfaceId"),
        "zones": ids(names.list_hosted_zones, "HostedZones", "Id"),
        "resolver endpoints": ids(resolver.list_resolver_endpoints, "ResolverEndpoints", "Id"),
        "resolver rules": ids(resolver.list_resolver_rules, "ResolverRules", "Id"),
        "query log configs": ids(resolver.list_resolver_query_log_configs, "ResolverQueryLogConfigs", "Id"),
        "model groups": ids(models.list_model_package_groups, "ModelPackageGroupSummaryList", "ModelPackageGroupName"),
        "log groups": ids(logs.describe_log_groups, "logGroups", "logGroupName"),
        "flow logs": ids(ec2.describe_flow_logs, "FlowLogs", "FlowLogId"),
        "secrets": ids(secrets.list_secrets, "SecretList", "Name"),
        "image pipelines": ids(client(cloud, "imagebuilder", region).list_image_pipelines, "imagePipelineList", "name"),
        "instances": {
            item["InstanceId"]
            for group in ec2.describe_instances()["Reservations"]
            for item in group["Instances"]
            if item["State"]["Name"] != "terminated"
        },
        "volumes": ids(ec2.describe_volumes, "Volumes", "VolumeId"),
        "databases": ids(rds.describe_db_instances, "DBInstances", "DBInstanceIdentifier"),
        "database groups": {
            *ids(rds.describe_db_subnet_groups, "DBSubnetGroups", "DBSubnetGroupName"),
            *ids(rds.describe_db_parameter_groups, "DBParameterGroups", "DBParameterGroupName"),
        },
    }
