"""DescribeInstances with pages of instances (moto: of reservations) and more filters; CreateTags of existing resources.

Source: EC2 API Reference, DescribeInstances (MaxResults, filters) and CreateTags.
"""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.moto_hooks import before

#: Entries of one page: default and maximum.
PAGE = 1000
LEAST = 5
_INSTANCE = re.compile(r"i-([0-9a-f]{8}|[0-9a-f]{17})")
#: Filters that moto does not have, with the value that is compared.
_OWN_FILTERS: Mapping[str, Callable[[Any], str]] = {
    "client-token": lambda instance: instance.client_token or "",
    "instance-lifecycle": lambda instance: instance.lifecycle or "",
}


def instances(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeInstances."""
    ids, size = list(request.get("InstanceIds") or []), request.get("MaxResults")
    if ids and size:
        message = "The parameter instancesSet cannot be used with the parameter maxResults"
        raise CloudError("InvalidParameterCombination", message)
    if size and not LEAST <= int(size) <= PAGE:
        message = f"Value ( {size} ) for parameter maxResults is invalid. Expecting a value between {LEAST} and {PAGE}."
        raise CloudError("InvalidParameterValue", message)
    filters = response._filters_from_querystring()
    own_filters = {name: filters.pop(name) for name in list(filters) if name in _OWN_FILTERS}
    backend = response.ec2_backend
    if ids:
        reservations = backend.get_reservations_by_instance_ids(ids, filters=filters)
    else:
        reservations = backend.describe_instances(filters=filters)
    pairs = [
        (reservation, instance)
        for reservation in reservations
        for instance in reservation.instances
        if _matches(instance, own_filters)
    ]
    start, size = int(request.get("NextToken") or 0), int(size or PAGE)
    shown: dict[str, tuple[Any, list[Any]]] = {}
    for reservation, instance in pairs[start : start + size]:
        shown.setdefault(reservation.id, (reservation, []))[1].append(instance)
    answer: dict[str, Any] = {"Reservations": [_with(reservation, chosen) for reservation, chosen in shown.values()]}
    return answer | ({"NextToken": str(start + size)} if start + size < len(pairs) else {})


def install(emulator: EmulatorState) -> None:
    """Install checks of CreateTags and DeleteTags in moto. Global to the process, as moto's state is."""
    before(EC2Backend, "do_resources_exist", _require_known)
    TaggedEC2Resource.get_tags = _own_tags


def _own_tags(resource: Any) -> list[dict[str, str]]:
    """Return a resource's tags by its id; moto searches all tags of the account for each instance."""
    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(resource.id), "") if resource.id else ""
    tags = resource.ec2_backend.tags.get(resource.id) or {}
    return [
        {"resource_id": resource.id, "key": key, "value": value, "resource_type": kind} for key, value in tags.items()
    ]


def _require_known(backend: Any, arguments: dict[str, Any]) -> None:
    """Raise if one of the instances is unknown, so that no resource is tagged."""
    ids = arguments["resource_ids"]
    unknown = [id_ for id_ in ids if _INSTANCE.fullmatch(id_) and backend.get_instance_by_id(id_) is None]
    if unknown:
        verb = "ID '{}' does" if len(unknown) == 1 else "IDs '{}' do"
        message = f"The instance {verb.format(', '.join(unknown))} not exist"
        raise error("InvalidInstanceID.NotFound", message)


def _matches(instance: Any, filters: Mapping[str, Any]) -> bool:
    return all(_OWN_FILTERS[name](instance) in values for name, values in filters.items())


def _with(reservation: Any, chosen: list[Any]) -> Any:
    copied = copy.copy(reservation)
    copied.instances = chosen
    return copied
