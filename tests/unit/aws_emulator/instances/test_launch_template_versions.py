"""Versions of launch templates in the emulated EC2: versions based on another one, and deletion of versions."""

from typing import Any

from ..conftest import IMAGE, Stack
from .test_emulator_launch import error_of


def data_of(ec2: Any, template: str, version: int | str) -> dict[str, Any]:
    (row,) = ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=[str(version)])[
        "LaunchTemplateVersions"
    ]
    return dict(row["LaunchTemplateData"])


def created(ec2: Any, template: str, **parameters: Any) -> int:
    answer = ec2.create_launch_template_version(LaunchTemplateId=template, **parameters)
    return int(answer["LaunchTemplateVersion"]["VersionNumber"])


def test_a_version_inherits_the_parameters_of_its_source_version_only_if_one_is_given(ec2: Any, stack: Stack) -> None:
    based = created(ec2, stack.template, SourceVersion="1", LaunchTemplateData={"InstanceType": "p4d.24xlarge"})
    alone = created(ec2, stack.template, LaunchTemplateData={"InstanceType": "p4d.24xlarge"})
    inherited = data_of(ec2, stack.template, based)
    assert (inherited["ImageId"], inherited["InstanceType"], inherited["UserData"]) == (
        IMAGE,
        "p4d.24xlarge",
        "aGVsbG8=",
    )
    assert data_of(ec2, stack.template, alone) == {"InstanceType": "p4d.24xlarge"}
    missing = error_of(
        lambda: created(ec2, stack.template, SourceVersion="9", LaunchTemplateData={"InstanceType": "p4d.24xlarge"})
    )
    assert missing == (400, "InvalidLaunchTemplateId.VersionNotFound")


def test_deleted_versions_are_gone_and_their_numbers_are_not_used_again(ec2: Any, stack: Stack) -> None:
    last = created(ec2, stack.template, SourceVersion="$Latest", LaunchTemplateData={"InstanceType": "p4d.24xlarge"})
    answer = ec2.delete_launch_template_versions(LaunchTemplateId=stack.template, Versions=["1", "2", "3", "9"])
    assert [row["VersionNumber"] for row in answer["SuccessfullyDeletedLaunchTemplateVersions"]] == [2, last]
    refused = {
        row["VersionNumber"]: row["ResponseError"]["Code"]
        for row in answer["UnsuccessfullyDeletedLaunchTemplateVersions"]
    }
    assert set(refused) == {1, 9} and refused[9] == "launchTemplateVersionDoesNotExist"
    versions = ec2.describe_launch_template_versions(LaunchTemplateId=stack.template)["LaunchTemplateVersions"]
    assert [row["VersionNumber"] for row in versions] == [1]
    assert error_of(lambda: data_of(ec2, stack.template, 2)) == (400, "InvalidLaunchTemplateId.VersionNotFound")
    following = created(ec2, stack.template, SourceVersion="1", LaunchTemplateData={"InstanceType": "p4d.24xlarge"})
    assert following == last + 1
    ec2.modify_launch_template(LaunchTemplateId=stack.template, DefaultVersion=str(following))
    answer = ec2.delete_launch_template_versions(LaunchTemplateId=stack.template, Versions=["1"])
    assert [row["VersionNumber"] for row in answer["SuccessfullyDeletedLaunchTemplateVersions"]] == [1]
    assert data_of(ec2, stack.template, "$Default")["ImageId"] == IMAGE


def test_versions_to_delete_are_named_by_number_and_of_one_template(ec2: Any, stack: Stack) -> None:
    latest = error_of(
        lambda: ec2.delete_launch_template_versions(LaunchTemplateId=stack.template, Versions=["$Latest"])
    )
    both = error_of(
        lambda: ec2.delete_launch_template_versions(
            LaunchTemplateId=stack.template, LaunchTemplateName="sandbox-p5", Versions=["2"]
        )
    )
    assert latest == (400, "InvalidParameterValue") and both == (400, "InvalidParameterCombination")
