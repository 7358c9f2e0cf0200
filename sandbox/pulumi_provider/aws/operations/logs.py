"""CloudWatch log groups and VPC flow logs."""

from typing import Any

from landbridge.catalog import limits
from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
    tag_map,
)
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource


class LogGroupResource(AwsResource):
    token = "aws:cloudwatch/logGroup:LogGroup"
    cloudformation = CloudFormationType("AWS::Logs::LogGroup", names={"name": "LogGroupName"})
    replaces = frozenset({"name", "namePrefix", "logGroupClass"})
    autoname = "name"

    @property
    def logs(self) -> Any:
        return self.cloud.client("logs")

    def _set_retention(self, name: str, news: Bag) -> None:
        days = news.get("retentionInDays") or 0
        if not days:
            ignore_missing(self.logs.delete_retention_policy, logGroupName=name)
            return
        if days not in limits().log_retention.days:
            raise ProviderError(f"CloudWatch Logs does not keep events for {days} days")
        self.logs.put_retention_policy(logGroupName=name, retentionInDays=days)

    def create(self, news: Bag) -> tuple[str, Bag]:
        name = news["name"]
        key = {"kmsKeyId": news["kmsKeyId"]} if "kmsKeyId" in news else {}
        self.logs.create_log_group(logGroupName=name, tags=news.get("tags") or {}, **key)
        try:
            self._set_retention(name, news)
        except ProviderError:
            self.logs.delete_log_group(logGroupName=name)
            raise
        return name, {"arn": self.cloud.arn("logs", f"log-group:{name}")}

    def _group(self, name: str) -> Any | None:
        groups = self.logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        return next((group for group in groups if group["logGroupName"] == name), None)

    def read(self, id_: str, state: Bag) -> Bag | None:
        group = self._group(id_)
        if group is None:
            return None
        tags = self.logs.list_tags_for_resource(resourceArn=self.cloud.arn("logs", f"log-group:{id_}"))["tags"]
        outputs = {"arn": self.cloud.arn("logs", f"log-group:{id_}"), "name": id_}
        return {**outputs, "retentionInDays": group.get("retentionInDays", 0), "tags": tags or None}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"tags", "retentionInDays"}:
            return super().update(id_, state, news, changed - {"tags", "retentionInDays"})
        if "retentionInDays" in changed:
            self._set_retention(id_, news)
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            arn = self.cloud.arn("logs", f"log-group:{id_}")
            self.logs.untag_resource(resourceArn=arn, tagKeys=[key for key in before if key not in after])
            self.logs.tag_resource(resourceArn=arn, tags=after)
        return {"arn": state["arn"]}

    def delete(self, id_: str, state: Bag) -> None:
        if self._group(id_) is not None:
            ignore_missing(self.logs.delete_log_group, logGroupName=id_)


class FlowLogResource(Ec2Resource):
    token = "aws:ec2/flowLog:FlowLog"
    cloudformation = CloudFormationType("AWS::EC2::FlowLog")
    replaces = frozenset(
        {
            "eniId",
            "iamRoleArn",
            "logDestination",
            "logDestinationType",
            "logFormat",
            "maxAggregationInterval",
            "subnetId",
            "trafficType",
            "vpcId",
        }
    )
    resource_type = "vpc-flow-log"
    describe = ("describe_flow_logs", "FlowLogs", "FlowLogIds")
    remove = ("delete_flow_logs", "FlowLogIds")

    def create(self, news: Bag) -> tuple[str, Bag]:
        if "vpcId" not in news or news.get("logDestinationType", "cloud-watch-logs") != "cloud-watch-logs":
            raise ProviderError("the sandbox has flow logs of a VPC in a log group only")
        answer = self.ec2.create_flow_logs(
            ResourceType="VPC",
            ResourceIds=[news["vpcId"]],
            TrafficType=news["trafficType"],
            LogDestinationType="cloud-watch-logs",
            # The emulated EC2 identifies a log group only by its name.
            LogGroupName=news["logDestination"].partition(":log-group:")[2].removesuffix(":*"),
            DeliverLogsPermissionArn=news["iamRoleArn"],
            MaxAggregationInterval=news.get("maxAggregationInterval", 600),
            **self.tagging(news),
        )
        if answer.get("Unsuccessful"):
            raise ProviderError(answer["Unsuccessful"][0]["Error"]["Message"])
        id_ = answer["FlowLogIds"][0]
        return id_, {"arn": self.arn_of(id_)}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(self.ec2.describe_flow_logs, "FlowLogs", FlowLogIds=[id_])
        if item is None:
            return None
        outputs = {"arn": self.arn_of(id_), "vpcId": item["ResourceId"], "trafficType": item["TrafficType"]}
        return {**outputs, "tags": tag_map(item.get("Tags"))}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.delete_flow_logs, FlowLogIds=[id_])
