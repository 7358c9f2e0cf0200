"""Every resource type: how a lost one is found, or why making it again does no harm.

Ids are those by which Pulumi's AWS provider reads a thing (each type's page in its registry, section Import).
"""

from collections.abc import Callable, Mapping

from landbridge.live.aws import AwsClient
from landbridge.live.recovery import hosts, more, services
from landbridge.live.recovery.match import Find, ec2

KINDS: Mapping[str, Find] = {
    "aws:ec2/customerGateway:CustomerGateway": ec2(
        "describe_customer_gateways", "CustomerGateways", "CustomerGatewayId",
        {"ipAddress": "IpAddress", "bgpAsn": "BgpAsn", "type": "Type"}, pages=False),
    "aws:ec2/eip:Eip": ec2("describe_addresses", "Addresses", "AllocationId", {"domain": "Domain"}, pages=False),
    "aws:ec2/flowLog:FlowLog": ec2(
        "describe_flow_logs", "FlowLogs", "FlowLogId",
        {"vpcId": "ResourceId", "subnetId": "ResourceId", "trafficType": "TrafficType"}, filters="Filter"),
    "aws:ec2/internetGateway:InternetGateway": services.internet_gateway,
    "aws:ec2/launchTemplate:LaunchTemplate": ec2(
        "describe_launch_templates", "LaunchTemplates", "LaunchTemplateId", {"name": "LaunchTemplateName"}),
    "aws:ec2/natGateway:NatGateway": ec2(
        "describe_nat_gateways", "NatGateways", "NatGatewayId", {"subnetId": "SubnetId"}),
    "aws:ec2/placementGroup:PlacementGroup": ec2(
        "describe_placement_groups", "PlacementGroups", "GroupName", {"name": "GroupName", "strategy": "Strategy"},
        pages=False),
    "aws:ec2/route:Route": services.route,
    "aws:ec2/routeTable:RouteTable": ec2("describe_route_tables", "RouteTables", "RouteTableId", {"vpcId": "VpcId"}),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": services.route_table_association,
    "aws:ec2/securityGroup:SecurityGroup": ec2(
        "describe_security_groups", "SecurityGroups", "GroupId", {"name": "GroupName", "vpcId": "VpcId"}),
    "aws:ec2/subnet:Subnet": ec2(
        "describe_subnets", "Subnets", "SubnetId", {"vpcId": "VpcId", "cidrBlock": "CidrBlock"}),
    "aws:ec2/vpc:Vpc": ec2("describe_vpcs", "Vpcs", "VpcId", {"cidrBlock": "CidrBlock"}),
    "aws:ec2/vpcEndpoint:VpcEndpoint": ec2(
        "describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", {"vpcId": "VpcId", "serviceName": "ServiceName"}),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": services.vpc_range,
    "aws:ec2/vpnConnection:VpnConnection": ec2(
        "describe_vpn_connections", "VpnConnections", "VpnConnectionId",
        {"customerGatewayId": "CustomerGatewayId", "transitGatewayId": "TransitGatewayId"}, pages=False),
    "aws:ec2transitgateway/transitGateway:TransitGateway": ec2(
        "describe_transit_gateways", "TransitGateways", "TransitGatewayId", {"description": "Description"}),
    "aws:ec2transitgateway/vpcAttachment:VpcAttachment": ec2(
        "describe_transit_gateway_vpc_attachments", "TransitGatewayVpcAttachments", "TransitGatewayAttachmentId",
        {"vpcId": "VpcId", "transitGatewayId": "TransitGatewayId"}),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": services.group_rule(egress=True),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": services.group_rule(egress=False),
    "aws:budgets/budget:Budget": services.budget,
    "aws:cloudtrail/trail:Trail": services.trail,
    "aws:cloudwatch/logGroup:LogGroup": services.log_group,
    "aws:efs/fileSystem:FileSystem": services.efs,
    "aws:efs/mountTarget:MountTarget": services.mount_target,
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": services.data_repository,
    "aws:fsx/lustreFileSystem:LustreFileSystem": services.fsx("LUSTRE"),
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": services.fsx("OPENZFS"),
    "aws:iam/instanceProfile:InstanceProfile": services.instance_profile,
    "aws:iam/policy:Policy": services.iam_policy,
    "aws:iam/role:Role": services.role,
    "aws:kms/alias:Alias": services.alias,
    "aws:kms/key:Key": services.key,
    "aws:lambda/function:Function": services.function,
    "aws:lambda/permission:Permission": services.permission,
    "aws:s3/bucket:Bucket": services.bucket,
    "aws:secretsmanager/secret:Secret": services.secret,
    "aws:ec2/instance:Instance": hosts.instance,
    "aws:ec2/subnetCidrReservation:SubnetCidrReservation": hosts.reservation,
    "aws:ec2/volumeAttachment:VolumeAttachment": hosts.attachment,
    "aws:ebs/volume:Volume": ec2(
        "describe_volumes", "Volumes", "VolumeId", {"availabilityZone": "AvailabilityZone", "kmsKeyId": "KmsKeyId"}),
    "aws:rds/instance:Instance": hosts.rds(
        "describe_db_instances", "DBInstances", "DBInstanceIdentifier", "DBInstanceArn", "identifier"),
    "aws:rds/parameterGroup:ParameterGroup": hosts.rds(
        "describe_db_parameter_groups", "DBParameterGroups", "DBParameterGroupName", "DBParameterGroupArn"),
    "aws:rds/subnetGroup:SubnetGroup": hosts.rds(
        "describe_db_subnet_groups", "DBSubnetGroups", "DBSubnetGroupName", "DBSubnetGroupArn"),
    **more.KINDS,
}  # fmt: skip

#: What the maker does right after making one, and what nobody would do later.
FINISH: Mapping[str, Callable[[AwsClient, str], None]] = {"aws:ec2/securityGroup:SecurityGroup": services.close_group}

_SET = "the call sets it, the first time and every other time"

#: Types whose creation may simply be done again, and why.
REPEATABLE: Mapping[str, str] = {
    "aws:cloudwatch/eventRule:EventRule": _SET,
    "aws:cloudwatch/eventTarget:EventTarget": _SET,
    "aws:costexplorer/costAllocationTag:CostAllocationTag": _SET,
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "it comes with its VPC, and is only emptied",
    "aws:efs/backupPolicy:BackupPolicy": _SET,
    "aws:iam/rolePolicy:RolePolicy": _SET,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _SET,
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _SET,
    "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration": _SET,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _SET,
    "aws:s3/bucketPolicy:BucketPolicy": _SET,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _SET,
    "aws:s3/bucketReplicationConfig:BucketReplicationConfig": _SET,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _SET,
    "aws:s3/bucketVersioning:BucketVersioning": _SET,
    "aws:s3/bucketObject:BucketObject": _SET,
    "aws:ssm/activation:Activation": "its code is told once: a lost one is of no use, and `sweep` finds it",
}
