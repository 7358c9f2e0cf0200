"""KMS: keys and aliases."""

from collections.abc import Iterator
from contextlib import suppress

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources.resource_type import Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import agrees, bears_tags, cluster_tag, tags_of


def _key_in_use(aws: AwsClient, key_id: str) -> Item | None:
    """Return a key of the account; None for AWS's own, and for one whose deletion is scheduled."""
    key: Item = aws.ask("kms", "describe_key", KeyId=key_id)["KeyMetadata"]
    is_in_use = key.get("KeyManager") != "AWS" and key.get("KeyState") != "PendingDeletion"
    return key if is_in_use else None


def _tags(aws: AwsClient, key_id: str) -> dict[str, str]:
    return tags_of({"Tags": aws.all("kms", "list_resource_tags", "Tags", KeyId=key_id)})


def _search(aws: AwsClient, cluster: str) -> Iterator[Item]:
    for listed in aws.all("kms", "list_keys", "Keys"):
        with suppress(AwsRefusal):  # the policy of another key can refuse its description
            key = _key_in_use(aws, listed["KeyId"])
            if key is None:
                continue
            tags = [{"Key": name, "Value": value} for name, value in _tags(aws, listed["KeyId"]).items()]
            if cluster_tag(cluster) in tags:
                yield {**key, "Tags": tags}


def _recover(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the keys in use with the inputs' tags and description."""
    keys = [_key_in_use(aws, listed["KeyId"]) for listed in aws.all("kms", "list_keys", "Keys")]
    described = [key for key in keys if key is not None and agrees(inputs, key, {"description": "Description"})]
    return [str(key["KeyId"]) for key in described if bears_tags(inputs, _tags(aws, key["KeyId"]))]


def _recover_alias(aws: AwsClient, inputs: Inputs) -> list[str]:
    aliases = aws.all("kms", "list_aliases", "Aliases", KeyId=inputs["targetKeyId"])
    return [str(alias["AliasName"]) for alias in aliases if alias["AliasName"] == inputs["name"]]


def _schedule_deletion(aws: AwsClient, item: Item) -> None:
    # Thirty days, KMS's longest wait, in which the deletion can be cancelled: encrypted data is lost after it.
    aws.ask("kms", "schedule_key_deletion", KeyId=item["KeyId"], PendingWindowInDays=30)


RESOURCE_TYPES = (
    ResourceType(
        "KMS key", "aws:kms/key:Key", recover=_recover, billed=True, holds_data=True,
        sweep=Sweep(350, _search, "KeyId", _schedule_deletion)),
    ResourceType("KMS alias", "aws:kms/alias:Alias", recover=_recover_alias),
)  # fmt: skip
