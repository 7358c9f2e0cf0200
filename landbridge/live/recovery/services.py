"""Finding a lost thing, service by service, where EC2's filter by tag is not enough."""

from collections.abc import Iterable
from typing import Any

from landbridge.live.answers import AwsRefusal
from landbridge.live.aws import AwsClient
from landbridge.live.recovery.match import Find, Inputs, Item, ours, same, tags_of

_TARGETS = {
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "transitGatewayId": "TransitGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
}


def _tagged(items: Iterable[Item], inputs: Inputs, pairs: dict[str, str], id_key: str, tags: str = "Tags") -> list[str]:
    return [str(one[id_key]) for one in items if ours(inputs, tags_of(one, tags)) and same(inputs, one, pairs)]


def internet_gateway(aws: AwsClient, inputs: Inputs) -> list[str]:
    """One that is attached to this VPC or, if that is as far as it got, to none."""
    items = aws.all("ec2", "describe_internet_gateways", "InternetGateways")
    mine = [one for one in items if {at["VpcId"] for at in one.get("Attachments") or ()} <= {inputs.get("vpcId")}]
    return _tagged(mine, inputs, {}, "InternetGatewayId")


def _table(aws: AwsClient, inputs: Inputs) -> Item:
    tables = aws.ask("ec2", "describe_route_tables", RouteTableIds=[inputs["routeTableId"]])["RouteTables"]
    return dict(tables[0]) if tables else {}


