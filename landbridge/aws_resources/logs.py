"""CloudTrail, CloudWatch Logs and EventBridge: trails, log groups and event rules."""

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import FIXED_NAME, SETS, Inputs, ResourceType
from landbridge.aws_resources.search import agrees, bears_tags


def _recover_trail(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the trail of this name in this region that writes into the same bucket."""
    answer = aws.ask("cloudtrail", "describe_trails", trailNameList=[inputs["name"]], includeShadowTrails=False)
    trails = answer["trailList"]
    return [str(trail["TrailARN"]) for trail in trails if agrees(inputs, trail, {"s3BucketName": "S3BucketName"})]


def _recover_log_group(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the log group of this name with the inputs' tags."""
    name = inputs["name"]
    groups = aws.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    arn = next((str(group["arn"]).removesuffix(":*") for group in groups if group["logGroupName"] == name), None)
    if arn is None:
        return []
    tags = aws.ask("logs", "list_tags_for_resource", resourceArn=arn)["tags"]
    return [name] if bears_tags(inputs, tags) else []


RESOURCE_TYPES = (
    ResourceType("CloudTrail trail", "aws:cloudtrail/trail:Trail", recover=_recover_trail),
    ResourceType(
        "log group", "aws:cloudwatch/logGroup:LogGroup", recover=_recover_log_group, billed=True, holds_data=True,
        not_swept=FIXED_NAME),
    ResourceType("EventBridge rule", "aws:cloudwatch/eventRule:EventRule", repeatable=SETS),
    ResourceType("EventBridge target", "aws:cloudwatch/eventTarget:EventTarget", repeatable=SETS),
)  # fmt: skip
