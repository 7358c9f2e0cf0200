"""What is left of rights from outside and of cost guardrails: CAs that are still trusted, and what a budget does by itself.

None of it filters by tag: everything is listed, and each thing asked for its tags. Where a region or partition has no such service,
nothing is asked. Source of the prices: AWS Budgets pricing (actions beyond an account's second are billed by the day).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from landbridge.catalog.aws.guardrails import guardrails
from landbridge.catalog.aws.regions import regions
from landbridge.live.aws import AwsClient

Item = Mapping[str, Any]
_CLUSTER = "landbridge:cluster"
_ANYWHERE = "rolesanywhere"


def anchors(aws: AwsClient, cluster: str) -> Iterator[Item]:
    """CAs whose certificates are exchanged for credentials."""
    return _of_anywhere(aws, cluster, "list_trust_anchors", "trustAnchors", "trustAnchorArn")


def profiles(aws: AwsClient, cluster: str) -> Iterator[Item]:
    """What certificates are exchanged for."""
    return _of_anywhere(aws, cluster, "list_profiles", "profiles", "profileArn")


def _of_anywhere(aws: AwsClient, cluster: str, operation: str, key: str, arn: str) -> Iterator[Item]:
    region = regions().get(aws.region)
    if region is not None and _ANYWHERE not in region.services:
        return
    for item in aws.all(_ANYWHERE, operation, key):
        told = aws.ask(_ANYWHERE, "list_tags_for_resource", resourceArn=item[arn])["tags"]
        tags = [{"Key": tag["key"], "Value": tag["value"]} for tag in told]
        if _own(cluster) in tags:
            yield {**item, "Tags": tags}


def budgets(aws: AwsClient, cluster: str) -> Iterator[Item]:
    """Budgets, whose actions go with them; `Id` is as the provider has it."""
    region = regions().get(aws.region)
    if region is not None and region.partition not in guardrails().budgets.partitions:
        return
    caller = aws.ask("sts", "get_caller_identity")
    account, partition = str(caller["Account"]), str(caller["Arn"]).split(":")[1]
    for one in aws.all("budgets", "describe_budgets", "Budgets", AccountId=account):
        name = one["BudgetName"]
        arn = f"arn:{partition}:budgets::{account}:budget/{name}"
        tags = aws.ask("budgets", "list_tags_for_resource", ResourceARN=arn).get("ResourceTags") or []
        if _own(cluster) in tags:
            yield {**one, "AccountId": account, "Id": f"{account}:{name}", "Tags": tags}


def delete_budget(aws: AwsClient, item: Item) -> None:
    """With its actions first: they are what is billed."""
    own = {"AccountId": item["AccountId"], "BudgetName": item["BudgetName"]}
    for action in aws.all("budgets", "describe_budget_actions_for_budget", "Actions", **own):
        aws.ask("budgets", "delete_budget_action", **own, ActionId=action["ActionId"])
    aws.ask("budgets", "delete_budget", **own)


def _own(cluster: str) -> dict[str, str]:
    return {"Key": _CLUSTER, "Value": cluster}
