"""What is left of databases: the instances, what was copied out of them, and what they stood in. RDS filters nothing by tag."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from landbridge.live.aws import AwsClient

Item = Mapping[str, Any]


def _tagged(operation: str, key: str, arn: str, **more: str) -> Callable[[AwsClient, str], Iterable[Item]]:
    """List one kind. RDS tells tags with some and keeps others' for a second question."""

    def find(aws: AwsClient, cluster: str) -> Iterable[Item]:
        own = {"Key": "landbridge:cluster", "Value": cluster}
        for item in aws.all("rds", operation, key, **more):
            tags = item.get("TagList")
            if tags is None:
                tags = aws.ask("rds", "list_tags_for_resource", ResourceName=item[arn])["TagList"]
            state = str(item.get("DBInstanceStatus", item.get("Status", "")))
            if own in tags and state != "deleting":
                yield {**item, "Tags": tags}

    return find


instances = _tagged("describe_db_instances", "DBInstances", "DBInstanceArn")
#: Those that RDS makes by itself go with their database.
snapshots = _tagged("describe_db_snapshots", "DBSnapshots", "DBSnapshotArn", SnapshotType="manual")
subnet_groups = _tagged("describe_db_subnet_groups", "DBSubnetGroups", "DBSubnetGroupArn")
parameter_groups = _tagged("describe_db_parameter_groups", "DBParameterGroups", "DBParameterGroupArn")


def delete_instance(aws: AwsClient, item: Item) -> None:
    """Whoever named it has said that its data may go; its snapshots are things of their own."""
    own = {"DBInstanceIdentifier": item["DBInstanceIdentifier"]}
    if item.get("DeletionProtection"):
        aws.ask("rds", "modify_db_instance", **own, DeletionProtection=False, ApplyImmediately=True)
    aws.ask("rds", "delete_db_instance", **own, SkipFinalSnapshot=True, DeleteAutomatedBackups=True)
