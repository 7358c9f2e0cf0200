"""Systems Manager's hybrid activations, which moto lacks.

Source: Systems Manager API Reference, CreateActivation (a day where no end is given, 30 days at most), DescribeActivations,
DeleteActivation; the service's own words for a role that it cannot take (hashicorp/terraform-provider-aws, issue 27952).
"""

import uuid
from datetime import timedelta
from typing import Any

from botocore.utils import parse_to_aware_datetime

from landbridge.catalog.aws.iam import iam
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
_FILTERS = {"ActivationIds": "ActivationId", "DefaultInstanceName": "DefaultInstanceName", "IamRole": "IamRole"}
_PAGE = 50


def create(world: EmulatorState, region: str, request: Bag) -> Bag:
    """CreateActivation. Only this answer contains the activation code."""
    role = principals.role(region, request["IamRole"])
    if role is None or not principals.trusts(role, "ssm.amazonaws.com"):
        arn = f"arn:aws:iam::{ACCOUNT}:role/{request['IamRole']}"
        message = f"Nonexistent role or missing ssm service principal in trust policy: {arn}"
        raise CloudError("ValidationException", message)
    now, asked = world.now(), request.get("ExpirationDate")
    ends = now + timedelta(days=1) if asked is None else parse_to_aware_datetime(asked)
    if not now < ends <= now + timedelta(days=iam().limits.ssm_activation_days):
        raise CloudError("ValidationException", "Invalid expiration date: it has to be within 30 days from now.")
    own = str(uuid.uuid4())
    world.activations[own] = {
        "ActivationId": own,
        "region": region,
        "IamRole": request["IamRole"],
        "Description": request.get("Description", ""),
        "DefaultInstanceName": request.get("DefaultInstanceName", ""),
        "RegistrationLimit": request.get("RegistrationLimit", 1),
        "RegistrationsCount": 0,
        "CreatedDate": now.timestamp(),
        "ExpirationDate": ends.timestamp(),
        "Tags": request.get("Tags", []),
    }
    return {"ActivationId": own, "ActivationCode": uuid.uuid4().hex[:20]}


def describe(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DescribeActivations, by page."""
    wanted = {_FILTERS[one["FilterKey"]]: one["FilterValues"] for one in request.get("Filters", [])}
    found = [
        {**{key: value for key, value in activation.items() if key != "region"}, "Expired": _over(world, activation)}
        for activation in world.activations.values()
        if activation["region"] == region and all(activation[key] in values for key, values in wanted.items())
    ]
    start, size = int(request.get("NextToken", 0)), request.get("MaxResults", _PAGE)
    more = {"NextToken": str(start + size)} if len(found) > start + size else {}
    return {"ActivationList": found[start : start + size], **more}


def delete(world: EmulatorState, region: str, request: Bag) -> Bag:
    """DeleteActivation. Machines that registered with it stay."""
    if world.activations.get(request["ActivationId"], {}).get("region") != region:
        raise CloudError("InvalidActivation", "The activation is not valid.")
    del world.activations[request["ActivationId"]]
    return {}


def _over(world: EmulatorState, one: Bag) -> bool:
    return bool(one["ExpirationDate"] <= world.now().timestamp())
