"""VPCs that another account owns and shares: EC2 refuses the account (a participant) what only the owner may create.

Source: VPC User Guide, "Responsibilities and permissions for owners and participants" (2026-11-29). A test sets the owner
of a VPC (`owners` of the control endpoint).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.subnets import Subnet
from moto.ec2.models.vpcs import VPC

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.server.moto_hooks import before

Arguments = Mapping[str, Any]


def _of_vpc(backend: Any, arguments: Arguments) -> Iterator[str]:
    # The function for attachments is the emulator's own, with any arguments.
    yield str(arguments.get("keywords", arguments)["vpc_id"])


def _of_table(backend: Any, arguments: Arguments) -> Iterator[str]:
    yield str(backend.get_route_table(arguments["route_table_id"]).vpc_id)


def _of_flow_logs(backend: Any, arguments: Arguments) -> Iterator[str]:
    """Yield the VPCs of flow logs, except flow logs of network interfaces, which a participant may have."""
    for id_ in arguments["resource_ids"]:
        if id_.startswith("vpc-"):
            yield id_
        elif id_.startswith("subnet-"):
            yield str(backend.get_subnet(id_).vpc_id)


#: VPCs of the arguments, by moto's function for the action.
_OWNERS_ACTIONS: Mapping[str, Callable[[Any, Arguments], Iterator[str]]] = {
    "create_subnet": _of_vpc,
    "create_route_table": _of_vpc,
    "create_vpc_endpoint": _of_vpc,
    "create_transit_gateway_vpc_attachment": _of_vpc,
    "create_route": _of_table,
    "replace_route": _of_table,
    "delete_route": _of_table,
    "create_flow_logs": _of_flow_logs,
}


def install(emulator: EmulatorState) -> None:
    """Check actions, and show the owners. Global to the process, as moto's state is."""
    for name, vpcs in _OWNERS_ACTIONS.items():
        before(EC2Backend, name, partial(_judge, emulator, vpcs))
    VPC.owner_id = property(lambda vpc: emulator.owners.get(vpc.id, ACCOUNT))
    Subnet.owner_id = property(lambda subnet: emulator.owners.get(subnet.vpc_id, ACCOUNT), lambda subnet, owner: None)


def _judge(
    emulator: EmulatorState, vpcs: Callable[[Any, Arguments], Iterator[str]], backend: Any, arguments: Arguments
) -> None:
    # Without a shared VPC moto's own errors come first.
    if emulator.owners and any(emulator.owners.get(vpc, ACCOUNT) != ACCOUNT for vpc in vpcs(backend, arguments)):
        raise error("UnauthorizedOperation", "You are not authorized to perform this operation.")
