"""Route 53 Resolver: endpoints, rules and query log configs.

The service does not filter by tag: each item of the region is listed and its tags are read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Item, Recover, ResourceType, Search, Sweep
from landbridge.aws_resources.search import cluster_tag, delete_by, listed

_RESOLVER = "route53resolver"


def _recover(operation: str, key: str, pairs: Mapping[str, str]) -> Recover:
    return listed(_RESOLVER, operation, key, "Id", pairs)


def _search(operation: str, key: str, keeps: Callable[[Item], bool] = lambda item: True) -> Search:
    def find(aws: AwsClient, cluster: str) -> Iterator[Item]:
        items: Iterable[Item] = aws.all(_RESOLVER, operation, key)
        for item in items:
            if not keeps(item):
                continue
            tags = aws.ask(_RESOLVER, "list_tags_for_resource", ResourceArn=item["Arn"])["Tags"]
            if cluster_tag(cluster) in tags and item["Status"] != "DELETING":
                yield {**item, "Tags": tags}

    return find


def _is_of_account(rule: Item) -> bool:
    # The rules that AWS creates have no tags to read.
    return str(rule["RuleType"]) == "FORWARD"


def _delete_rule(aws: AwsClient, item: Item) -> None:
    filters = [{"Name": "ResolverRuleId", "Values": [item["Id"]]}]
    key = "ResolverRuleAssociations"
    for association in aws.all(_RESOLVER, "list_resolver_rule_associations", key, Filters=filters):
        aws.ask(_RESOLVER, "disassociate_resolver_rule", VPCId=association["VPCId"], ResolverRuleId=item["Id"])
    aws.ask(_RESOLVER, "delete_resolver_rule", ResolverRuleId=item["Id"])


def _delete_query_log_config(aws: AwsClient, item: Item) -> None:
    # The logs that it has written stay.
    config = {"ResolverQueryLogConfigId": item["Id"]}
    filters = [{"Name": "ResolverQueryLogConfigId", "Values": [item["Id"]]}]
    operation, key = "list_resolver_query_log_config_associations", "ResolverQueryLogConfigAssociations"
    for association in aws.all(_RESOLVER, operation, key, Filters=filters):
        vpc = association["ResourceId"]
        aws.ask(_RESOLVER, "disassociate_resolver_query_log_config", ResourceId=vpc, **config)
    aws.ask(_RESOLVER, "delete_resolver_query_log_config", **config)


_ENDPOINTS = ("list_resolver_endpoints", "ResolverEndpoints")
_RULES = ("list_resolver_rules", "ResolverRules")
_CONFIGS = ("list_resolver_query_log_configs", "ResolverQueryLogConfigs")

RESOURCE_TYPES = (
    # Billed for each of its addresses.
    ResourceType(
        "Resolver endpoint", "aws:route53/resolverEndpoint:ResolverEndpoint", billed=True,
        recover=_recover(*_ENDPOINTS, {"name": "Name", "direction": "Direction"}),
        sweep=Sweep(140, _search(*_ENDPOINTS), "Id",
                    delete_by(_RESOLVER, "delete_resolver_endpoint", "ResolverEndpointId", "Id"))),
    ResourceType(
        "Resolver rule", "aws:route53/resolverRule:ResolverRule", recover=_recover(*_RULES, {"name": "Name"}),
        sweep=Sweep(130, _search(*_RULES, _is_of_account), "Id", _delete_rule)),
    ResourceType(
        "Resolver rule association", "aws:route53/resolverRuleAssociation:ResolverRuleAssociation",
        recover=_recover("list_resolver_rule_associations", "ResolverRuleAssociations",
                         {"resolverRuleId": "ResolverRuleId", "vpcId": "VPCId"})),
    ResourceType(
        "Resolver query log config", "aws:route53/resolverQueryLogConfig:ResolverQueryLogConfig",
        recover=_recover(*_CONFIGS, {"name": "Name"}),
        sweep=Sweep(150, _search(*_CONFIGS), "Id", _delete_query_log_config)),
    ResourceType(
        "Resolver query log config association",
        "aws:route53/resolverQueryLogConfigAssociation:ResolverQueryLogConfigAssociation",
        recover=_recover("list_resolver_query_log_config_associations", "ResolverQueryLogConfigAssociations",
                         {"resolverQueryLogConfigId": "ResolverQueryLogConfigId", "resourceId": "ResourceId"})),
)  # fmt: skip
