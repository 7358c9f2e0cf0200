"""Leftovers of DNS and SageMaker are found by their tag and deleted in an order that AWS accepts."""

from datetime import UTC, datetime

from landbridge.aws_api.client import AwsClient
from landbridge.live.sweep import find_leftovers, remove
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

NOW = datetime(2026, 11, 21, tzinfo=UTC)
KINDS = {"Resolver rule", "Resolver endpoint", "Resolver query log config", "hosted zone", "model package group"}


def tags(cluster: str) -> list[dict[str, str]]:
    return [{"Key": "landbridge:cluster", "Value": cluster}]


def estate(cloud: EmulatorProcess, cluster: str, cidr: str, domain: str) -> str:
    ec2, resolver, names = (client_of(cloud, name) for name in ("ec2", "route53resolver", "route53"))
    vpc = ec2.create_vpc(CidrBlock=f"{cidr}.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=f"{cidr}.1.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName=cluster, Description=cluster, VpcId=vpc)["GroupId"]
    endpoint = resolver.create_resolver_endpoint(
        CreatorRequestId=cluster,
        Name=cluster,
        SecurityGroupIds=[group],
        Direction="OUTBOUND",
        IpAddresses=[{"SubnetId": subnet}, {"SubnetId": subnet}],
        Tags=tags(cluster),
    )["ResolverEndpoint"]["Id"]
    rule = resolver.create_resolver_rule(
        CreatorRequestId=cluster,
        Name=cluster,
        RuleType="FORWARD",
        DomainName=domain,
        TargetIps=[{"Ip": "10.20.0.1", "Port": 53}],
        ResolverEndpointId=endpoint,
        Tags=tags(cluster),
    )["ResolverRule"]["Id"]
    resolver.associate_resolver_rule(ResolverRuleId=rule, Name=cluster, VPCId=vpc)
    config = resolver.create_resolver_query_log_config(
        Name=cluster,
        DestinationArn="arn:aws:logs:us-east-1:123456789012:log-group:x",
        CreatorRequestId=cluster,
        Tags=tags(cluster),
    )["ResolverQueryLogConfig"]["Id"]
    resolver.associate_resolver_query_log_config(ResolverQueryLogConfigId=config, ResourceId=vpc)
    zone = names.create_hosted_zone(
        Name=domain, CallerReference=cluster, VPC={"VPCId": vpc, "VPCRegion": "us-east-1"},
        HostedZoneConfig={"PrivateZone": True},
    )["HostedZone"]["Id"].rpartition("/")[2]  # fmt: skip
    names.change_tags_for_resource(ResourceType="hostedzone", ResourceId=zone, AddTags=tags(cluster))
    client_of(cloud, "sagemaker").create_model_package_group(
        ModelPackageGroupName=f"{cluster}-models", Tags=tags(cluster)
    )
    record = {"Name": f"x.{domain}", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.60.0.9"}]}
    batch = {"Changes": [{"Action": "CREATE", "ResourceRecordSet": record}]}
    names.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)
    return str(zone)


def test_dns_and_sagemaker_leftovers_are_removed_and_another_clusters_stay(cloud: EmulatorProcess) -> None:
    zone = estate(cloud, "test", "10.60", "one.example.org")
    other = estate(cloud, "other", "10.61", "two.example.org")

    def aws() -> AwsClient:
        return AwsClient("us-east-1", cloud.endpoint)

    leftovers = [
        item for item in find_leftovers(aws(), "test", (), NOW, standing=False).items if item.type.noun in KINDS
    ]
    assert {item.type.noun for item in leftovers} == KINDS and len(leftovers) == 5
    assert {item.type.noun for item in leftovers if item.billed and not item.holds_data} == {"Resolver endpoint"}
    results = remove(aws, leftovers, pause_seconds=0.1)
    with_data = {zone, "test-models"}
    assert {result.leftover.id for result in results if result.reason is not None} == with_data
    assert all(
        item.reason is None
        for item in remove(aws, [item for item in leftovers if item.id in with_data], with_data, pause_seconds=0.1)
    )
    assert [
        item for item in find_leftovers(aws(), "test", (), NOW, standing=False).items if item.type.noun in KINDS
    ] == []
    remaining = {item.type.noun: item.id for item in find_leftovers(aws(), "other", (), NOW, standing=False).items}
    assert remaining.keys() >= KINDS and remaining["hosted zone"] == other
