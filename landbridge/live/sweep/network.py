"""What is left of a network, and of keys: nothing here costs while it is empty but the keys, and all of it counts to a quota."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from landbridge.live.answers import AwsRefusal
from landbridge.live.aws import AwsClient

Item = Mapping[str, Any]


def delete_route_table(aws: AwsClient, item: Item) -> None:
    """Subnets leave it first; the main one goes with its VPC."""
    for one in item.get("Associations") or ():
        with suppress(AwsRefusal):  # the table's deletion says what is in the way
            if not one.get("Main"):
                aws.ask("ec2", "disassociate_route_table", AssociationId=one["RouteTableAssociationId"])
    aws.ask("ec2", "delete_route_table", RouteTableId=item["RouteTableId"])


def delete_internet_gateway(aws: AwsClient, item: Item) -> None:
    """It leaves its VPC first."""
    own = {"InternetGatewayId": item["InternetGatewayId"]}
    for one in item.get("Attachments") or ():
        with suppress(AwsRefusal):
            aws.ask("ec2", "detach_internet_gateway", VpcId=one["VpcId"], **own)
    aws.ask("ec2", "delete_internet_gateway", **own)


def keys(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Keys in use with the cluster's tag; AWS's own have none, and one that waits for its deletion costs nothing."""
    found = []
    for one in aws.all("kms", "list_keys", "Keys"):
        with suppress(AwsRefusal):  # another key's policy may not let us look at it
            about = aws.ask("kms", "describe_key", KeyId=one["KeyId"])["KeyMetadata"]
            if about.get("KeyManager") == "AWS" or about.get("KeyState") == "PendingDeletion":
                continue
            tags = aws.all("kms", "list_resource_tags", "Tags", KeyId=one["KeyId"])
            named = [{"Key": tag["TagKey"], "Value": tag["TagValue"]} for tag in tags]
            if {"Key": "landbridge:cluster", "Value": cluster} in named:
                found.append({**about, "Tags": named})
    return found


def delete_key(aws: AwsClient, item: Item) -> None:
    """Thirty days to think again: what is encrypted with it is lost after that."""
    aws.ask("kms", "schedule_key_deletion", KeyId=item["KeyId"], PendingWindowInDays=30)
