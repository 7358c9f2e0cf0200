"""Lambda: functions and permissions."""

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, ResourceType
from landbridge.aws_resources.search import bears_tags


def _recover_function(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the function of this name with the inputs' tags."""
    function = aws.ask("lambda", "get_function", FunctionName=inputs["name"])
    return [str(inputs["name"])] if bears_tags(inputs, function.get("Tags") or {}) else []


def _recover_permission(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the statement of this id in the function's policy."""
    policy = str(aws.ask("lambda", "get_policy", FunctionName=inputs["function"])["Policy"])
    return [str(inputs["statementId"])] if f'"{inputs["statementId"]}"' in policy else []


RESOURCE_TYPES = (
    ResourceType("Lambda function", "aws:lambda/function:Function", recover=_recover_function),
    ResourceType("Lambda permission", "aws:lambda/permission:Permission", recover=_recover_permission),
)
