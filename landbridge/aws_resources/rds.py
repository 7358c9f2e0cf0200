"""RDS: DB instances, snapshots, subnet groups and parameter groups. RDS does not filter by tag."""

from collections.abc import Iterable, Iterator

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources.resource_type import Inputs, Item, Recover, ResourceType, Search, Sweep
from landbridge.aws_resources.search import bears_tags, cluster_tag, delete_by, tags_of


def _search(operation: str, key: str, arn_key: str, **parameters: str) -> Search:
    def find(aws: AwsClient, cluster: str) -> Iterator[Item]:
        items: Iterable[Item] = aws.all("rds", operation, key, **parameters)
        for item in items:
            # Some answers of RDS have the tags, others need a second call.
            tags = item.get("TagList")
            if tags is None:
                tags = aws.ask("rds", "list_tags_for_resource", ResourceName=item[arn_key])["TagList"]
            state = str(item.get("DBInstanceStatus", item.get("Status", "")))
            if cluster_tag(cluster) in tags and state != "deleting":
                yield {**item, "Tags": tags}

    return find


def _recover(operation: str, key: str, name_key: str, arn_key: str, name_input: str = "name") -> Recover:
    """Return a search for the resource of this name with the inputs' tags."""

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        try:
            items = aws.ask("rds", operation, **{name_key: inputs[name_input]})[key]
        except AwsRefusal as refused:
            if "NotFound" in refused.code:
                return []
            raise
        names = []
        for item in items:
            tags = {"Tags": aws.ask("rds", "list_tags_for_resource", ResourceName=item[arn_key])["TagList"]}
            if bears_tags(inputs, tags_of(tags)) and item.get("DBInstanceStatus") != "deleting":
                names.append(str(item[name_key]))
        return names

    return find


def _delete_instance(aws: AwsClient, item: Item) -> None:
    # The operator has given its id with --lose. Its manual snapshots stay: they are resources of their own.
    database = {"DBInstanceIdentifier": item["DBInstanceIdentifier"]}
    if item.get("DeletionProtection"):
        aws.ask("rds", "modify_db_instance", **database, DeletionProtection=False, ApplyImmediately=True)
    aws.ask("rds", "delete_db_instance", **database, SkipFinalSnapshot=True, DeleteAutomatedBackups=True)


_INSTANCES = ("describe_db_instances", "DBInstances")
_SUBNET_GROUPS = ("describe_db_subnet_groups", "DBSubnetGroups")
_PARAMETER_GROUPS = ("describe_db_parameter_groups", "DBParameterGroups")
_SNAPSHOT, _SUBNETS, _PARAMETERS = "DBSnapshotIdentifier", "DBSubnetGroupName", "DBParameterGroupName"

RESOURCE_TYPES = (
    ResourceType(
        "DB instance", "aws:rds/instance:Instance", billed=True, holds_data=True,
        recover=_recover(*_INSTANCES, "DBInstanceIdentifier", "DBInstanceArn", "identifier"),
        sweep=Sweep(200, _search(*_INSTANCES, "DBInstanceArn"), "DBInstanceIdentifier", _delete_instance)),
    # Automated snapshots are deleted with their DB instance.
    ResourceType(
        "DB snapshot", billed=True, holds_data=True,
        sweep=Sweep(210, _search("describe_db_snapshots", "DBSnapshots", "DBSnapshotArn", SnapshotType="manual"),
                    _SNAPSHOT, delete_by("rds", "delete_db_snapshot", _SNAPSHOT, _SNAPSHOT))),
    ResourceType(
        "DB subnet group", "aws:rds/subnetGroup:SubnetGroup",
        recover=_recover(*_SUBNET_GROUPS, _SUBNETS, "DBSubnetGroupArn"),
        sweep=Sweep(220, _search(*_SUBNET_GROUPS, "DBSubnetGroupArn"), _SUBNETS,
                    delete_by("rds", "delete_db_subnet_group", _SUBNETS, _SUBNETS))),
    ResourceType(
        "DB parameter group", "aws:rds/parameterGroup:ParameterGroup",
        recover=_recover(*_PARAMETER_GROUPS, _PARAMETERS, "DBParameterGroupArn"),
        sweep=Sweep(230, _search(*_PARAMETER_GROUPS, "DBParameterGroupArn"), _PARAMETERS,
                    delete_by("rds", "delete_db_parameter_group", _PARAMETERS, _PARAMETERS))),
)  # fmt: skip
