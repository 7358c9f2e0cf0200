"""AWS Budgets budgets with notifications, and budget actions."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)


class _Billing(AwsResource):
    @property
    def budgets(self) -> Any:
        return self.cloud.client("budgets")

    def tags(self, arn: str) -> Bag | None:
        """Return the tags of a resource."""
        return tag_map(self.budgets.list_tags_for_resource(ResourceARN=arn)["ResourceTags"])

    def retag(self, arn: str, before: Bag | None, after: Bag | None) -> None:
        """Set the tags of the new inputs, and delete the others."""
        dropped = [key for key in before or {} if key not in (after or {})]
        if dropped:
            self.budgets.untag_resource(ResourceARN=arn, ResourceTagKeys=dropped)
        self.budgets.tag_resource(ResourceARN=arn, ResourceTags=tag_list(after))


class BudgetResource(_Billing):
    token = "aws:budgets/budget:Budget"
    cloudformation = CloudFormationType("AWS::Budgets::Budget", at=("Budget",), names={"name": "BudgetName"})
    replaces = frozenset({"name", "namePrefix", "budgetType", "timeUnit", "accountId"})
    autoname = "name"

    def _request(self, news: Bag) -> Bag:
        filters = {cost_filter["name"]: cost_filter["values"] for cost_filter in news.get("costFilters") or []}
        return {
            "BudgetName": news["name"],
            "BudgetType": news["budgetType"],
            "TimeUnit": news["timeUnit"],
            "BudgetLimit": {"Amount": news["limitAmount"], "Unit": news["limitUnit"]},
            **({"CostFilters": filters} if filters else {}),
        }

    def create(self, news: Bag) -> tuple[str, Bag]:
        account = self.cloud.account
        self.budgets.create_budget(
            AccountId=account,
            Budget=self._request(news),
            NotificationsWithSubscribers=[
                _notification(notification) for notification in news.get("notifications") or []
            ],
            ResourceTags=tag_list(news.get("tags")),
        )
        return self.exists(f"{account}:{news['name']}"), self._outputs(news["name"])

    def _outputs(self, name: str) -> Bag:
        return {"arn": f"arn:aws:budgets::{self.cloud.account}:budget/{name}", "accountId": self.cloud.account}

    def _name(self, id_: str) -> Bag:
        return {"AccountId": self.cloud.account, "BudgetName": id_.partition(":")[2]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        budget = first_or_none(
            lambda **a: {"it": [self.budgets.describe_budget(**a)["Budget"]]}, "it", **self._name(id_)
        )
        if budget is None:
            return None
        limit, outputs = budget["BudgetLimit"], self._outputs(budget["BudgetName"])
        seen = {"name": budget["BudgetName"], "limitAmount": limit["Amount"], "limitUnit": limit["Unit"]}
        filters = [{"name": key, "values": values} for key, values in (budget.get("CostFilters") or {}).items()]
        return {**outputs, **seen, "costFilters": filters or None, "tags": self.tags(outputs["arn"])}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        """Update in place, so that the budget's actions stay; replace the notifications."""
        budget_key = self._name(id_)
        if changed - {"tags", "notifications"}:
            self.budgets.update_budget(AccountId=budget_key["AccountId"], NewBudget=self._request(news))
        if "notifications" in changed:
            for old in state.get("notifications") or []:
                ignore_missing(
                    self.budgets.delete_notification, **budget_key, Notification=_notification(old)["Notification"]
                )
            for new in news.get("notifications") or []:
                self.budgets.create_notification(**budget_key, **_notification(new))
        if "tags" in changed:
            self.retag(state["arn"], state.get("tags"), news.get("tags"))
        return {"arn": state["arn"], "accountId": state["accountId"]}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.budgets.delete_budget, **self._name(id_))


