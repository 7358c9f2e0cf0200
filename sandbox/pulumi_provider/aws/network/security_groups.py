"""EC2 security groups and their rules."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource


class SecurityGroupResource(Ec2Resource):
    token = "aws:ec2/securityGroup:SecurityGroup"
    cloudformation = CloudFormationType(
        "AWS::EC2::SecurityGroup", names={"name": "GroupName", "description": "GroupDescription"}
    )
    replaces = frozenset({"name", "namePrefix", "description", "vpcId"})
    autoname = "name"
    resource_type = "security-group"
    describe = ("describe_security_groups", "SecurityGroups", "GroupIds")
    remove = ("delete_security_group", "GroupId")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        if news.get("ingress") or news.get("egress"):
            raise ProviderError("the sandbox takes a security group's rules as separate resources, not inline")
        id_ = self.ec2.create_security_group(
            GroupName=news["name"],
            Description=news.get("description", "Managed by Pulumi"),
            VpcId=news["vpcId"],
            **self.tagging(news),
        )["GroupId"]
        self.finish(self.exists(id_), news)
        return id_, {"arn": self.arn_of(id_), "ownerId": self.cloud.account}

    def finish(self, id_: str, news: Bag) -> None:
        """Delete the rule that permits all egress, which EC2 adds to a new group; the real provider does the same."""
        empty(self.ec2, id_)

    def observed(self, item: Any) -> Bag:
        return {"name": item["GroupName"], "description": item["Description"], "vpcId": item["VpcId"]}


class DefaultSecurityGroupResource(Ec2Resource):
    """Default security group of a VPC: its rules are deleted at creation; the group is never created or deleted."""

    token = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
    cloudformation = CloudFormationType(
        "AWS::EC2::SecurityGroup", names={"ingress": "SecurityGroupIngress", "egress": "SecurityGroupEgress"}
    )
    replaces = frozenset({"vpcId"})
    resource_type = "security-group"
    describe = ("describe_security_groups", "SecurityGroups", "GroupIds")

    def create(self, news: Bag) -> tuple[str, Bag]:
        if news.get("ingress") or news.get("egress"):
            raise ProviderError("the sandbox only empties a default security group")
        group = first_or_none(
            self.ec2.describe_security_groups,
            "SecurityGroups",
            Filters=[{"Name": "vpc-id", "Values": [news["vpcId"]]}, {"Name": "group-name", "Values": ["default"]}],
        )
        if group is None:
            raise ProviderError(f"VPC {news['vpcId']} has no default security group")
        empty(self.ec2, group["GroupId"])
        self.retag(group["GroupId"], {}, news)
        return group["GroupId"], {"arn": self.arn_of(group["GroupId"]), "name": "default"}

    def computed(self, id_: str, item: Any) -> Bag:
        return {**super().computed(id_, item), "name": "default"}

    def delete(self, id_: str, state: Bag) -> None:
        return None


def empty(ec2: Any, group: str) -> None:
    """Delete every rule of a security group."""
    item = first_or_none(ec2.describe_security_groups, "SecurityGroups", GroupIds=[group]) or {}
    if item.get("IpPermissions"):
        ec2.revoke_security_group_ingress(GroupId=group, IpPermissions=item["IpPermissions"])
    if item.get("IpPermissionsEgress"):
        ec2.revoke_security_group_egress(GroupId=group, IpPermissions=item["IpPermissionsEgress"])


class _Rule(AwsResource):
    direction: ClassVar[str]
    replaces = frozenset(
        {"securityGroupId", "ipProtocol", "fromPort", "toPort", "cidrIpv4", "referencedSecurityGroupId", "description"}
    )

    def create(self, news: Bag) -> tuple[str, Bag]:
        permission: Bag = {"IpProtocol": news["ipProtocol"]}
        if news["ipProtocol"] != "-1":
            permission |= {"FromPort": news["fromPort"], "ToPort": news["toPort"]}
        description = {"Description": news["description"]} if "description" in news else {}
        if "cidrIpv4" in news:
            permission["IpRanges"] = [{"CidrIp": news["cidrIpv4"], **description}]
        else:
            permission["UserIdGroupPairs"] = [{"GroupId": news["referencedSecurityGroupId"], **description}]
        tags = [{"ResourceType": "security-group-rule", "Tags": tag_list(news["tags"])}] if news.get("tags") else []
        response = getattr(self.ec2, f"authorize_security_group_{self.direction}")(
            GroupId=news["securityGroupId"], IpPermissions=[permission], TagSpecifications=tags
        )
        id_ = response["SecurityGroupRules"][0]["SecurityGroupRuleId"]
        return id_, self._computed(id_)

    def _computed(self, id_: str) -> Bag:
        return {"arn": self.cloud.arn("ec2", f"security-group-rule/{id_}"), "securityGroupRuleId": id_}

    def read(self, id_: str, state: Bag) -> Bag | None:
        rule = first_or_none(
            self.ec2.describe_security_group_rules,
            "SecurityGroupRules",
            Filters=[{"Name": "group-id", "Values": [state["securityGroupId"]]}],
            SecurityGroupRuleIds=[id_],
        )
        if rule is None:
            return None
        seen: Bag = {**self._computed(id_), "ipProtocol": rule["IpProtocol"], "tags": tag_map(rule.get("Tags"))}
        if "CidrIpv4" in rule:
            seen["cidrIpv4"] = rule["CidrIpv4"]
        if rule["IpProtocol"] != "-1":
            seen |= {"fromPort": rule["FromPort"], "toPort": rule["ToPort"]}
        return seen

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed != {"tags"}:
            super().update(id_, state, news, changed)
        self.ec2.create_tags(Resources=[id_], Tags=tag_list(news.get("tags")))
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        revoke = getattr(self.ec2, f"revoke_security_group_{self.direction}")
        ignore_missing(revoke, GroupId=state["securityGroupId"], SecurityGroupRuleIds=[id_])


class SecurityGroupIngressRuleResource(_Rule):
    token = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    cloudformation = CloudFormationType(
        "AWS::EC2::SecurityGroupIngress", names={"securityGroupId": "GroupId", "cidrIpv4": "CidrIp"}
    )
    direction = "ingress"


class SecurityGroupEgressRuleResource(_Rule):
    token = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
    cloudformation = CloudFormationType(
        "AWS::EC2::SecurityGroupEgress", names={"securityGroupId": "GroupId", "cidrIpv4": "CidrIp"}
    )
    direction = "egress"
