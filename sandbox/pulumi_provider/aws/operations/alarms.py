"""SNS topics with subscriptions, and CloudWatch alarms."""

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
from sandbox.pulumi_provider.aws.identity.iam import same_document


class TopicResource(AwsResource):
    token = "aws:sns/topic:Topic"
    cloudformation = CloudFormationType("AWS::SNS::Topic", names={"name": "TopicName"})
    replaces = frozenset({"name", "namePrefix", "fifoTopic"})
    autoname = "name"

    @property
    def sns(self) -> Any:
        return self.cloud.client("sns")

    def create(self, news: Bag) -> tuple[str, Bag]:
        attributes = {"KmsMasterKeyId": news["kmsMasterKeyId"]} if "kmsMasterKeyId" in news else {}
        arn = self.sns.create_topic(Name=news["name"], Attributes=attributes, Tags=tag_list(news.get("tags")))
        return arn["TopicArn"], {"arn": arn["TopicArn"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        topic = first_or_none(
            lambda **a: {"it": [self.sns.get_topic_attributes(**a)["Attributes"]]}, "it", TopicArn=id_
        )
        if topic is None:
            return None
        tags = tag_map(self.sns.list_tags_for_resource(ResourceArn=id_)["Tags"])
        return {"arn": id_, "kmsMasterKeyId": topic.get("KmsMasterKeyId"), "tags": tags}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            self.sns.untag_resource(ResourceArn=id_, TagKeys=[key for key in before if key not in after])
            self.sns.tag_resource(ResourceArn=id_, Tags=tag_list(after))
        if "kmsMasterKeyId" in changed:
            key = news.get("kmsMasterKeyId", "")
            self.sns.set_topic_attributes(TopicArn=id_, AttributeName="KmsMasterKeyId", AttributeValue=key)
        other_changes = changed - {"tags", "kmsMasterKeyId"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.sns.delete_topic, TopicArn=id_)


class TopicPolicyResource(AwsResource):
    token = "aws:sns/topicPolicy:TopicPolicy"
    cloudformation = CloudFormationType(
        "AWS::SNS::TopicPolicy", names={"policy": "PolicyDocument"}, without=("policy",)
    )
    replaces = frozenset({"arn"})

    @property
    def sns(self) -> Any:
        return self.cloud.client("sns")

    def create(self, news: Bag) -> tuple[str, Bag]:
        arn, policy = news["arn"], news["policy"]
        self.sns.set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=policy)
        return arn, {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        topic = first_or_none(
            lambda **a: {"it": [self.sns.get_topic_attributes(**a)["Attributes"]]}, "it", TopicArn=id_
        )
        if topic is None:
            return None
        return {"arn": id_, "policy": same_document(state.get("policy") or "{}", topic["Policy"])}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        return self.create(news)[1]

    def delete(self, id_: str, state: Bag) -> None:
        return  # the policy ends with its topic


class TopicSubscriptionResource(AwsResource):
    token = "aws:sns/topicSubscription:TopicSubscription"
    cloudformation = CloudFormationType("AWS::SNS::Subscription", names={"topic": "TopicArn"})
    replaces = frozenset({"topic", "protocol", "endpoint"})

    @property
    def sns(self) -> Any:
        return self.cloud.client("sns")

    def create(self, news: Bag) -> tuple[str, Bag]:
        arn = self.sns.subscribe(
            TopicArn=news["topic"], Protocol=news["protocol"], Endpoint=news["endpoint"], ReturnSubscriptionArn=True
        )["SubscriptionArn"]
        return arn, {"arn": arn}

    def read(self, id_: str, state: Bag) -> Bag | None:
        listed = self.sns.list_subscriptions()["Subscriptions"]
        item = next((each for each in listed if each["SubscriptionArn"] == id_), None)
        if item is None:
            return None
        return {"arn": id_, "topic": item["TopicArn"], "protocol": item["Protocol"], "endpoint": item["Endpoint"]}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.sns.unsubscribe, SubscriptionArn=id_)


class MetricAlarmResource(AwsResource):
    token = "aws:cloudwatch/metricAlarm:MetricAlarm"
    # CloudFormation has dimensions as a list of names and values, the SDK as a map.
    cloudformation = CloudFormationType("AWS::CloudWatch::Alarm", names={"name": "AlarmName"}, without=("dimensions",))
    replaces = frozenset({"name"})
    autoname = "name"

    @property
    def cloudwatch(self) -> Any:
        return self.cloud.client("cloudwatch")

    def create(self, news: Bag) -> tuple[str, Bag]:
        optional = {"Threshold": "threshold", "TreatMissingData": "treatMissingData", "Statistic": "statistic"}
        self.cloudwatch.put_metric_alarm(
            AlarmName=news["name"],
            AlarmDescription=news.get("alarmDescription", ""),
            Namespace=news["namespace"],
            MetricName=news["metricName"],
            Dimensions=[{"Name": key, "Value": value} for key, value in (news.get("dimensions") or {}).items()],
            ComparisonOperator=news["comparisonOperator"],
            Period=int(news["period"]),
            EvaluationPeriods=int(news["evaluationPeriods"]),
            AlarmActions=news.get("alarmActions") or [],
            OKActions=news.get("okActions") or [],
            Tags=tag_list(news.get("tags")),
            **{parameter: news[key] for parameter, key in optional.items() if key in news},
        )
        return news["name"], {"arn": self.cloud.arn("cloudwatch", f"alarm:{news['name']}")}

    def read(self, id_: str, state: Bag) -> Bag | None:
        alarm = first_or_none(self.cloudwatch.describe_alarms, "MetricAlarms", AlarmNames=[id_])
        if alarm is None:
            return None
        return {
            "arn": alarm["AlarmArn"],
            "alarmDescription": alarm["AlarmDescription"],
            "namespace": alarm["Namespace"],
            "metricName": alarm["MetricName"],
            "dimensions": {dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]},
            "statistic": alarm["Statistic"],
            "comparisonOperator": alarm["ComparisonOperator"],
            "threshold": alarm["Threshold"],
            "period": alarm["Period"],
            "evaluationPeriods": alarm["EvaluationPeriods"],
            "treatMissingData": alarm.get("TreatMissingData"),
            "alarmActions": alarm["AlarmActions"],
            "okActions": alarm["OKActions"],
            "tags": tag_map(self.cloudwatch.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])["Tags"]),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self.create(news)
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            dropped = [key for key in before if key not in after]
            self.cloudwatch.untag_resource(ResourceARN=state["arn"], TagKeys=dropped)
            self.cloudwatch.tag_resource(ResourceARN=state["arn"], Tags=tag_list(after))
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.cloudwatch.delete_alarms, AlarmNames=[id_])