def _notification(notification: Bag) -> Bag:
    subscribers = [
        {"SubscriptionType": "EMAIL", "Address": each} for each in notification.get("subscriberEmailAddresses") or []
    ]
    return {
        "Notification": {
            "NotificationType": notification["notificationType"],
            "ComparisonOperator": notification["comparisonOperator"],
            "Threshold": notification["threshold"],
            "ThresholdType": notification["thresholdType"],
        },
        "Subscribers": subscribers,
    }


class BudgetActionResource(_Billing):
    token = "aws:budgets/budgetAction:BudgetAction"
    cloudformation = CloudFormationType("AWS::Budgets::BudgetsAction")
    replaces = frozenset({"accountId", "actionType", "budgetName"})

    def _request(self, news: Bag) -> Bag:
        threshold, definition = news["actionThreshold"], news["definition"]
        definitions = {
            "iamActionDefinition": ("IamActionDefinition", ("policyArn", "roles", "groups", "users")),
            "scpActionDefinition": ("ScpActionDefinition", ("policyId", "targetIds")),
            "ssmActionDefinition": ("SsmActionDefinition", ("actionSubType", "region", "instanceIds")),
        }
        return {
            "NotificationType": news["notificationType"],
            "ApprovalModel": news["approvalModel"],
            "ExecutionRoleArn": news["executionRoleArn"],
            "ActionThreshold": {
                "ActionThresholdType": threshold["actionThresholdType"],
                "ActionThresholdValue": threshold["actionThresholdValue"],
            },
            "Definition": {
                word: {_capital(name): definition[key][name] for name in names if definition[key].get(name) is not None}
                for key, (word, names) in definitions.items()
                if definition.get(key)
            },
            "Subscribers": [
                {"SubscriptionType": subscriber["subscriptionType"], "Address": subscriber["address"]}
                for subscriber in news["subscribers"]
            ],
        }

    def create(self, news: Bag) -> tuple[str, Bag]:
        account, budget = self.cloud.account, news["budgetName"]
        id_ = self.budgets.create_budget_action(
            AccountId=account,
            BudgetName=budget,
            ActionType=news["actionType"],
            ResourceTags=tag_list(news.get("tags")),
            **self._request(news),
        )["ActionId"]
        resource_id = self.exists(f"{account}:{id_}:{budget}")
        return resource_id, self._outputs(resource_id, "STANDBY")

    def _outputs(self, id_: str, status: str) -> Bag:
        account, action, budget = id_.split(":", 2)
        arn = f"arn:aws:budgets::{account}:budget/{budget}/action/{action}"
        return {"arn": arn, "actionId": action, "accountId": account, "status": status}

    def _name(self, id_: str) -> Bag:
        account, action, budget = id_.split(":", 2)
        return {"AccountId": account, "BudgetName": budget, "ActionId": action}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(
            lambda **a: {"it": [self.budgets.describe_budget_action(**a)["Action"]]}, "it", **self._name(id_)
        )
        if item is None:
            return None
        outputs = self._outputs(id_, item["Status"])
        return {**outputs, **_sdk_properties(item), "budgetName": item["BudgetName"], "tags": self.tags(outputs["arn"])}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"tags"}:
            self.budgets.update_budget_action(**self._name(id_), **self._request(news))
        if "tags" in changed:
            self.retag(state["arn"], state.get("tags"), news.get("tags"))
        return self._outputs(id_, state["status"])

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.budgets.delete_budget_action, **self._name(id_))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _sdk_properties(item: Bag) -> Bag:
    """Convert the API's description of an action to the SDK's names; whole numbers become integers."""

    def converted(value: Any) -> Any:
        if isinstance(value, dict):
            return {key[:1].lower() + key[1:]: converted(item) for key, item in value.items()}
        if isinstance(value, list):
            return [converted(item) for item in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    keys = ("NotificationType", "ActionType", "ActionThreshold", "Definition", "ExecutionRoleArn", "ApprovalModel")
    properties: Bag = converted({key: item[key] for key in (*keys, "Subscribers")})
    return properties
