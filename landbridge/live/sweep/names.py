"""What is left of names across the link and of SageMaker: endpoints, rules, logs of questions, zones, groups of models.

None of these services filters by tag: everything of the region is listed, and each thing asked for its tags.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from landbridge.live.aws import AwsClient

Item = Mapping[str, Any]
_RESOLVER = "route53resolver"


def resolver_rules(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Rules of this account's own; those that AWS makes by itself cannot be asked for tags."""
    rules = aws.all(_RESOLVER, "list_resolver_rules", "ResolverRules")
    return _tagged(aws, (rule for rule in rules if rule["RuleType"] == "FORWARD"), cluster)


def resolver_endpoints(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Endpoints, each billed by its addresses."""
    return _tagged(aws, aws.all(_RESOLVER, "list_resolver_endpoints", "ResolverEndpoints"), cluster)


def query_logs(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Settings of what is logged of questions."""
    return _tagged(aws, aws.all(_RESOLVER, "list_resolver_query_log_configs", "ResolverQueryLogConfigs"), cluster)


def zones(aws: AwsClient, cluster: str) -> Iterator[Item]:
    """Private zones."""
    for zone in aws.all("route53", "list_hosted_zones", "HostedZones"):
        if not zone["Config"]["PrivateZone"]:
            continue
        own = str(zone["Id"]).rpartition("/")[2]
        told = aws.ask("route53", "list_tags_for_resource", ResourceType="hostedzone", ResourceId=own)
        tags = told["ResourceTagSet"]["Tags"]
        if _own(cluster) in tags:
            yield {**zone, "Id": own, "Tags": tags}


def model_groups(aws: AwsClient, cluster: str) -> Iterator[Item]:
    """Groups of the model registry: they cost nothing, and what is in one is nowhere else."""
    for group in aws.all("sagemaker", "list_model_package_groups", "ModelPackageGroupSummaryList"):
        tags = aws.ask("sagemaker", "list_tags", ResourceArn=group["ModelPackageGroupArn"])["Tags"]
        if _own(cluster) in tags:
            yield {**group, "Tags": tags}


def delete_rule(aws: AwsClient, item: Item) -> None:
    """A rule goes once no VPC uses it."""
    named = [{"Name": "ResolverRuleId", "Values": [item["Id"]]}]
    for one in aws.all(_RESOLVER, "list_resolver_rule_associations", "ResolverRuleAssociations", Filters=named):
        aws.ask(_RESOLVER, "disassociate_resolver_rule", VPCId=one["VPCId"], ResolverRuleId=item["Id"])
    aws.ask(_RESOLVER, "delete_resolver_rule", ResolverRuleId=item["Id"])


def delete_query_log(aws: AwsClient, item: Item) -> None:
    """The setting goes once no VPC uses it; what is logged stays."""
    key, own = "ResolverQueryLogConfigAssociations", item["Id"]
    named = [{"Name": "ResolverQueryLogConfigId", "Values": [own]}]
    for one in aws.all(_RESOLVER, "list_resolver_query_log_config_associations", key, Filters=named):
        vpc = one["ResourceId"]
        aws.ask(_RESOLVER, "disassociate_resolver_query_log_config", ResolverQueryLogConfigId=own, ResourceId=vpc)
    aws.ask(_RESOLVER, "delete_resolver_query_log_config", ResolverQueryLogConfigId=own)


def delete_zone(aws: AwsClient, item: Item) -> None:
    """A zone goes once nothing is in it but what it was made with."""
    records = aws.all("route53", "list_resource_record_sets", "ResourceRecordSets", HostedZoneId=item["Id"])
    changes = [
        {"Action": "DELETE", "ResourceRecordSet": record} for record in records if record["Type"] not in ("NS", "SOA")
    ]
    if changes:
        batch = {"Changes": changes}
        aws.ask("route53", "change_resource_record_sets", HostedZoneId=item["Id"], ChangeBatch=batch)
    aws.ask("route53", "delete_hosted_zone", Id=item["Id"])


def _tagged(aws: AwsClient, items: Iterable[Item], cluster: str) -> Iterator[Item]:
    for item in items:
        tags = aws.ask(_RESOLVER, "list_tags_for_resource", ResourceArn=item["Arn"])["Tags"]
        if _own(cluster) in tags and item["Status"] != "DELETING":
            yield {**item, "Tags": tags}


def _own(cluster: str) -> dict[str, str]:
    return {"Key": "landbridge:cluster", "Value": cluster}
