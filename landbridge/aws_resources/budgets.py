"""AWS Budgets and Cost Explorer: budgets, their actions, anomaly monitors and subscriptions.

Source of `billed`: AWS Budgets pricing (each action beyond an account's second is billed by the day).
"""

from collections.abc import Iterator

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import SETS, Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import (
    account_of,
    agrees,
    bears_tags,
    cluster_tag,
    listed,
    tags_by_call,
)
from landbridge.catalog.aws.access.guardrails import guardrails
from landbridge.catalog.aws.regions import regions


def _recover_budget(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the account's budget of this name."""
    account = account_of(aws)
    aws.ask("budgets", "describe_budget", AccountId=account, BudgetName=inputs["name"])
    return [f"{account}:{inputs['name']}"]


def _recover_action(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the budget's actions of this type with the inputs' tags. The provider's id joins account, action and
    budget.
    """
    caller = aws.ask("sts", "get_caller_identity")
    account, partition = str(inputs.get("accountId") or caller["Account"]), caller["Arn"].split(":")[1]
    budget = inputs["budgetName"]
    actions = aws.all("budgets", "describe_budget_actions_for_budget", "Actions", AccountId=account, BudgetName=budget)
    pairs = {"actionType": "ActionType", "notificationType": "NotificationType"}
    ids = []
    for action in actions:
        arn = f"arn:{partition}:budgets::{account}:budget/{budget}/action/{action['ActionId']}"
        tags = tags_by_call("budgets", "ResourceARN", "arn", "ResourceTags")(aws, {"arn": arn})
        if agrees(inputs, action, pairs) and bears_tags(inputs, tags):
            ids.append(f"{account}:{action['ActionId']}:{budget}")
    return ids


def _budgets(aws: AwsClient, cluster: str) -> Iterator[Item]:
    # `Id` is the provider's. Some partitions have no AWS Budgets.
    region = regions().get(aws.region)
    if region is not None and region.partition not in guardrails().budgets.partitions:
        return
    caller = aws.ask("sts", "get_caller_identity")
    account, partition = str(caller["Account"]), str(caller["Arn"]).split(":")[1]
    for budget in aws.all("budgets", "describe_budgets", "Budgets", AccountId=account):
        name = budget["BudgetName"]
        arn = f"arn:{partition}:budgets::{account}:budget/{name}"
        tags = aws.ask("budgets", "list_tags_for_resource", ResourceARN=arn).get("ResourceTags") or []
        if cluster_tag(cluster) in tags:
            yield {**budget, "AccountId": account, "Id": f"{account}:{name}", "Tags": tags}


def _delete_budget(aws: AwsClient, item: Item) -> None:
    # Its actions are billed.
    budget = {"AccountId": item["AccountId"], "BudgetName": item["BudgetName"]}
    for action in aws.all("budgets", "describe_budget_actions_for_budget", "Actions", **budget):
        aws.ask("budgets", "delete_budget_action", **budget, ActionId=action["ActionId"])
    aws.ask("budgets", "delete_budget", **budget)


RESOURCE_TYPES = (
    ResourceType(
        "budget", "aws:budgets/budget:Budget", recover=_recover_budget,
        sweep=Sweep(390, _budgets, "Id", _delete_budget)),
    ResourceType("budget action", "aws:budgets/budgetAction:BudgetAction", recover=_recover_action),
    ResourceType(
        "anomaly monitor", "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
        recover=listed("ce", "get_anomaly_monitors", "AnomalyMonitors", "MonitorArn", {"name": "MonitorName"},
                       tags_call=tags_by_call("ce", "ResourceArn", "MonitorArn", "ResourceTags"))),
    ResourceType(
        "anomaly subscription", "aws:costexplorer/anomalySubscription:AnomalySubscription",
        recover=listed("ce", "get_anomaly_subscriptions", "AnomalySubscriptions", "SubscriptionArn",
                       {"name": "SubscriptionName"},
                       tags_call=tags_by_call("ce", "ResourceArn", "SubscriptionArn", "ResourceTags"))),
    ResourceType(
        "cost allocation tag", "aws:costexplorer/costAllocationTag:CostAllocationTag", repeatable=SETS),
)  # fmt: skip
