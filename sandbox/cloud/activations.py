"""Systems Manager's hybrid activations, which moto lacks."""

import json
import time
import uuid
from typing import Any

from moto.ssm.responses import SimpleSystemManagerResponse

from sandbox.cloud.world import World


def install(world: World) -> None:
    """Answer the three operations; what was activated is forgotten when the emulated AWS is emptied."""
    for name, action in {
        "create_activation": _create,
        "describe_activations": _describe,
        "delete_activation": _delete,
    }.items():
        setattr(SimpleSystemManagerResponse, name, action)


def _known(response: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = response.ssm_backend.__dict__.setdefault("activations", {})
    return found


def _create(response: Any) -> str:
    given, own = json.loads(response.body or "{}"), str(uuid.uuid4())
    _known(response)[own] = {
        "ActivationId": own,
        "IamRole": given["IamRole"],
        "Description": given.get("Description", ""),
        "DefaultInstanceName": given.get("DefaultInstanceName", ""),
        "RegistrationLimit": given.get("RegistrationLimit", 1),
        "RegistrationsCount": 0,
        "CreatedDate": time.time(),
        "Expired": False,
        "Tags": given.get("Tags", []),
    }
    return json.dumps({"ActivationId": own, "ActivationCode": uuid.uuid4().hex[:20]})


def _describe(response: Any) -> str:
    return json.dumps({"ActivationList": list(_known(response).values())})


def _delete(response: Any) -> Any:
    own = json.loads(response.body or "{}").get("ActivationId")
    if _known(response).pop(own, None) is None:
        body = {"__type": "InvalidActivation", "message": "The activation is not valid."}
        return 400, {"Content-Type": "application/x-amz-json-1.1", "status": 400}, json.dumps(body)
    return "{}"
