"""Systems Manager's hybrid activations, which moto lacks.

Source: Systems Manager API Reference, CreateActivation (a day where no end is given, 30 days at most), DescribeActivations,
DeleteActivation; the service's own words for a role that it cannot take (hashicorp/terraform-provider-aws, issue 27952).
"""

import uuid
from datetime import timedelta
from typing import Any

from botocore.utils import parse_to_aware_datetime

from landbridge.catalog.aws.iam import iam
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.world import EmulatorState

Bag = dict[str, Any]
_FILTERS = {"ActivationIds": "ActivationId", "DefaultInstanceName": "DefaultInstanceName", "IamRole": "IamRole"}
_PAGE = 50


def create(world: EmulatorState, region: str, given: Bag) -> Bag:
    """CreateActivation. Only this answer contains the activation code."""
    role = principals.role(region, given["IamRole"])
    if role is None or not principals.trusts(role, "ssm.amazonaws.com"):
        arn = f"arn:aws:iam::{ACCOUNT}:role/{given['IamRole']}"
        message = f"Nonexistent role or missing ssm service principal in trust policy: {arn}"
        raise CloudError("ValidationException", message)
    now, asked = world.now(), given.get("ExpirationDate")
    ends = now + timedelta(days=1) if asked is None else parse_to_aware_datetime(asked)
    if not now < ends <= now + timedelta(days=iam().limits.ssm_activation_days):
        raise CloudError("ValidationException", "Invalid expiration date: it has to be within 30 days from now.")
    own = str(uuid.uuid4())
    world.activations[own] = {
        "ActivationId": own,
        "region": region,
        "IamRole": given["IamRole"],
        "Description": given.get("Description", ""),
        "DefaultInstanceName": given.get("DefaultInstanceName", ""),
        "RegistrationLimit": given.get("RegistrationLimit", 1),
        "RegistrationsCount": 0,
        "CreatedDate": now.timestamp(),
        "ExpirationDate": ends.timestamp(),
        "Tags": given.get("Tags", []),
    }
    return {"ActivationId": own, "ActivationCode": uuid.uuid4().hex[:20]}


def describe(world: EmulatorState, region: str, given: Bag) -> Bag:
    """DescribeActivations, by page."""
    wanted = {_FILTERS[one["FilterKey"]]: one["FilterValues"] for one in given.get("Filters", [])}
    found = [
        {**{key: value for key, value in one.items() if key != "region"}, "Expired": _over(world, one)}
        for one in world.activations.values()
        if one["region"] == region and all(one[key] in values for key, values in wanted.items())
    ]
    start, size = int(given.get("NextToken", 0)), given.get("MaxResults", _PAGE)
    more = {"NextToken": str(start + size)} if len(found) > start + size else {}
    return {"ActivationList": found[start : start + size], **more}


def delete(world: EmulatorState, region: str, given: Bag) -> Bag:
    """DeleteActivation. Machines that registered with it stay."""
    if world.activations.get(given["ActivationId"], {}).get("region") != region:
        raise CloudError("InvalidActivation", "The activation is not valid.")
    del world.activations[given["ActivationId"]]
    return {}


def _over(world: EmulatorState, one: Bag) -> bool:
    return bool(one["ExpirationDate"] <= world.now().timestamp())
