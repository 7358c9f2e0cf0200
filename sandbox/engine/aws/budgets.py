"""Budgets, with their notifications."""

from typing import Any

from sandbox.engine.aws.base import Bag, Kind, found, gone


class Budget(Kind):
    """The emulated AWS cannot change a budget: here it goes and comes back, which the real one need not."""

    token = "aws:budgets/budget:Budget"
    replaces = frozenset({"name", "namePrefix", "budgetType", "timeUnit"})
    autoname = "name"

    @property
    def budgets(self) -> Any:
        return self.cloud.client("budgets")

    def create(self, news: Bag) -> tuple[str, Bag]:
        account = self.cloud.account
        filters = {one["name"]: one["values"] for one in news.get("costFilters") or []}
        self.budgets.create_budget(
            AccountId=account,
            Budget={
                "BudgetName": news["name"],
                "BudgetType": news["budgetType"],
                "TimeUnit": news["timeUnit"],
                "BudgetLimit": {"Amount": news["limitAmount"], "Unit": news["limitUnit"]},
                **({"CostFilters": filters} if filters else {}),
            },
            NotificationsWithSubscribers=[_notification(one) for one in news.get("notifications") or []],
        )
        return f"{account}:{news['name']}", {
            "arn": f"arn:aws:budgets::{account}:budget/{news['name']}",
            "accountId": account,
        }

    def _name(self, id_: str) -> Bag:
        return {"AccountId": self.cloud.account, "BudgetName": id_.partition(":")[2]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        budget = found(lambda **a: {"it": [self.budgets.describe_budget(**a)["Budget"]]}, "it", **self._name(id_))
        if budget is None:
            return None
        limit = budget["BudgetLimit"]
        return {"name": budget["BudgetName"], "limitAmount": limit["Amount"], "limitUnit": limit["Unit"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed != {"tags"}:
            self.delete(id_, state)
            return self.create(news)[1]
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


KINDS = (Budget,)
