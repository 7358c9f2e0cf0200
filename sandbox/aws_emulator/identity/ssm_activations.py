"""Systems Manager hybrid activations, which moto does not have.

Source: Systems Manager API Reference, CreateActivation (default expiration: one day; maximum: 30 days),
DescribeActivations, DeleteActivation; the error message for an unusable role: hashicorp/terraform-provider-aws, issue
27952.
"""

import uuid
from datetime import timedelta
from typing import Any

from botocore.utils import parse_to_aware_datetime

from landbridge.catalog.aws.access.iam import iam
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.server.errors import CloudError

Bag = dict[str, Any]
_FILTERS = {"ActivationIds": "ActivationId", "DefaultInstanceName": "DefaultInstanceName", "IamRole": "IamRole"}
_PAGE = 50


def create(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer CreateActivation. Only this answer contains the activation code."""
    role = principals.role(region, request["IamRole"])
    if role is None or not principals.trusts(role, "ssm.amazonaws.com"):
        arn = f"arn:aws:iam::{ACCOUNT}:role/{request['IamRole']}"
        message = f"Nonexistent role or missing ssm service principal in trust policy: {arn}"
        raise CloudError("ValidationException", message)
    now, expiration = emulator.now(), request.get("ExpirationDate")
    ends = now + timedelta(days=1) if expiration is None else parse_to_aware_datetime(expiration)
    if not now < ends <= now + timedelta(days=iam().limits.ssm_activation_days):
        raise CloudError("ValidationException", "Invalid expiration date: it has to be within 30 days from now.")
    id_ = str(uuid.uuid4())
    emulator.activations[id_] = {
        "ActivationId": id_,
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
    return {"ActivationId": id_, "ActivationCode": uuid.uuid4().hex[:20]}


def describe(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DescribeActivations, one page."""
    filters = {_FILTERS[row["FilterKey"]]: row["FilterValues"] for row in request.get("Filters", [])}
    activations = [
        {
            **{key: value for key, value in activation.items() if key != "region"},
            "Expired": _expired(emulator, activation),
        }
        for activation in emulator.activations.values()
        if activation["region"] == region and all(activation[key] in values for key, values in filters.items())
    ]
    start, size = int(request.get("NextToken", 0)), request.get("MaxResults", _PAGE)
    next_page = {"NextToken": str(start + size)} if len(activations) > start + size else {}
    return {"ActivationList": activations[start : start + size], **next_page}


def delete(emulator: EmulatorState, region: str, request: Bag) -> Bag:
    """Answer DeleteActivation. Registered hosts stay registered."""
    if emulator.activations.get(request["ActivationId"], {}).get("region") != region:
        raise CloudError("InvalidActivation", "The activation is not valid.")
    del emulator.activations[request["ActivationId"]]
    return {}


def _expired(emulator: EmulatorState, activation: Bag) -> bool:
    return bool(activation["ExpirationDate"] <= emulator.now().timestamp())
