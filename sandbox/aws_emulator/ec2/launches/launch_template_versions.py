"""Versions of launch templates: versions based on another one, and deletion of versions, which moto does not have.

Source: EC2 API Reference, CreateLaunchTemplateVersion (SourceVersion), DeleteLaunchTemplateVersions and ResponseError.
"""

from typing import Any

from moto.ec2.exceptions import InvalidLaunchTemplateVersionNotFound
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateVersion
from moto.ec2.utils import parse_user_data

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError

#: Versions in one request. Source: EC2 API Reference, DeleteLaunchTemplateVersions.
_MOST_VERSIONS = 200


def install(emulator: EmulatorState) -> None:
    """Let moto find versions by their numbers, which no later version gets again. Global to the process."""
    LaunchTemplate.create_version = _create_version
    LaunchTemplate.get_version = _version
    LaunchTemplate.default_version = lambda template: _version(template, template.default_version_number)


def create(emulator: EmulatorState, response: Any) -> Any:
    """Answer CreateLaunchTemplateVersion: parameters of the request replace the source version's parameters."""
    template = _template(response)
    data = dict(response._get_param("LaunchTemplateData") or {})
    if data.get("UserData"):
        data["UserData"] = parse_user_data(data["UserData"])
    if not data:
        raise CloudError("MissingParameter", "The request must contain the parameter LaunchTemplateData")
    source = response._get_param("SourceVersion")
    if source:
        data = {**template.get_version(source).data, **data}
    version = template.create_version(data, response._get_param("VersionDescription"))
    return {
        "LaunchTemplateVersion": {
            "CreateTime": version.create_time,
            "CreatedBy": f"arn:{response.partition}:iam::{response.current_account}:root",
            "DefaultVersion": template.is_default(version),
            "LaunchTemplateData": version.data,
            "LaunchTemplateId": template.id,
            "LaunchTemplateName": template.name,
            "VersionDescription": version.description,
            "VersionNumber": version.number,
        }
    }


def delete(emulator: EmulatorState, response: Any) -> Any:
    """Answer DeleteLaunchTemplateVersions: every version that can be deleted is deleted, the others are listed with the reason."""
    template, wanted = _template(response), [str(version) for version in response._get_param("Versions") or []]
    if not wanted:
        raise CloudError("MissingParameter", "The request must contain the parameter LaunchTemplateVersion")
    if len(wanted) > _MOST_VERSIONS:
        raise CloudError(
            "InvalidParameterValue", f"A request deletes {_MOST_VERSIONS} launch template versions at most."
        )
    if not all(number.isdecimal() for number in wanted):
        raise CloudError("InvalidParameterValue", "Versions to delete are given by their numbers.")
    deleted, refused = [], []
    for number in map(int, wanted):
        row = {"LaunchTemplateId": template.id, "LaunchTemplateName": template.name, "VersionNumber": number}
        version = next((version for version in template.versions if version.number == number), None)
        if version is None:
            code, message = "launchTemplateVersionDoesNotExist", f"The launch template version {number} does not exist."
        elif template.is_default(version):
            # The reference names no code for it.
            code, message = "unexpectedError", f"The version {number} is the default version and cannot be deleted."
        else:
            template.versions.remove(version)
            deleted.append(row)
            continue
        refused.append({**row, "ResponseError": {"Code": code, "Message": message}})
    return {
        "SuccessfullyDeletedLaunchTemplateVersions": deleted,
        "UnsuccessfullyDeletedLaunchTemplateVersions": refused,
    }


def _template(response: Any) -> Any:
    template_id, name = response._get_param("LaunchTemplateId"), response._get_param("LaunchTemplateName")
    if bool(template_id) == bool(name):
        message = "The request must contain either the launch template's id or its name."
        raise CloudError("InvalidParameterCombination" if template_id else "MissingParameter", message)
    backend = response.ec2_backend
    return backend.get_launch_template(template_id) if template_id else backend.get_launch_template_by_name(name)


def _create_version(template: Any, data: dict[str, Any], description: str) -> LaunchTemplateVersion:
    # The number of a deleted version is not used again.
    template._landbridge_last = getattr(template, "_landbridge_last", len(template.versions)) + 1
    version = LaunchTemplateVersion(template, template._landbridge_last, data, description)
    template.versions.append(version)
    return version


def _version(template: Any, number: Any) -> Any:
    word = str(number).lower()
    if word == "$latest":
        return template.versions[-1]
    wanted = str(template.default_version_number) if word == "$default" else word
    version = next((version for version in template.versions if str(version.number) == wanted), None)
    if version is None:
        raise InvalidLaunchTemplateVersionNotFound(template_id=template.id, version=number)
    return version
