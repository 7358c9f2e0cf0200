"""Authorization of launches and terminations by the session of a role: IAM has to allow each resource of the request,
and that the role of the instance profile is passed to EC2.

Requests with an operator's keys are those of an administrator.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from landbridge.ops.iam import Policies, Request, evaluate
from landbridge.ops.iam.run_instances import Ec2Account, LaunchTemplateVersion, launch_resources, terminate_resources
from landbridge.ops.iam.whole_request import PresentedResource, evaluate_whole
from sandbox.aws_emulator.ec2.launches import launch
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.server.errors import CloudError


def authorize_launch(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> None:
    """Raise UnauthorizedOperation if the caller may not make this RunInstances request."""
    role = principals.session_role(response.region, response.access_key)
    if role is None:
        return
    template = launch.template_version(response.ec2_backend, request)
    version = None
    if template is not None:
        data = dict(template.data)
        if "ImageId" in data:
            data["ImageId"] = launch.resolved_image(response.ec2_backend, str(data["ImageId"]))
        version = LaunchTemplateVersion(template.template.id, data)
    _authorize(role, "ec2:RunInstances", launch_resources(request, version, _account(emulator, response)))
    _authorize_passed_role(role, response, request, version)


def authorize_termination(emulator: EmulatorState, response: Any, instances: Iterable[str]) -> None:
    """Raise UnauthorizedOperation if the caller may not terminate all these instances."""
    role = principals.session_role(response.region, response.access_key)
    ids = list(instances)
    if role is not None and ids:
        _authorize(role, "ec2:TerminateInstances", terminate_resources(ids, _account(emulator, response)))


def _authorize_passed_role(
    role: Any, response: Any, request: Mapping[str, Any], template: LaunchTemplateVersion | None
) -> None:
    """Raise UnauthorizedOperation if the caller may not pass the role of the launch's instance profile.

    Source: IAM User Guide, "Grant a user permissions to pass a role to an AWS service" (2026-11-25).
    """
    data = template.data if template is not None else {}
    profile = request.get("IamInstanceProfile") or data.get("IamInstanceProfile") or {}
    for passed in principals.roles_of_profile(response.region, profile.get("Arn") or profile.get("Name") or ""):
        ask = Request(role.arn, "iam:PassRole", passed.arn, {"iam:PassedToService": "ec2.amazonaws.com"})
        decision = evaluate(ask, Policies(principals.documents(role)))
        if not decision.allowed:
            message = f"You are not authorized to perform this operation. User: {role.arn} is not authorized to perform: iam:PassRole on resource: {passed.arn}: {decision.why}"
            raise CloudError("UnauthorizedOperation", message, 403)


def _authorize(role: Any, action: str, resources: Iterable[PresentedResource]) -> None:
    decision = evaluate_whole(Request(role.arn, action, ""), resources, Policies(principals.documents(role)))
    if not decision.allowed:
        message = f"You are not authorized to perform this operation. User: {role.arn} is not authorized to perform: {action}: {decision.why}"
        raise CloudError("UnauthorizedOperation", message, 403)


def _account(emulator: EmulatorState, response: Any) -> Ec2Account:
    backend, region = response.ec2_backend, response.region

    def tags(arn: str) -> Mapping[str, str]:
        kind, _, name = arn.split(":", 5)[5].partition("/")
        if kind == "placement-group":
            group = emulator.placement_groups.get((region, name), {})
            return {tag["Key"]: tag["Value"] for tag in group.get("Tags", ())}
        return dict(backend.tags.get(name, {}))

    return Ec2Account(response.current_account, region, response.partition, tags)
