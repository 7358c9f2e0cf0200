"""Cost Explorer anomaly monitors and subscriptions, and cost allocation tags."""

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    error_code,
    tag_list,
    tag_map,
)


class CostAllocationTagResource(AwsResource):
    """Activation of a cost allocation tag: the deletion deactivates it, and billing still lists the tag key."""

    token = "aws:costexplorer/costAllocationTag:CostAllocationTag"
    cloudformation = None
    replaces = frozenset({"tagKey"})

    @property
    def costs(self) -> Any:
        return self.cloud.client("ce")

    def _set(self, key: str, status: str) -> list[Bag]:
        tag_status = [{"TagKey": key, "Status": status}]
        failed: list[Bag] = self.costs.update_cost_allocation_tags_status(CostAllocationTagsStatus=tag_status)["Errors"]
        return failed

    def create(self, news: Bag) -> tuple[str, Bag]:
        for failed in self._set(news["tagKey"], news["status"]):
            raise ProviderError(f"{failed['Code']}: {failed['Message']}")
        return news["tagKey"], {"type": "UserDefined"}

    def read(self, id_: str, state: Bag) -> Bag | None:
        items = self.costs.list_cost_allocation_tags(TagKeys=[id_])["CostAllocationTags"]
        return {"tagKey": id_, "status": items[0]["Status"], "type": items[0]["Type"]} if items else None

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        return self.create(news)[1]

    def delete(self, id_: str, state: Bag) -> None:
        self._set(id_, "Inactive")


class _Anomaly(AwsResource, ABC):
    autoname = "name"
    #: Noun of the API's operations, and name of the member in a request.
    noun: ClassVar[str]
    word: ClassVar[str]

    @property
    def costs(self) -> Any:
        return self.cloud.client("ce")

    @property
    def _arn(self) -> str:
        return f"{self.word.removeprefix('Anomaly')}Arn"

    @abstractmethod
    def request(self, news: Bag) -> Bag:
        """Return the inputs in the API's form."""

    @abstractmethod
    def seen(self, item: Bag) -> Bag:
        """Return the outputs from the API's answer."""

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = getattr(self.costs, f"create_{self.noun}")(
            **{self.word: self.request(news)}, ResourceTags=tag_list(news.get("tags"))
        )
        arn = self.exists(response[self._arn])
        return arn, self._read(arn) or {}

    def _read(self, arn: str) -> Bag | None:
        try:
            (item,) = getattr(self.costs, f"get_{self.noun}s")(**{f"{self._arn}List": [arn]})[f"{self.word}s"]
        except ClientError as error:
            if error_code(error).startswith("Unknown"):
                return None
            raise
        return {**self.seen(item), "arn": arn}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self._read(id_)
        if item is None:
            return None
        return {**item, "tags": tag_map(self.costs.list_tags_for_resource(ResourceArn=id_)["ResourceTags"])}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            dropped = [key for key in before if key not in after]
            if dropped:
                self.costs.untag_resource(ResourceArn=id_, ResourceTagKeys=dropped)
            self.costs.tag_resource(ResourceArn=id_, ResourceTags=tag_list(after))
        if changed - {"tags"}:
            getattr(self.costs, f"update_{self.noun}")(**{self._arn: id_}, **self.changes(news))
        return self._read(id_) or {}

    def changes(self, news: Bag) -> Bag:
        """Return the arguments of an update."""
        return self.request(news)

    def delete(self, id_: str, state: Bag) -> None:
        try:
            getattr(self.costs, f"delete_{self.noun}")(**{self._arn: id_})
        except ClientError as error:
            if not error_code(error).startswith("Unknown"):
                raise


class AnomalyMonitorResource(_Anomaly):
    token = "aws:costexplorer/anomalyMonitor:AnomalyMonitor"
    cloudformation = CloudFormationType("AWS::CE::AnomalyMonitor", names={"name": "MonitorName"})
    replaces = frozenset({"monitorType", "monitorDimension", "monitorSpecification"})
    noun, word = "anomaly_monitor", "AnomalyMonitor"

    def request(self, news: Bag) -> Bag:
        request = {"MonitorName": news["name"], "MonitorType": news["monitorType"]}
        if news.get("monitorDimension"):
            request["MonitorDimension"] = news["monitorDimension"]
        if news.get("monitorSpecification"):
            request["MonitorSpecification"] = json.loads(news["monitorSpecification"])
        return request

    def changes(self, news: Bag) -> Bag:
        return {"MonitorName": news["name"]}

    def seen(self, item: Bag) -> Bag:
        monitor_specification = item.get("MonitorSpecification")
        return {
            "name": item["MonitorName"],
            "monitorType": item["MonitorType"],
            "monitorDimension": item.get("MonitorDimension"),
            "monitorSpecification": None if monitor_specification is None else json.dumps(monitor_specification),
        }


class AnomalySubscriptionResource(_Anomaly):
    token = "aws:costexplorer/anomalySubscription:AnomalySubscription"
    cloudformation = CloudFormationType("AWS::CE::AnomalySubscription", names={"name": "SubscriptionName"})
    replaces = frozenset({"name", "accountId"})
    noun, word = "anomaly_subscription", "AnomalySubscription"

    def request(self, news: Bag) -> Bag:
        subscribers = [
            {"Type": subscriber["type"], "Address": subscriber["address"]} for subscriber in news["subscribers"]
        ]
        request: Bag = {
            "SubscriptionName": news["name"],
            "Frequency": news["frequency"],
            "MonitorArnList": news["monitorArnLists"],
            "Subscribers": subscribers,
        }
        if news.get("thresholdExpression"):
            request["ThresholdExpression"] = _expression(news["thresholdExpression"])
        return request

    def seen(self, item: Bag) -> Bag:
        threshold = item.get("ThresholdExpression")
        return {
            "name": item["SubscriptionName"],
            "accountId": item["AccountId"],
            "frequency": item["Frequency"],
            "monitorArnLists": item["MonitorArnList"],
            "subscribers": [
                {"type": subscriber["Type"], "address": subscriber["Address"]} for subscriber in item["Subscribers"]
            ],
            "thresholdExpression": None if threshold is None else _as_inputs(threshold),
        }


#: Members of an expression: the SDK's name and the API's.
_PARTS = {"dimension": "Dimensions", "tags": "Tags", "costCategory": "CostCategories", "not": "Not"}
_MANY = {"ands": "And", "ors": "Or"}
_VALUES = {"key": "Key", "values": "Values", "matchOptions": "MatchOptions"}


def _expression(inputs: Bag) -> Bag:
    expression: Bag = {}
    for key, value in inputs.items():
        if key in _MANY:
            expression[_MANY[key]] = [_expression(item) for item in value]
        elif key == "not":
            expression["Not"] = _expression(value)
        elif value is not None:
            expression[_PARTS[key]] = {_VALUES[name]: item for name, item in value.items() if item is not None}
    return expression


def _as_inputs(expression: Bag) -> Bag:
    many, parts = {v: k for k, v in _MANY.items()}, {v: k for k, v in _PARTS.items()}
    values = {v: k for k, v in _VALUES.items()}
    inputs: Bag = {}
    for key, value in expression.items():
        if key in many:
            inputs[many[key]] = [_as_inputs(item) for item in value]
        elif key == "Not":
            inputs["not"] = _as_inputs(value)
        else:
            inputs[parts[key]] = {values[name]: item for name, item in value.items()}
    return inputs
