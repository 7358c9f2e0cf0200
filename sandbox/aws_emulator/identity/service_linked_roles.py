"""Service-linked roles: EC2 creates the role of spot at the first spot launch if the caller may create it, else it
refuses the launch.

Source: EC2 User Guide, "Service-linked role for Spot Instance requests"; the message is that of
kubernetes/kops#16475.
"""

from fnmatch import fnmatchcase
from typing import Any

import moto.backends
from moto.iam.models import SERVICE_NAME_CONVERSION

from landbridge.catalog.aws.access.service_linked_roles import ServiceLinkedRole, service_linked_roles
from landbridge.ops.iam import Policies, Request, evaluate
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

ACTION = "iam:CreateServiceLinkedRole"
_PREFIX = "AWSServiceRoleFor"

# moto knows the names of three such roles only.
SERVICE_NAME_CONVERSION.update(
    (row.service.split(".")[-3], row.role.removeprefix(_PREFIX)) for row in service_linked_roles().values()
)


def require_for_spot(emulator: EmulatorState, response: Any, market: str | None, *, dry_run: bool = False) -> None:
    """Ensure that spot's role exists before a spot launch; a dry run only checks whether the caller may create it.

    Raises CloudError if the role is missing and the caller may not create it.
    """
    spot = service_linked_roles()["spot"]
    if market != "spot" or principals.role(response.region, spot.role) is not None:
        return
    if not _may_create(emulator, response, spot):
        message = (
            "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."
        )
        raise CloudError("AuthFailure.ServiceLinkedRoleCreationNotPermitted", message, 403)
    if dry_run:
        return
    iam = moto.backends.get_backend("iam")[ACCOUNT][response.partition]
    iam.create_service_linked_role(spot.service, "", "")


def _may_create(emulator: EmulatorState, response: Any, row: ServiceLinkedRole) -> bool:
    """Return whether the caller may create the role: an operator, unless a test denies it, or a role's session."""
    if any(fnmatchcase(ACTION.lower(), pattern.lower()) for pattern in emulator.denied):
        return False
    role = principals.session_role(response.region, response.access_key)
    if role is None:
        return True
    request = Request(
        role.arn,
        ACTION,
        f"arn:{response.partition}:iam::{ACCOUNT}:role/{row.path}",
        {"iam:AWSServiceName": row.service},
    )
    return evaluate(request, Policies(principals.documents(role))).allowed
