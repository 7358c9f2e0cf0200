"""DescribeInstanceTopology: the network nodes of running instances, from the top layer to the one of the instance.

Source: EC2 API Reference, DescribeInstanceTopology and InstanceTopology; EC2 User Guide, "Prerequisites for Amazon EC2
topology" (2026-11-25).
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError

MOST_IDS, MOST_RESULTS, PAGE = 100, 100, 20
_THREE_LAYERS = (
    r"g6e\..+|g7e\..+|hpc6a\..+|hpc6id\..+|hpc7[ag]\..+|hpc8a\..+|p3dn\.24xlarge|p4de?\.24xlarge|p5(e|en)?\.48xlarge"
    r"|p6e-gb200\.36xlarge|trn1\.(2|32)xlarge|trn1n\.32xlarge|trn2u?\.48xlarge"
)
_FOUR_LAYERS = r"p6-b[23]00\.48xlarge"
_ULTRASERVER = re.compile(r"p6e-gb200\..+")
#: Number of network nodes in the lowest layer; each layer above has half of them.
_LEAVES = 4


def describe(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeInstanceTopology."""
    ids, groups = list(request.get("InstanceIds") or []), list(request.get("GroupNames") or [])
    if ids and request.get("MaxResults"):
        raise CloudError("InvalidParameterCombination", "The parameters InstanceIds and MaxResults exclude each other.")
    for name, values in (("InstanceId", ids), ("GroupName", groups)):
        if len(values) > MOST_IDS:
            message = f"{name}: {len(values)} values; at most {MOST_IDS} are permitted."
            raise CloudError("InvalidParameterValue", message)
    size = int(request.get("MaxResults") or (MOST_IDS if ids else PAGE))
    if not 1 <= size <= MOST_RESULTS:
        raise CloudError("InvalidParameterValue", f"MaxResults {size} is not between 1 and {MOST_RESULTS}.")
    if request.get("Filters"):
        raise CloudError("NotImplementedInSandbox", "The emulated AWS has no filters of DescribeInstanceTopology.")
    instances = _instances(response.ec2_backend, ids)
    if groups:
        instances = [instance for instance in instances if _group(instance) in groups]
    start = int(request.get("NextToken") or 0)
    rows = [_row(emulator, instance) for instance in instances[start : start + size]]
    return {"Instances": rows} | ({"NextToken": str(start + size)} if start + size < len(instances) else {})


def _instances(backend: Any, ids: list[str]) -> list[Any]:
    unknown = [id_ for id_ in ids if backend.get_instance_by_id(id_) is None]
    if unknown:
        verb = "ID '{}' does" if len(unknown) == 1 else "IDs '{}' do"
        message = f"The instance {verb.format(', '.join(unknown))} not exist"
        raise CloudError("InvalidInstanceID.NotFound", message)
    return [backend.get_instance_by_id(id_) for id_ in ids] if ids else list(backend.all_instances())


def _group(instance: Any) -> str:
    return str(getattr(instance.placement, "group_name", None) or "")


def _row(emulator: EmulatorState, instance: Any) -> dict[str, Any]:
    row = {"InstanceId": instance.id, "InstanceType": instance.instance_type, "NetworkNodes": _network_nodes(instance)}
    zone = instance.placement.zone if hasattr(instance.placement, "zone") else ""
    row |= {"AvailabilityZone": str(zone), "GroupName": _group(instance)}
    block = emulator.reserved.get(instance.id)
    if _ULTRASERVER.fullmatch(instance.instance_type) and block:
        row["CapacityBlockId"] = f"cb-{_hex(str(block))}"
    return {key: value for key, value in row.items() if value}


def _network_nodes(instance: Any) -> list[str]:
    """Return the network nodes; empty for another type, and in each state other than running."""
    if instance.state != "running":
        return []
    if re.fullmatch(_FOUR_LAYERS, instance.instance_type):
        layers = 4
    elif re.fullmatch(_THREE_LAYERS, instance.instance_type):
        layers = 3
    else:
        return []
    leaf = int(hashlib.sha256(instance.id.encode()).hexdigest(), 16) % _LEAVES
    zone = instance.subnet_id
    return [f"nn-{_hex(f'{zone}/{layer}/{leaf >> (layers - 1 - layer)}')}" for layer in range(layers)]


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:17]
