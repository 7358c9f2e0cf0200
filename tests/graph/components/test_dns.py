"""DNS across the link: in the recorded graph, and created in the emulated AWS."""

from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.property_combinations import combination_problems
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ONE_ZONE, PROTECTED, graph_of
from tests.graph.support.inventory import client, left

ZONE, RECORD = "aws:route53/zone:Zone", "aws:route53/record:Record"
ENDPOINT, RULE = "aws:route53/resolverEndpoint:ResolverEndpoint", "aws:route53/resolverRule:ResolverRule"
ASSOCIATION = "aws:route53/resolverRuleAssociation:ResolverRuleAssociation"
CONFIG = "aws:route53/resolverQueryLogConfig:ResolverQueryLogConfig"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def with_dns(text: str = "{}") -> tuple[str, str]:
    return "    budget: {monthly_usd: 1000}\n", f"    budget: {{monthly_usd: 1000}}\n    dns: {text}\n"


def port_53(graph: Graph, token: str) -> set[tuple[str, str]]:
    return {
        (node.inputs["ipProtocol"], node.inputs["cidrIpv4"])
        for node in graph.of_type(token)
        if node.inputs.get("fromPort") == 53 == node.inputs.get("toPort")
    }


def test_dns_has_no_resources_by_default(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert [node.type for node in graph.nodes.values() if "route53" in node.type] == []
    assert "dns" not in graph.outputs


def test_each_site_forwards_queries_for_the_other_sites_names_alone(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_dns())
    (zone,) = graph.of_type(ZONE)
    assert zone.inputs["name"] == "aws.cluster.internal" and zone.inputs["forceDestroy"]
    inbound, outbound = sorted(graph.of_type(ENDPOINT), key=lambda node: str(node.inputs["direction"]))
    for endpoint in (inbound, outbound):
        assert [address["subnetId"] for address in endpoint.inputs["ipAddresses"]] == [
            "variant-private-use1-az4-id",
            "variant-private-use1-az6-id",
        ]
        assert list(combination_problems(ENDPOINT, endpoint.inputs)) == []
    rules = {node.inputs["domainName"]: node.inputs for node in graph.of_type(RULE)}
    assert set(rules) == {"cluster.internal", "20.10.in-addr.arpa"}
    servers = [{"ip": "10.20.0.1", "port": 53}, {"ip": "10.20.0.11", "port": 53}]
    assert all(rule["targetIps"] == servers and rule["ruleType"] == "FORWARD" for rule in rules.values())
    assert len(graph.of_type(ASSOCIATION)) == len(rules)
    # Security groups: the site's range in, the two name servers out.
    assert port_53(graph, INGRESS) == {("tcp", "10.20.0.0/16"), ("udp", "10.20.0.0/16")}
    assert port_53(graph, EGRESS) == {(p, f"10.20.0.{n}/32") for p in ("tcp", "udp") for n in (1, 11)}
    assert graph.outputs["dns"] == {
        "zone": "aws.cluster.internal",
        "zone_id": "Z-variant",
        "inbound_addresses": ["10.60.128.32", "10.60.192.33"],
    }


def test_the_sites_own_name_servers_are_used_if_they_are_given(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_dns("{resolvers: [10.20.9.53], forward: [corp.example.org], reverse: false}"))
    rules = {node.inputs["domainName"]: node.inputs["targetIps"] for node in graph.of_type(RULE)}
    assert rules == {domain: [{"ip": "10.20.9.53", "port": 53}] for domain in ("cluster.internal", "corp.example.org")}


def test_one_zone_has_both_addresses_and_a_protected_zone_stays(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_dns("{query_logs: true}"), ONE_ZONE, PROTECTED)
    endpoints = sorted(graph.of_type(ENDPOINT), key=lambda node: str(node.inputs["direction"]))
    assert [endpoint.inputs["ipAddresses"] for endpoint in endpoints] == [
        [{"subnetId": "variant-private-use1-az4-id", "ip": f"10.60.128.{last_octet}"} for last_octet in last_octets]
        for last_octets in ((32, 33), (34, 35))
    ]
    (zone,) = graph.of_type(ZONE)
    assert zone.protect and not zone.inputs["forceDestroy"]
    (group,) = (node for node in graph.of_type("aws:cloudwatch/logGroup:LogGroup") if node.name == "variant-dns")
    assert group.protect and group.retain and group.inputs["name"].startswith("/aws/vendedlogs/")
    assert len(graph.of_type(CONFIG)) == 1


def test_an_endpoint_with_one_subnet_twice_has_one_address_for_the_provider(cloud: EmulatorProcess) -> None:
    """The set of the real provider drops the second entry, and Resolver refuses an endpoint with one address."""
    twice = {
        "direction": "INBOUND",
        "securityGroupIds": ["sg-1"],
        "ipAddresses": [{"subnetId": "a"}, {"subnetId": "a"}],
    }
    ((path, message),) = combination_problems(ENDPOINT, twice)
    assert path == ("ipAddresses",) and "at least 2" in message
    distinct = {**twice, "ipAddresses": [{"subnetId": "a", "ip": "10.0.0.8"}, {"subnetId": "a", "ip": "10.0.0.9"}]}
    assert list(combination_problems(ENDPOINT, distinct)) == []


def test_endpoints_in_one_zone_are_created_with_their_planned_addresses(
    cloud: EmulatorProcess, environment_file: Path
) -> None:
    before = left(cloud)
    environment_file.write_text(environment_file.read_text().replace(*with_dns()).replace(*ONE_ZONE))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    resolver, ec2 = client(cloud, "route53resolver"), client(cloud, "ec2")
    by_direction = {
        endpoint["Direction"]: sorted(
            row["Ip"]
            for row in resolver.list_resolver_endpoint_ip_addresses(ResolverEndpointId=endpoint["Id"])["IpAddresses"]
        )
        for endpoint in resolver.list_resolver_endpoints()["ResolverEndpoints"]
    }
    assert by_direction == {"INBOUND": ["10.60.128.32", "10.60.128.33"], "OUTBOUND": ["10.60.128.34", "10.60.128.35"]}
    subnet = applied.outputs.network.subnets["use1-az4"].id
    (reservation,) = ec2.get_subnet_cidr_reservations(SubnetId=subnet)["SubnetIpv4CidrReservations"]
    assert reservation["Cidr"] == "10.60.128.32/28"
    applied.destroy()
    assert left(cloud) == before


def test_a_file_system_has_a_short_name_in_the_zone(tmp_path: Path) -> None:
    share = (
        "      data_hub: {kind: s3}\n",
        "      data_hub: {kind: s3}\n      cloud_scratch: {kind: fsx_lustre, zone: use1-az4}\n",
    )
    graph = graph_of(tmp_path, with_dns(), share)
    (record,) = graph.of_type(RECORD)
    assert record.inputs["name"] == "cloud-scratch.aws.cluster.internal" and record.inputs["type"] == "CNAME"
    assert record.inputs["zoneId"] == "Z-variant" and record.inputs["records"][0].endswith(".fsx.test")
    assert graph_of(tmp_path, share).of_type(RECORD) == []


def test_all_inputs_are_valid_in_a_preview_too(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_dns("{query_logs: true}"), preview=True)
    for node in graph.nodes.values():
        if node.custom and not node.type.startswith("pulumi:"):
            assert [(sdk_args.spell(path), why) for path, why in sdk_args.problems(node.type, node.inputs)] == [], (
                node.key
            )
    assert set(graph.nodes) == set(graph_of(tmp_path, with_dns("{query_logs: true}")).nodes)


def test_dns_is_created_and_destroyed(cloud: EmulatorProcess, environment_file: Path) -> None:
    before = left(cloud)
    environment_file.write_text(environment_file.read_text().replace(*with_dns("{query_logs: true}")))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    resolver, names = client(cloud, "route53resolver"), client(cloud, "route53")
    endpoints = {
        endpoint["Direction"]: endpoint for endpoint in resolver.list_resolver_endpoints()["ResolverEndpoints"]
    }
    assert set(endpoints) == {"INBOUND", "OUTBOUND"}
    listed = resolver.list_resolver_endpoint_ip_addresses(ResolverEndpointId=endpoints["INBOUND"]["Id"])["IpAddresses"]
    outputs = applied.outputs.dns
    assert outputs is not None and set(outputs.inbound_addresses) == {address["Ip"] for address in listed}
    (zone,) = names.list_hosted_zones()["HostedZones"]
    assert zone["Name"] == "aws.cluster.internal." and zone["Config"]["PrivateZone"]
    # Resources in use cannot be deleted: an endpoint with rules, a rule with a VPC.
    with pytest.raises(ClientError, match="related resolver"):
        resolver.delete_resolver_endpoint(ResolverEndpointId=endpoints["OUTBOUND"]["Id"])
    (rule, *_) = resolver.list_resolver_rules()["ResolverRules"]
    with pytest.raises(ClientError, match="disassociate"):
        resolver.delete_resolver_rule(ResolverRuleId=rule["Id"])
    (config,) = resolver.list_resolver_query_log_configs()["ResolverQueryLogConfigs"]
    with pytest.raises(ClientError, match="associated"):
        resolver.delete_resolver_query_log_config(ResolverQueryLogConfigId=config["Id"])
    ec2, inbound = client(cloud, "ec2"), endpoints["INBOUND"]
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_security_group(GroupId=inbound["SecurityGroupIds"][0])
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_subnet(SubnetId=listed[0]["SubnetId"])
    applied.destroy()
    assert left(cloud) == before
    assert names.list_hosted_zones()["HostedZones"] == []
    assert resolver.list_resolver_rules()["ResolverRules"] == []
    assert resolver.list_resolver_query_log_configs()["ResolverQueryLogConfigs"] == []


def test_an_endpoint_moves_to_another_subnet_and_keeps_its_other_address(cloud: EmulatorProcess) -> None:
    before, ec2 = left(cloud), client(cloud, "ec2")
    vpc = ec2.create_vpc(CidrBlock="10.61.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.61.{number}.0/24")["Subnet"]["SubnetId"] for number in range(3)
    ]
    group = ec2.create_security_group(GroupName="x", Description="x", VpcId=vpc)["GroupId"]
    kind = RESOURCE_TYPES[ENDPOINT](EmulatedAws(cloud.endpoint, "us-east-1"))
    news = {"direction": "INBOUND", "name": "x", "securityGroupIds": [group]}
    first = {**news, "ipAddresses": [{"subnetId": subnets[0]}, {"subnetId": subnets[1]}]}
    id_, created = kind.create(first)
    # Addresses that AWS chose are no drift; a changed address is.
    assert "ipAddresses" not in (kind.read(id_, {**first, **created}) or {})
    assert "ipAddresses" in (kind.read(id_, {**first, **created, "ipAddresses": created["ipAddresses"][::2]}) or {})
    later = {**news, "ipAddresses": [{"subnetId": subnets[0]}, {"subnetId": subnets[2]}]}
    moved = kind.update(id_, {**first, **created}, later, frozenset({"ipAddresses"}))
    assert moved["ipAddresses"][0] == created["ipAddresses"][0]
    assert [address["subnetId"] for address in moved["ipAddresses"]] == [subnets[0], subnets[2]]
    kind.delete(id_, {**later, **moved})
    for subnet in subnets:
        ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_security_group(GroupId=group)
    ec2.delete_vpc(VpcId=vpc)
    assert left(cloud) == before
