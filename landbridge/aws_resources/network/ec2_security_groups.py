"""EC2: security groups and their rules."""

from contextlib import suppress

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources.resource_type import Inputs, Item, Recover, ResourceType, Sweep
from landbridge.aws_resources.search import Ec2Listing, agrees


def _recover_rule(egress: bool) -> Recover:
    """Return a search for a rule of a group: two rules of a group are never equal."""
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
            str(rule["SecurityGroupRuleId"])
            for rule in rules
            if bool(rule.get("IsEgress")) is egress and agrees(inputs, rule, {**pairs, **ports})
        ]

    return find


def _remove_default_egress(aws: AwsClient, group_id: str) -> None:
    """Revoke the rule for all egress that EC2 adds to a new group, as the provider does after the creation.

    Rules of the environment are resources of their own, created after their group.
    """
    groups = aws.ask("ec2", "describe_security_groups", GroupIds=[group_id])["SecurityGroups"]
    rules = groups[0].get("IpPermissionsEgress") or () if groups else ()
    opened = [rule for rule in rules if rule["IpProtocol"] == "-1" and _is_to_everywhere(rule)]
    if opened and len(rules) == len(opened):
        aws.ask("ec2", "revoke_security_group_egress", GroupId=group_id, IpPermissions=opened)


def _is_to_everywhere(rule: Item) -> bool:
    ranges = {str(each.get("CidrIp")) for each in rule.get("IpRanges") or ()}
    return ranges == {"0.0.0.0/0"} and not rule.get("UserIdGroupPairs")


def _delete_group(aws: AwsClient, item: Item) -> None:
    # Rules are revoked first: two groups whose rules refer to each other cannot be deleted.
    for direction, permissions in (("ingress", "IpPermissions"), ("egress", "IpPermissionsEgress")):
        rules = item.get(permissions)
        with suppress(AwsRefusal):  # an earlier pass can have revoked them; the group's deletion reports the obstacle
            if rules:
                aws.ask("ec2", f"revoke_security_group_{direction}", GroupId=item["GroupId"], IpPermissions=rules)
    aws.ask("ec2", "delete_security_group", GroupId=item["GroupId"])


_GROUPS = Ec2Listing("describe_security_groups", "SecurityGroups", "GroupId")

RESOURCE_TYPES = (
    ResourceType(
        "security group", "aws:ec2/securityGroup:SecurityGroup", finish=_remove_default_egress,
        recover=_GROUPS.recover({"name": "GroupName", "vpcId": "VpcId"}),
        sweep=Sweep(300, _GROUPS.in_states(), "GroupId", _delete_group)),
    ResourceType(
        "default security group", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        repeatable="EC2 creates it with its VPC; the provider only removes its rules"),
    ResourceType(
        "security group rule", "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        recover=_recover_rule(egress=False)),
    ResourceType(
        "security group rule", "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        recover=_recover_rule(egress=True)),
)  # fmt: skip
