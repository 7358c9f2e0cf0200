"""CloudWatch alarms with an SNS topic."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.alarms import AlarmPlan, AlarmsArgs, heartbeat_policy, topic_key_policy, topic_policy


class Alarms(Component):
    """Encrypted SNS topic with e-mail subscribers, and CloudWatch alarms that publish to it when they start and when they end.

    Costs about 0.10 USD a month for each alarm, 0.30 USD for the heartbeat's metric and 1 USD for the key. Protects: an outage of the
    link, of the reaper or of the burst controller is known within a quarter of an hour. Each subscriber must confirm the
    subscription by the link in SNS's first e-mail. Opens: the burst controller's role can write metrics of Landbridge's namespace.
    """

    topic_arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: AlarmsArgs,
        *,
        account: Account,
        region: str,
        ids: Mapping[str, pulumi.Input[str]],
        launch_role_name: pulumi.Input[str],
        tags: Mapping[str, str],
        protect: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"alarms": sorted(args.alarms)}, opts)
        self._name, self._tags, self._protect = name, dict(tags), protect
        self._child_options = pulumi.ResourceOptions(parent=self)
        place = pulumi.Output.all(account.partition, account.id).apply(
            lambda facts: ArnContext(args.cluster, facts[0], region, facts[1])
        )
        self.topic_arn, published = self._topic(args, place)
        for key, alarm in args.alarms.items():
            # A program with this component alone has no link and no NAT gateway to watch.
            if set(alarm.ids.values()) <= set(ids):
                self._alarm(key, alarm, ids, published)
        if args.heartbeat:
            aws.iam.RolePolicy(
                f"{name}-heartbeat",
                name="heartbeat",
                role=launch_role_name,
                policy=heartbeat_policy(),
                opts=self._child_options,
            )
        self.register_outputs({"topicArn": self.topic_arn})

    def _topic(
        self, args: AlarmsArgs, place: pulumi.Output[ArnContext]
    ) -> tuple[pulumi.Output[str], aws.sns.TopicPolicy]:
        """Create the topic, its key and its subscriptions; return its ARN, and the policy that permits alarms."""
        child = f"{self._name}-alarms"
        key = aws.kms.Key(
            child,
            description=f"Landbridge {args.cluster}: notifications of alarms",
            enable_key_rotation=True,
            deletion_window_in_days=7,
            policy=place.apply(topic_key_policy),
            tags=named(self._tags, args.topic),
            opts=pulumi.ResourceOptions(parent=self, protect=self._protect),
        )
        topic = aws.sns.Topic(
            child,
            name=args.topic,
            kms_master_key_id=key.arn,
            tags=named(self._tags, args.topic),
            opts=self._child_options,
        )
        policy = aws.sns.TopicPolicy(
            child,
            arn=topic.arn,
            policy=pulumi.Output.all(place, topic.arn).apply(lambda facts: topic_policy(*facts)),
            opts=self._child_options,
        )
        for address in args.subscribers:
            aws.sns.TopicSubscription(
                f"{child}-{address}", topic=topic.arn, protocol="email", endpoint=address, opts=self._child_options
            )
        return topic.arn, policy

    def _alarm(
        self, key: str, alarm: AlarmPlan, ids: Mapping[str, pulumi.Input[str]], published: aws.sns.TopicPolicy
    ) -> None:
        aws.cloudwatch.MetricAlarm(
            f"{self._name}-{key}",
            name=alarm.name,
            alarm_description=alarm.description,
            namespace=alarm.namespace,
            metric_name=alarm.metric,
            dimensions={**alarm.dimensions, **{name: ids[resource] for name, resource in alarm.ids.items()}},
            statistic=alarm.statistic,
            comparison_operator=alarm.comparison,
            threshold=alarm.threshold,
            period=alarm.period_seconds,
            evaluation_periods=alarm.periods,
            treat_missing_data=alarm.missing,
            alarm_actions=[self.topic_arn],
            ok_actions=[self.topic_arn],
            tags=self._tags,
            # An alarm that goes off before the topic's policy exists cannot publish.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[published]),
        )
