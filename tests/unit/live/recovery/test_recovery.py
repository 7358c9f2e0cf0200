"""Recovery of the state: every resource that an interrupted operation created is found again."""

from typing import Any

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources import BY_TOKEN
from landbridge.live.recovery import recover
from landbridge.plan.resource_change import ResourceChange
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import RESOURCE_TYPES as PROVIDED
from sandbox.pulumi_provider.aws import EmulatedAws
from tests.graph.support.permissions_environment import authority

TAGS = {"landbridge:cluster": "test", "landbridge:owner": "somebody@example.org"}
NODE = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:DescribeTags", "Resource": "*"}]}'
TRUST = NODE.replace('"Resource": "*"', '"Principal": {"Service": "ec2.amazonaws.com"}').replace(
    "ec2:DescribeTags", "sts:AssumeRole"
)
BUDGETS = TRUST.replace("ec2.amazonaws.com", "budgets.amazonaws.com")
SUBNET, ROUTES = "aws:ec2/subnet:Subnet", "aws:ec2/routeTable:RouteTable"

#: Name, type and inputs, in an order in which they can be created. `$name` is the id of an earlier row.
ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("vpc", "aws:ec2/vpc:Vpc", {"cidrBlock": "10.60.0.0/16", "tags": TAGS}),
    ("range", "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
     {"vpcId": "$vpc", "cidrBlock": "10.61.0.0/16"}),
    ("net", SUBNET, {"vpcId": "$vpc", "cidrBlock": "10.60.1.0/24", "availabilityZoneId": "use1-az4", "tags": TAGS}),
    ("net2", SUBNET, {"vpcId": "$vpc", "cidrBlock": "10.60.2.0/24", "availabilityZoneId": "use1-az6", "tags": TAGS}),
    ("igw", "aws:ec2/internetGateway:InternetGateway", {"vpcId": "$vpc", "tags": TAGS}),
    ("eip", "aws:ec2/eip:Eip", {"domain": "vpc", "tags": TAGS}),
    ("nat", "aws:ec2/natGateway:NatGateway", {"subnetId": "$net", "allocationId": "$eip", "tags": TAGS}),
    ("routes", ROUTES, {"vpcId": "$vpc", "tags": TAGS}),
    ("joined", "aws:ec2/routeTableAssociation:RouteTableAssociation", {"subnetId": "$net", "routeTableId": "$routes"}),
    ("route", "aws:ec2/route:Route",
     {"routeTableId": "$routes", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": "$nat"}),
    ("endpoint", "aws:ec2/vpcEndpoint:VpcEndpoint",
     {"vpcId": "$vpc", "serviceName": "com.amazonaws.us-east-1.s3", "vpcEndpointType": "Gateway", "tags": TAGS}),
    ("group", "aws:ec2/securityGroup:SecurityGroup",
     {"vpcId": "$vpc", "name": "test-p5", "description": "nodes", "tags": TAGS}),
    ("in", "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
     {"securityGroupId": "$group", "ipProtocol": "tcp", "fromPort": 22, "toPort": 22, "cidrIpv4": "10.20.0.0/16"}),
    ("out", "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
     {"securityGroupId": "$group", "ipProtocol": "-1", "referencedSecurityGroupId": "$group"}),
    ("hub", "aws:ec2transitgateway/transitGateway:TransitGateway", {"description": "between", "tags": TAGS}),
    ("peer", "aws:ec2/customerGateway:CustomerGateway",
     {"bgpAsn": "65010", "ipAddress": "203.0.113.10", "type": "ipsec.1", "tags": TAGS}),
    ("vpn", "aws:ec2/vpnConnection:VpnConnection",
     {"customerGatewayId": "$peer", "transitGatewayId": "$hub", "type": "ipsec.1", "tags": TAGS}),
    ("attached", "aws:ec2transitgateway/vpcAttachment:VpcAttachment",
     {"transitGatewayId": "$hub", "vpcId": "$vpc", "subnetIds": ["$net"], "tags": TAGS}),
    ("table", "aws:ec2transitgateway/routeTable:RouteTable", {"transitGatewayId": "$hub", "tags": TAGS}),
    ("template", "aws:ec2/launchTemplate:LaunchTemplate",
     {"name": "test-p5", "instanceType": "p5.48xlarge", "tags": TAGS}),
    ("placed", "aws:ec2/placementGroup:PlacementGroup", {"name": "test-p5", "strategy": "cluster", "tags": TAGS}),
    ("role", "aws:iam/role:Role", {"name": "test-node", "path": "/", "assumeRolePolicy": TRUST, "tags": TAGS}),
    ("policy", "aws:iam/policy:Policy", {"name": "test-bound", "policy": NODE, "tags": TAGS}),
    ("profile", "aws:iam/instanceProfile:InstanceProfile", {"name": "test-node", "role": "$role", "tags": TAGS}),
    ("key", "aws:kms/key:Key", {"description": "Landbridge test: internal", "tags": TAGS}),
    ("alias", "aws:kms/alias:Alias", {"name": "alias/test-internal", "targetKeyId": "$key"}),
    ("bucket", "aws:s3/bucket:Bucket", {"bucket": "test-internal-123456789012", "tags": TAGS}),
    ("secret", "aws:secretsmanager/secret:Secret", {"name": "test/slurm-key", "description": "key", "tags": TAGS}),
    ("logs", "aws:cloudwatch/logGroup:LogGroup", {"name": "/landbridge/test", "retentionInDays": 30, "tags": TAGS}),
    ("budget", "aws:budgets/budget:Budget",
     {"name": "test", "budgetType": "COST", "timeUnit": "MONTHLY", "limitAmount": "10", "limitUnit": "USD"}),
    ("files", "aws:efs/fileSystem:FileSystem",
     {"creationToken": "one", "performanceMode": "generalPurpose", "encrypted": True, "tags": TAGS}),
    ("mount", "aws:efs/mountTarget:MountTarget",
     {"fileSystemId": "$files", "subnetId": "$net", "securityGroups": ["$group"]}),
    ("spender", "aws:iam/role:Role", {"name": "test-budget", "path": "/", "assumeRolePolicy": BUDGETS, "tags": TAGS}),
    ("stop", "aws:budgets/budgetAction:BudgetAction",
     {"budgetName": "test", "actionType": "APPLY_IAM_POLICY", "approvalModel": "AUTOMATIC", "notificationType": "ACTUAL",
      "actionThreshold": {"actionThresholdType": "PERCENTAGE", "actionThresholdValue": 100},
      "definition": {"iamActionDefinition": {"policyArn": "$policy", "roles": ["$role"]}},
      "executionRoleArn": "arn:aws:iam::123456789012:role/test-budget",
      "subscribers": [{"subscriptionType": "EMAIL", "address": "a@example.org"}], "tags": TAGS}),
    ("anchor", "aws:rolesanywhere/trustAnchor:TrustAnchor",
     {"name": "test-site", "enabled": True, "tags": TAGS,
      "source": {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": authority()}}}),
    ("exchanged", "aws:rolesanywhere/profile:Profile",
     {"name": "test-node", "enabled": True, "roleArns": ["arn:aws:iam::123456789012:role/test-node"], "tags": TAGS}),
    ("watch", "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
     {"name": "test", "monitorType": "DIMENSIONAL", "monitorDimension": "SERVICE", "tags": TAGS}),
    ("letter", "aws:costexplorer/anomalySubscription:AnomalySubscription",
     {"name": "test", "frequency": "DAILY", "monitorArnLists": ["$watch"], "tags": TAGS,
      "subscribers": [{"type": "EMAIL", "address": "a@example.org"}],
      "thresholdExpression": {"dimension": {"key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE", "values": ["50"],
                                            "matchOptions": ["GREATER_THAN_OR_EQUAL"]}}}),
    ("zone", "aws:route53/zone:Zone", {"name": "cluster.example", "vpcs": [{"vpcId": "$vpc"}], "tags": TAGS}),
)  # fmt: skip


@pytest.fixture
def resources(cloud: EmulatorProcess) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Create the resource of each row; return type, id and inputs by name."""
    connection, done = EmulatedAws(cloud.endpoint, "us-east-1"), dict[str, tuple[str, str, dict[str, Any]]]()

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return done[value[1:]][1] if isinstance(value, str) and value.startswith("$") else value

    for name, token, inputs in ROWS:
        resolved = filled(inputs)
        done[name] = (token, PROVIDED[token](connection).create(resolved)[0], resolved)
    return done


def change(name: str, token: str, inputs: dict[str, Any]) -> ResourceChange:
    return ResourceChange(urn=f"urn:pulumi:test::landbridge::{token}::{name}", operation="create", new=inputs)


def test_everything_is_found_by_its_inputs_and_by_no_others(
    cloud: EmulatorProcess, resources: dict[str, tuple[str, str, dict[str, Any]]]
) -> None:
    def connect(region: str | None) -> AwsClient:
        return AwsClient(region or "us-east-1", cloud.endpoint)

    begun = [change(name, token, inputs) for name, (token, _, inputs) in resources.items()]
    recovered = recover(connect, begun, {})
    routes = "aws:ec2/route:Route"  # found by its table and destination: its id is not compared
    expected = {entry.urn: resources[entry.name][1] for entry in begun if entry.type != routes}
    assert {urn: id_ for urn, id_ in recovered.items() if routes not in urn} == expected
    assert any(routes in urn for urn in recovered)

    # Ids that the state contains are not recovered a second time.
    known: dict[str, set[str]] = {}
    for token, id_, _ in resources.values():
        known.setdefault(token, set()).add(id_)
    repeated = recover(connect, begun, {token: frozenset(ids) for token, ids in known.items()})
    assert {urn for urn in repeated if routes not in urn} == set()

    # Resources with another cluster's tag, or with no cluster tag, are not recovered.
    for tags in ({**TAGS, "landbridge:cluster": "another"}, {"landbridge:owner": "somebody@example.org"}):
        others = [
            change(name, token, {**inputs, "tags": tags})
            for name, (token, _, inputs) in resources.items()
            if "tags" in inputs
        ]
        assert recover(connect, others, {}) == {}

    # Two changes with equal inputs, but one resource: the first change gets it.
    original = begun[next(place for place, it in enumerate(begun) if it.type == ROUTES)]
    twin = change("twin", ROUTES, dict(original.new))
    assert set(recover(connect, [original, twin], {})) == {original.urn}


def test_a_recovered_security_group_has_no_default_egress_rule(
    cloud: EmulatorProcess, resources: dict[str, tuple[str, str, dict[str, Any]]]
) -> None:
    ec2 = EmulatedAws(cloud.endpoint, "us-east-1").client("ec2")
    inputs = {"vpcId": resources["vpc"][1], "name": "half", "description": "half made", "tags": TAGS}
    tags = [{"Key": key, "Value": value} for key, value in TAGS.items()]
    group = ec2.create_security_group(
        GroupName="half", Description="half made", VpcId=inputs["vpcId"],
        TagSpecifications=[{"ResourceType": "security-group", "Tags": tags}])["GroupId"]  # fmt: skip
    assert ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["IpPermissionsEgress"]
    requested = change("half", "aws:ec2/securityGroup:SecurityGroup", inputs)
    assert recover(lambda region: AwsClient("us-east-1", cloud.endpoint), [requested], {}) == {requested.urn: group}
    assert not ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["IpPermissionsEgress"]


def test_every_provided_type_has_an_entry() -> None:
    assert set(PROVIDED) <= set(BY_TOKEN)