def route(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A route to the same place over the same thing. The provider reads it by table and destination, not by its id."""
    destination = inputs["destinationCidrBlock"]
    for one in _table(aws, inputs).get("Routes") or ():
        if one.get("DestinationCidrBlock") == destination and same(inputs, one, _TARGETS):
            return [f"r-{inputs['routeTableId']}{destination}"]
    return []


def route_table_association(aws: AwsClient, inputs: Inputs) -> list[str]:
    """The one that says so of this subnet."""
    known = _table(aws, inputs).get("Associations") or ()
    return [str(one["RouteTableAssociationId"]) for one in known if one.get("SubnetId") == inputs["subnetId"]]


def vpc_range(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A further range of a VPC."""
    vpcs = aws.ask("ec2", "describe_vpcs", VpcIds=[inputs["vpcId"]])["Vpcs"]
    ranges = [one for vpc in vpcs for one in vpc.get("CidrBlockAssociationSet") or ()]
    return [str(one["AssociationId"]) for one in ranges if one["CidrBlock"] == inputs["cidrBlock"]]


def group_rule(egress: bool) -> Find:
    """A rule of a group, one way; two rules of a group never say the same."""
    pairs = {
        "ipProtocol": "IpProtocol",
        "cidrIpv4": "CidrIpv4",
        "prefixListId": "PrefixListId",
        "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId",
    }

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        filters = [{"Name": "group-id", "Values": [inputs["securityGroupId"]]}]
        rules = aws.all("ec2", "describe_security_group_rules", "SecurityGroupRules", Filters=filters)
        ports = {} if inputs["ipProtocol"] == "-1" else {"fromPort": "FromPort", "toPort": "ToPort"}
        return [
            str(one["SecurityGroupRuleId"])
            for one in rules
            if bool(one.get("IsEgress")) is egress and same(inputs, one, {**pairs, **ports})
        ]

    return find


def close_group(aws: AwsClient, id_: str) -> None:
    """Take the rule out of a new group that EC2 put there, which lets everything out: whoever made the group was about to.

    Rules that somebody asked for are resources of their own, and come after their group.
    """
    groups = aws.ask("ec2", "describe_security_groups", GroupIds=[id_])["SecurityGroups"]
    rules = groups[0].get("IpPermissionsEgress") or () if groups else ()
    opened = [one for one in rules if one["IpProtocol"] == "-1" and _everywhere(one)]
    if opened and len(rules) == len(opened):
        aws.ask("ec2", "revoke_security_group_egress", GroupId=id_, IpPermissions=opened)


def _everywhere(rule: Item) -> bool:
    ranges = {str(one.get("CidrIp")) for one in rule.get("IpRanges") or ()}
    return ranges == {"0.0.0.0/0"} and not rule.get("UserIdGroupPairs")


def _account(aws: AwsClient) -> str:
    return str(aws.ask("sts", "get_caller_identity")["Account"])


def budget(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A budget of this name, which only the account's own can be."""
    account = _account(aws)
    aws.ask("budgets", "describe_budget", AccountId=account, BudgetName=inputs["name"])
    return [f"{account}:{inputs['name']}"]


def trail(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A trail of this name in this region, into the same bucket."""
    found = aws.ask("cloudtrail", "describe_trails", trailNameList=[inputs["name"]], includeShadowTrails=False)
    return [str(one["TrailARN"]) for one in found["trailList"] if same(inputs, one, {"s3BucketName": "S3BucketName"})]


def log_group(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A log group of this name with the cluster's tags."""
    name = inputs["name"]
    groups = aws.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    arn = next((str(one["arn"]).removesuffix(":*") for one in groups if one["logGroupName"] == name), None)
    if arn is None:
        return []
    tags = aws.ask("logs", "list_tags_for_resource", resourceArn=arn)["tags"]
    return [name] if ours(inputs, tags) else []


def efs(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A file system with the cluster's tags and the same key: new ones are alike in everything else."""
    items = aws.all("efs", "describe_file_systems", "FileSystems")
    there = [one for one in items if one.get("LifeCycleState") not in ("deleting", "deleted", "error")]
    return _tagged(there, inputs, {"performanceMode": "PerformanceMode", "kmsKeyId": "KmsKeyId"}, "FileSystemId")


def mount_target(aws: AwsClient, inputs: Inputs) -> list[str]:
    """The one in this subnet: there is at most one in a zone."""
    items = aws.all("efs", "describe_mount_targets", "MountTargets", FileSystemId=inputs["fileSystemId"])
    return [str(one["MountTargetId"]) for one in items if one["SubnetId"] == inputs["subnetId"]]


def fsx(kind: str) -> Find:
    """File systems of one kind, in the same subnets."""

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        subnets = inputs["subnetIds"]
        wanted = {subnets} if isinstance(subnets, str) else set(subnets)
        items = aws.all("fsx", "describe_file_systems", "FileSystems")
        there = [
            one
            for one in items
            if one["FileSystemType"] == kind
            and set(one.get("SubnetIds") or ()) == wanted
            and one.get("Lifecycle") not in ("DELETING", "FAILED")
        ]
        return _tagged(there, inputs, {}, "FileSystemId")

    return find


def data_repository(aws: AwsClient, inputs: Inputs) -> list[str]:
    """What is linked to this folder of the file system: there is at most one."""
    filters = [{"Name": "file-system-id", "Values": [inputs["fileSystemId"]]}]
    items = aws.all("fsx", "describe_data_repository_associations", "Associations", Filters=filters)
    there = [one for one in items if one.get("Lifecycle") not in ("DELETING", "FAILED")]
    pairs = {"fileSystemPath": "FileSystemPath", "dataRepositoryPath": "DataRepositoryPath"}
    return _tagged(there, inputs, pairs, "AssociationId")


def role(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A role of this name with the cluster's tags."""
    found = aws.ask("iam", "get_role", RoleName=inputs["name"])["Role"]
    return [str(inputs["name"])] if ours(inputs, tags_of(found)) and same(inputs, found, {"path": "Path"}) else []


def instance_profile(aws: AwsClient, inputs: Inputs) -> list[str]:
    """An instance profile of this name with the cluster's tags."""
    found = aws.ask("iam", "get_instance_profile", InstanceProfileName=inputs["name"])["InstanceProfile"]
    return [str(inputs["name"])] if ours(inputs, tags_of(found)) else []


def iam_policy(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A policy of this name and path with the cluster's tags."""
    items = aws.all("iam", "list_policies", "Policies", Scope="Local", PathPrefix=inputs.get("path", "/"))
    arns = [str(one["Arn"]) for one in items if one["PolicyName"] == inputs["name"]]
    return [one for one in arns if ours(inputs, tags_of(aws.ask("iam", "list_policy_tags", PolicyArn=one)))]


def alias(aws: AwsClient, inputs: Inputs) -> list[str]:
    """This name of this key."""
    items = aws.all("kms", "list_aliases", "Aliases", KeyId=inputs["targetKeyId"])
    return [str(one["AliasName"]) for one in items if one["AliasName"] == inputs["name"]]


def key(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A key in use with the cluster's tags and this description."""
    found = []
    for one in aws.all("kms", "list_keys", "Keys"):
        about = aws.ask("kms", "describe_key", KeyId=one["KeyId"])["KeyMetadata"]
        if about.get("KeyManager") == "AWS" or about["KeyState"] == "PendingDeletion":
            continue
        if same(inputs, about, {"description": "Description"}):
            tags = tags_of({"Tags": aws.all("kms", "list_resource_tags", "Tags", KeyId=one["KeyId"])})
            found += [str(one["KeyId"])] if ours(inputs, tags) else []
    return found


def function(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A function of this name with the cluster's tags."""
    found = aws.ask("lambda", "get_function", FunctionName=inputs["name"])
    return [str(inputs["name"])] if ours(inputs, found.get("Tags") or {}) else []


def permission(aws: AwsClient, inputs: Inputs) -> list[str]:
    """The statement of this name in a function's policy."""
    policy = str(aws.ask("lambda", "get_policy", FunctionName=inputs["function"])["Policy"])
    return [str(inputs["statementId"])] if f'"{inputs["statementId"]}"' in policy else []


def bucket(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A bucket of this name that is the account's own and bears the cluster's tags, or has none yet.

    Tags are a second call after the one that makes the bucket; its name has the account's number in it.
    """
    name, owner = inputs["bucket"], _account(aws)
    aws.ask("s3", "head_bucket", Bucket=name, ExpectedBucketOwner=owner)
    listed = _or_none(aws, name)
    return [str(name)] if listed is None or ours(inputs, listed) else []


def _or_none(aws: AwsClient, name: str) -> dict[str, str] | None:
    try:
        return tags_of(aws.ask("s3", "get_bucket_tagging", Bucket=name), "TagSet")
    except AwsRefusal as refused:
        if refused.code == "NoSuchTagSet":
            return None
        raise


def secret(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A secret of this name with the cluster's tags; one that waits for its deletion is not there."""
    found: Any = aws.ask("secretsmanager", "describe_secret", SecretId=inputs["name"])
    there = ours(inputs, tags_of(found)) and not found.get("DeletedDate")
    return [str(found["ARN"])] if there else []
