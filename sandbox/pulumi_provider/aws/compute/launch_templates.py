"""EC2 launch templates and placement groups."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
)
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource

#: Inputs of the resource that are not part of a template's data.
OUTSIDE = frozenset({"name", "namePrefix", "description", "tags", "updateDefaultVersion", "defaultVersion", "region"})
#: EC2's names that are not Pulumi's name with a capital letter.
WORDS = {"securityGroups": "Groups", "ramDiskId": "RamDiskId", "vpcSecurityGroupIds": "SecurityGroupIds"}


class LaunchTemplateResource(Ec2Resource):
    token = "aws:ec2/launchTemplate:LaunchTemplate"
    cloudformation = CloudFormationType(
        "AWS::EC2::LaunchTemplate",
        at=(
            "LaunchTemplateData",
            "",
        ),
        names={"name": "LaunchTemplateName"},
    )
    replaces = frozenset({"name", "namePrefix"})
    autoname = "name"
    resource_type = "launch-template"
    describe = ("describe_launch_templates", "LaunchTemplates", "LaunchTemplateIds")
    remove = ("delete_launch_template", "LaunchTemplateId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        launch_template = self.ec2.create_launch_template(
            LaunchTemplateName=news["name"],
            VersionDescription=news.get("description", ""),
            LaunchTemplateData=template_data(news),
            **self.tagging(news),
        )["LaunchTemplate"]
        id_ = launch_template["LaunchTemplateId"]
        return id_, {"arn": self.arn_of(id_), "latestVersion": 1, "defaultVersion": 1}

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = super().read(id_, state)
        if seen is None:
            return None
        latest = self.ec2.describe_launch_template_versions(LaunchTemplateId=id_, Versions=["$Latest"])
        data = latest["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        if data != template_data(state):
            # Another program has created a version. Its data is not converted to inputs: showing a difference is
            # enough.
            seen |= {"imageId": data.get("ImageId", ""), "userData": data.get("UserData", "")}
        return seen

    def observed(self, item: Any) -> Bag:
        return {
            "name": item["LaunchTemplateName"],
            "latestVersion": item["LatestVersionNumber"],
            "defaultVersion": item["DefaultVersionNumber"],
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        version = state["latestVersion"]
        if changed - OUTSIDE:
            response = self.ec2.create_launch_template_version(
                LaunchTemplateId=id_,
                VersionDescription=news.get("description", ""),
                LaunchTemplateData=template_data(news),
            )
            version = response["LaunchTemplateVersion"]["VersionNumber"]
        default = state["defaultVersion"]
        if news.get("updateDefaultVersion") and default != version:
            self.ec2.modify_launch_template(LaunchTemplateId=id_, DefaultVersion=str(version))
            default = version
        self.retag(id_, state, news)
        return {"latestVersion": version, "defaultVersion": default}


def template_data(inputs: Bag) -> Bag:
    """Return EC2's LaunchTemplateData of a template's inputs."""
    known = {key: value for key, value in inputs.items() if key not in OUTSIDE and key not in _COMPUTED}
    return {_capital(key): _translated(key, value) for key, value in known.items()}


_COMPUTED = frozenset({"id", "arn", "latestVersion", "tagsAll"})
#: Properties that Pulumi types as strings because "not given" differs from "false".
_BOOLEANS = frozenset({"encrypted", "deleteOnTermination", "associatePublicIpAddress", "ebsOptimized", "primaryIpv6"})


def _translated(key: str, value: Any) -> Any:
    if key == "tags":
        return tag_list(value)
    if isinstance(value, dict):
        return {_capital(name): _translated(name, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_translated(key, item) for item in value]
    if key in _BOOLEANS and isinstance(value, str):
        return value == "true"
    return value


def _capital(key: str) -> str:
    return WORDS.get(key, key[0].upper() + key[1:])


class PlacementGroupResource(AwsResource):
    token = "aws:ec2/placementGroup:PlacementGroup"
    cloudformation = CloudFormationType("AWS::EC2::PlacementGroup")
    replaces = frozenset({"name", "strategy", "partitionCount", "spreadLevel"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        tags = [{"ResourceType": "placement-group", "Tags": tag_list(news["tags"])}] if news.get("tags") else []
        name = news["name"]
        self.ec2.create_placement_group(GroupName=name, Strategy=news["strategy"], TagSpecifications=tags)
        group = self._group(name) or {}
        return name, self._computed(name, group)

    def _group(self, name: str) -> Any | None:
        return first_or_none(self.ec2.describe_placement_groups, "PlacementGroups", GroupNames=[name])

    def read(self, id_: str, state: Bag) -> Bag | None:
        group = self._group(id_)
        return None if group is None else {"strategy": group["Strategy"], **self._computed(id_, group)}

    def _computed(self, name: str, group: Any) -> Bag:
        return {"arn": self.cloud.arn("ec2", f"placement-group/{name}"), "placementGroupId": group.get("GroupId")}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.delete_placement_group, GroupName=id_)
