"""Existing VPC, and VPC flow logs."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.network.flow_logs import role_policy, role_trust
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import EmulatedAws, ProviderError
from sandbox.pulumi_provider.aws.operations.logs import LogGroupResource
from sandbox.pulumi_provider.recorder import apply
from tests.graph.components.pools.test_network_and_pools import PUBLIC, wrong
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import PROTECTED, graph_of
from tests.graph.support.inventory import client, left

FLOW = ("nat: none", "nat: none\n      logs: {flow_logs: true, retention_days: 400}")
GROUP = "arn:aws:logs:us-east-1:123456789012:log-group:/landbridge/a/flow"


def existing_vpc(vpc: str, first: str, second: str, *tables: str, more: str = "") -> tuple[str, str]:
    """Return a change that puts the sandbox into an existing VPC, with a route table for each subnet, or none."""
    named = [f", route_table: {table}" for table in tables] or ["", ""]
    subnets = (
        f"use1-az4: {{id: {first}, cidr: 10.60.128.0/20{named[0]}}}, "
        f"use1-az6: {{id: {second}, cidr: 10.60.192.0/20{named[1]}}}"
    )
    return "nat: none", f"nat: none\n      vpc: {{id: {vpc}, subnets: {{{subnets}}}}}{more}"


IDS = ("vpc-0123456789abcdef0", "subnet-0123456789abcdef0", "subnet-0123456789abcdef1")
TABLES = ("rtb-0123456789abcdef0", "rtb-0123456789abcdef1")


@pytest.fixture
def in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


@pytest.mark.usefixtures("in_the_tree")
@pytest.mark.parametrize("preview", [True, False])
def test_an_existing_vpc_is_used_and_not_managed(tmp_path: Path, preview: bool) -> None:
    graph = graph_of(tmp_path, existing_vpc(*IDS, *TABLES), preview=preview)
    assert wrong(graph) == {}
    for kind in ("vpc:Vpc", "subnet:Subnet", "routeTable:RouteTable", "defaultSecurityGroup:DefaultSecurityGroup"):
        assert graph.of_type(f"aws:ec2/{kind}") == []
    assert graph.of_type("aws:ec2/vpcEndpoint:VpcEndpoint") == []
    (attachment,) = graph.of_type("aws:ec2transitgateway/vpcAttachment:VpcAttachment")
    assert (attachment.inputs["vpcId"], attachment.inputs["subnetIds"]) == (IDS[0], list(IDS[1:]))
    routes = {node.name: node.inputs["routeTableId"] for node in graph.of_type("aws:ec2/route:Route")}
    assert routes == {f"variant-{table}": table for table in TABLES}
    network = graph.outputs["network"]
    assert network["vpc_id"] == IDS[0] and network["subnets"]["use1-az6"]["id"] == IDS[2]
    assert [subnet["id"] for subnet in graph.outputs["pools"]["p5"]["subnets"]] == list(IDS[1:])


@pytest.mark.usefixtures("in_the_tree")
def test_a_table_of_two_zones_gets_one_route_and_none_gets_none(tmp_path: Path) -> None:
    shared = graph_of(tmp_path, existing_vpc(*IDS, TABLES[0], TABLES[0]))
    assert [node.name for node in shared.of_type("aws:ec2/route:Route")] == [f"variant-{TABLES[0]}"]
    assert graph_of(tmp_path, existing_vpc(*IDS)).of_type("aws:ec2/route:Route") == []


@pytest.mark.usefixtures("in_the_tree")
def test_endpoints_are_added_to_an_existing_vpc_on_request(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, existing_vpc(*IDS, *TABLES, more="\n      vpc_endpoints: derived"), PUBLIC)
    endpoints = {node.inputs["serviceName"]: node.inputs for node in graph.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")}
    assert endpoints["com.amazonaws.us-east-1.s3"]["routeTableIds"] == list(TABLES)
    assert endpoints["com.amazonaws.us-east-1.ssm"]["subnetIds"] == list(IDS[1:])


@pytest.mark.usefixtures("in_the_tree")
@pytest.mark.parametrize("on", [True, False])
def test_flow_logs_have_the_retention_of_the_environment(tmp_path: Path, on: bool) -> None:
    graph = graph_of(tmp_path, FLOW, *([PROTECTED] if on else []))
    assert wrong(graph) == {}
    (group,) = (node for node in graph.of_type("aws:cloudwatch/logGroup:LogGroup") if "flow" in node.name)
    (log,) = graph.of_type("aws:ec2/flowLog:FlowLog")
    assert group.inputs["retentionInDays"] == 400 and (group.protect, group.retain) == (on, on)
    assert log.inputs["trafficType"] == "ALL" and log.inputs["maxAggregationInterval"] == 600
    assert any("aws:iam/rolePolicy:RolePolicy" in dependency for dependency in log.dependencies)
    assert graph_of(tmp_path).of_type("aws:ec2/flowLog:FlowLog") == []


def test_the_role_of_flow_logs_writes_into_its_group_for_its_own_account_alone() -> None:
    (trust,) = json.loads(role_trust(GROUP))["Statement"]
    assert trust["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}
    assert trust["Condition"]["ArnLike"] == {"aws:SourceArn": "arn:aws:ec2:us-east-1:123456789012:vpc-flow-log/*"}
    writes, looks = json.loads(role_policy(f"{GROUP}:*"))["Statement"]
    assert writes["Resource"] == [GROUP, f"{GROUP}:*"] and "logs:CreateLogGroup" not in writes["Action"]
    assert looks["Action"] == ["logs:DescribeLogGroups"]


def test_an_invalid_retention_of_a_log_group_is_refused(cloud: EmulatorProcess) -> None:
    before = left(cloud)
    with pytest.raises(ProviderError, match="100 days"):
        LogGroupResource(EmulatedAws(cloud.endpoint, "us-east-1")).create({"name": "/odd", "retentionInDays": 100})
    assert left(cloud) == before


def test_destroy_leaves_an_existing_vpc_as_it_was(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    ec2 = client(cloud, "ec2")
    empty = left(cloud)
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnets, tables = list[str](), list[str]()
    for zone, cidr in (("use1-az4", "10.60.128.0/20"), ("use1-az6", "10.60.192.0/20")):
        created = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=zone)
        subnets.append(created["Subnet"]["SubnetId"])
        tables.append(ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"])

    def routes() -> Any:
        described = ec2.describe_route_tables(RouteTableIds=tables)["RouteTables"]
        return [sorted(route["DestinationCidrBlock"] for route in table["Routes"]) for table in described]

    before, routes_before = left(cloud), routes()
    old, new = existing_vpc(vpc, subnets[0], subnets[1], *tables, more="\n      logs: {flow_logs: true}")
    environment_file.write_text(environment_file.read_text().replace(old, new))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    assert applied.outputs.network.vpc_id == vpc
    assert applied.outputs.network.subnets["use1-az4"].availability_zone.startswith("us-east-1")
    assert routes() == [["10.20.0.0/16", "10.60.0.0/16"]] * 2
    (log,) = ec2.describe_flow_logs()["FlowLogs"]
    assert (log["ResourceId"], log["LogGroupName"]) == (vpc, "/landbridge/graph/flow")
    applied.destroy()
    assert left(cloud) == before and routes() == routes_before
    for route_table in subnets:
        ec2.delete_subnet(SubnetId=route_table)
    for route_table in tables:
        ec2.delete_route_table(RouteTableId=route_table)
    ec2.delete_vpc(VpcId=vpc)
    assert left(cloud) == empty
