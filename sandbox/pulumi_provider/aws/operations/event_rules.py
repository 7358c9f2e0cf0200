"""EventBridge rules with a schedule, and their targets."""

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


class EventRuleResource(AwsResource):
    token = "aws:cloudwatch/eventRule:EventRule"
    cloudformation = CloudFormationType("AWS::Events::Rule")
    replaces = frozenset({"name", "namePrefix", "eventBusName"})
    autoname = "name"

    @property
    def events(self) -> Any:
        return self.cloud.client("events")

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {"ScheduleExpression": news["scheduleExpression"]} if "scheduleExpression" in news else {}
        parameters |= {"EventPattern": news["eventPattern"]} if "eventPattern" in news else {}
        response = self.events.put_rule(
            Name=news["name"], Description=news.get("description", ""), Tags=tag_list(news.get("tags")), **parameters
        )
        return news["name"], {"arn": response["RuleArn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        rule = first_or_none(lambda **a: {"it": [self.events.describe_rule(**a)]}, "it", Name=id_)
        if rule is None:
            return None
        tags = self.events.list_tags_for_resource(ResourceARN=rule["Arn"])["Tags"]
        seen = {"arn": rule["Arn"], "scheduleExpression": rule.get("ScheduleExpression"), "tags": tag_map(tags)}
        return {**seen, "description": rule.get("Description", "")}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            dropped = [key for key in before if key not in after]
            self.events.untag_resource(ResourceARN=state["arn"], TagKeys=dropped)
            self.events.tag_resource(ResourceARN=state["arn"], Tags=tag_list(after))
        return self.create({**news, "tags": None})[1]

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.events.delete_rule, Name=id_)


class EventTargetResource(AwsResource):
    token = "aws:cloudwatch/eventTarget:EventTarget"
    cloudformation = CloudFormationType("AWS::Events::Rule", at=("Targets",), names={"targetId": "Id"})
    replaces = frozenset({"rule", "targetId", "eventBusName"})

    @property
    def events(self) -> Any:
        return self.cloud.client("events")

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.events.put_targets(Rule=news["rule"], Targets=[{"Id": news["targetId"], "Arn": news["arn"]}])
        return f"{news['rule']}-{news['targetId']}", {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        try:
            targets = self.events.list_targets_by_rule(Rule=state["rule"])["Targets"]
        except self.events.exceptions.ResourceNotFoundException:
            return None
        return next(({"arn": target["Arn"]} for target in targets if target["Id"] == state["targetId"]), None)

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        return self.create(news)[1]

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.events.remove_targets, Rule=state["rule"], Ids=[state["targetId"]])
