"""SNS and CloudWatch: topics with subscriptions, and alarms."""

from landbridge.aws_resources.resource_type import FIXED_NAME, SETS, ResourceType

#: Source: SNS API Reference, CreateTopic and Subscribe: the existing topic or subscription is returned.
_RETURNS_EXISTING = "the call returns the existing one, however often it is made"

RESOURCE_TYPES = (
    ResourceType("SNS topic", "aws:sns/topic:Topic", repeatable=_RETURNS_EXISTING),
    ResourceType("SNS topic policy", "aws:sns/topicPolicy:TopicPolicy", repeatable=SETS),
    ResourceType("SNS subscription", "aws:sns/topicSubscription:TopicSubscription", repeatable=_RETURNS_EXISTING),
    ResourceType(
        "CloudWatch alarm", "aws:cloudwatch/metricAlarm:MetricAlarm", repeatable=SETS, billed=True, not_swept=FIXED_NAME
    ),
)
