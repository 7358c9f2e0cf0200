"""DescribeInstances with pages of instances (moto pages by reservation) and more filters; CreateTags only on existing resources.

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
from sandbox.aws_emulator.network.dependencies import error
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.moto_hooks import before

#: Entries of one page: default and maximum.
PAGE = 1000
LEAST = 5
_INSTANCE = re.compile(r"i-([0-9a-f]{8}|[0-9a-f]{17})")
#: Filters that moto lacks, by the compared value.
_MORE: Mapping[str, Callable[[Any], str]] = {
    "client-token": lambda one: one.client_token or "",
    "instance-lifecycle": lambda one: one.lifecycle or "",
}


def instances(world: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """DescribeInstances."""
    ids, size = list(request.get("InstanceIds") or []), request.get("MaxResults")
    if ids and size:
        message = "The parameter instancesSet cannot be used with the parameter maxResults"
        raise CloudError("InvalidParameterCombination", message)
    if size and not LEAST <= int(size) <= PAGE:
        message = f"Value ( {size} ) for parameter maxResults is invalid. Expecting a value between {LEAST} and {PAGE}."
        raise CloudError("InvalidParameterValue", message)
    filters = response._filters_from_querystring()
    more = {name: filters.pop(name) for name in list(filters) if name in _MORE}
    backend = response.ec2_backend
    if ids:
        found = backend.get_reservations_by_instance_ids(ids, filters=filters)
    else:
        found = backend.describe_instances(filters=filters)
    pairs = [(group, instance) for group in found for instance in group.instances if _fits(instance, more)]
    start, size = int(request.get("NextToken") or 0), int(size or PAGE)
    groups: dict[str, tuple[Any, list[Any]]] = {}
    for group, one in pairs[start : start + size]:
        groups.setdefault(group.id, (group, []))[1].append(one)
    answer: dict[str, Any] = {"Reservations": [_with(group, chosen) for group, chosen in groups.values()]}
    return answer | ({"NextToken": str(start + size)} if start + size < len(pairs) else {})


def install(world: EmulatorState) -> None:
    """Judge CreateTags and DeleteTags before moto does them. Global to the process, as moto's own state is."""
    before(EC2Backend, "do_resources_exist", _known)
    TaggedEC2Resource.get_tags = _own_tags  # type: ignore[method-assign,assignment]


def _own_tags(resource: Any) -> list[dict[str, str]]:
    """Return a resource's tags by its id; moto searches all tags of the account for each instance."""
    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(resource.id), "") if resource.id else ""
    tags = resource.ec2_backend.tags.get(resource.id) or {}
    return [
        {"resource_id": resource.id, "key": key, "value": value, "resource_type": kind} for key, value in tags.items()
    ]


def _known(backend: Any, asked: dict[str, Any]) -> None:
    """Tag no resource when one of the named instances is unknown."""
    ids = asked["resource_ids"]
    unknown = [one for one in ids if _INSTANCE.fullmatch(one) and backend.get_instance_by_id(one) is None]
    if unknown:
        verb = "ID '{}' does" if len(unknown) == 1 else "IDs '{}' do"
        message = f"The instance {verb.format(', '.join(unknown))} not exist"
        raise error("InvalidInstanceID.NotFound", message)


def _fits(one: Any, wanted: Mapping[str, Any]) -> bool:
    return all(_MORE[name](one) in values for name, values in wanted.items())


def _with(group: Any, chosen: list[Any]) -> Any:
    shown = copy.copy(group)
    shown.instances = chosen
    return shown
