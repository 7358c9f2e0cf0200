"""Systems Manager and Secrets Manager: activations and secrets."""

from collections.abc import Iterable

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import FIXED_NAME, Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import bears_tags, cluster_tag, delete_by, tags_of


def _activations(aws: AwsClient, cluster: str) -> Iterable[Item]:
    items: Iterable[Item] = aws.all("ssm", "describe_activations", "ActivationList")
    return [item for item in items if cluster_tag(cluster) in (item.get("Tags") or ())]


def _recover_secret(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the secret of this name with the inputs' tags, unless its deletion is scheduled."""
    secret: Item = aws.ask("secretsmanager", "describe_secret", SecretId=inputs["name"])
    is_same = bears_tags(inputs, tags_of(secret)) and not secret.get("DeletedDate")
    return [str(secret["ARN"])] if is_same else []


RESOURCE_TYPES = (
    ResourceType(
        "secret", "aws:secretsmanager/secret:Secret", recover=_recover_secret, billed=True, holds_data=True,
        not_swept=FIXED_NAME),
    ResourceType(
        "SSM activation", "aws:ssm/activation:Activation",
        repeatable="its code is in the creation's answer only: a lost one is of no use, and `sweep` deletes it",
        sweep=Sweep(360, _activations, "ActivationId",
                    delete_by("ssm", "delete_activation", "ActivationId", "ActivationId"))),
)  # fmt: skip
