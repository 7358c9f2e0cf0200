"""AWS Budgets budgets with notifications, and budget actions."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, found, gone, tag_list, tag_map


class _Billing(AwsResource):
    @property
    def budgets(self) -> Any:
        return self.cloud.client("budgets")

    def tags(self, arn: str) -> Bag | None:
        """Return the tags of a resource."""
        return tag_map(self.budgets.list_tags_for_resource(ResourceARN=arn)["ResourceTags"])

    def retag(self, arn: str, before: Bag | None, after: Bag | None) -> None:
        """Set the tags of a resource."""
        dropped = [key for key in before or {} if key not in (after or {})]
        if dropped:
            self.budgets.untag_resource(ResourceARN=arn, ResourceTagKeys=dropped)
        self.budgets.tag_resource(ResourceARN=arn, ResourceTags=tag_list(after))


class BudgetResource(_Billing):
    token = "aws:budgets/budget:Budget"
    cloudformation = CloudFormationType("AWS::Budgets::Budget", at=("Budget",), names={"name": "BudgetName"})
    replaces = frozenset({"name", "namePrefix", "budgetType", "timeUnit", "accountId"})
    autoname = "name"

    def _asked(self, news: Bag) -> Bag:
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
            Budget=self._asked(news),
            NotificationsWithSubscribers=[
                _notification(notification) for notification in news.get("notifications") or []
            ],
            ResourceTags=tag_list(news.get("tags")),
        )
        return self.exists(f"{account}:{news['name']}"), self._own(news["name"])

    def _own(self, name: str) -> Bag:
        return {"arn": f"arn:aws:budgets::{self.cloud.account}:budget/{name}", "accountId": self.cloud.account}

    def _name(self, id_: str) -> Bag:
        return {"AccountId": self.cloud.account, "BudgetName": id_.partition(":")[2]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        budget = found(lambda **a: {"it": [self.budgets.describe_budget(**a)["Budget"]]}, "it", **self._name(id_))
        if budget is None:
            return None
        limit, own = budget["BudgetLimit"], self._own(budget["BudgetName"])
        seen = {"name": budget["BudgetName"], "limitAmount": limit["Amount"], "limitUnit": limit["Unit"]}
        filters = [{"name": key, "values": values} for key, values in (budget.get("CostFilters") or {}).items()]
        return {**own, **seen, "costFilters": filters or None, "tags": self.tags(own["arn"])}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        """In place, so that its actions stay; of its notifications the old go and the new come."""
        own = self._name(id_)
        if changed - {"tags", "notifications"}:
            self.budgets.update_budget(AccountId=own["AccountId"], NewBudget=self._asked(news))
        if "notifications" in changed:
            for old in state.get("notifications") or []:
                gone(self.budgets.delete_notification, **own, Notification=_notification(old)["Notification"])
            for new in news.get("notifications") or []:
                self.budgets.create_notification(**own, **_notification(new))
        if "tags" in changed:
            self.retag(state["arn"], state.get("tags"), news.get("tags"))
        return {"arn": state["arn"], "accountId": state["accountId"]}

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.budgets.delete_budget, **self._name(id_))


def _notification(one: Bag) -> Bag:
    people = [{"SubscriptionType": "EMAIL", "Address": each} for each in one.get("subscriberEmailAddresses") or []]
    return {
        "Notification": {
            "NotificationType": one["notificationType"],
            "ComparisonOperator": one["comparisonOperator"],
            "Threshold": one["threshold"],
            "ThresholdType": one["thresholdType"],
        },
        "Subscribers": people,
    }


class BudgetActionResource(_Billing):
    token = "aws:budgets/budgetAction:BudgetAction"
    cloudformation = CloudFormationType("AWS::Budgets::BudgetsAction")
    replaces = frozenset({"accountId", "actionType", "budgetName"})

    def _asked(self, news: Bag) -> Bag:
        limit, own = news["actionThreshold"], news["definition"]
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
                "ActionThresholdType": limit["actionThresholdType"],
                "ActionThresholdValue": limit["actionThresholdValue"],
            },
            "Definition": {
                word: {_capital(name): own[key][name] for name in names if own[key].get(name) is not None}
                for key, (word, names) in definitions.items()
                if own.get(key)
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
            **self._asked(news),
        )["ActionId"]
        whole = self.exists(f"{account}:{id_}:{budget}")
        return whole, self._own(whole, "STANDBY")

    def _own(self, id_: str, status: str) -> Bag:
        account, action, budget = id_.split(":", 2)
        arn = f"arn:aws:budgets::{account}:budget/{budget}/action/{action}"
        return {"arn": arn, "actionId": action, "accountId": account, "status": status}

    def _name(self, id_: str) -> Bag:
        account, action, budget = id_.split(":", 2)
        return {"AccountId": account, "BudgetName": budget, "ActionId": action}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = found(lambda **a: {"it": [self.budgets.describe_budget_action(**a)["Action"]]}, "it", **self._name(id_))
        if item is None:
            return None
        own = self._own(id_, item["Status"])
        return {**own, **_small(item), "budgetName": item["BudgetName"], "tags": self.tags(own["arn"])}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"tags"}:
            self.budgets.update_budget_action(**self._name(id_), **self._asked(news))
        if "tags" in changed:
            self.retag(state["arn"], state.get("tags"), news.get("tags"))
        return self._own(id_, state["status"])

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.budgets.delete_budget_action, **self._name(id_))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _small(item: Bag) -> Bag:
    """Translate the API's description of an action to the SDK's names; whole numbers become integers."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key[:1].lower() + key[1:]: turned(own) for key, own in value.items()}
        if isinstance(value, list):
            return [turned(own) for own in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    keys = ("NotificationType", "ActionType", "ActionThreshold", "Definition", "ExecutionRoleArn", "ApprovalModel")
    translated: Bag = turned({key: item[key] for key in (*keys, "Subscribers")})
    return translated
