"""Transit gateway route tables: several propagations per attachment, and EC2's checks (moto: one, no checks).

Source: EC2 API Reference, AssociateTransitGatewayRouteTable, EnableTransitGatewayRouteTablePropagation,
DeleteTransitGatewayRouteTable; error codes of EC2.
"""

from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.transit_gateway_route_tables import TransitGatewayRelations

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error

_ORIGINAL: dict[str, Any] = {}


def install(emulator: EmulatorState) -> None:
    """Replace moto's actions. Global to the process, as moto's state is."""
    for name, action in {
        "associate_transit_gateway_route_table": _associate,
        "disassociate_transit_gateway_route_table": _disassociate,
        "enable_transit_gateway_route_table_propagation": _propagate,
        "disable_transit_gateway_route_table_propagation": _stop,
        "delete_transit_gateway_route_table": _delete_table,
        "create_transit_gateway_vpc_attachment": _attach,
        "delete_transit_gateway_vpc_attachment": _detach,
        "delete_vpn_connection": _delete_vpn,
        "delete_transit_gateway": _delete_gateway,
        "modify_transit_gateway": _modify,
    }.items():
        _ORIGINAL.setdefault(name, getattr(EC2Backend, name))
        setattr(EC2Backend, name, action)


def table_of(backend: Any, id_: str) -> Any:
    """Return a transit gateway route table; raise if it does not exist."""
    table = backend.transit_gateways_route_tables.get(id_)
    if table is None or table.state == "deleted":
        raise error("InvalidRouteTableID.NotFound", f"Transit Gateway Route Table {id_} was deleted or does not exist.")
    return table


def attachment_of(backend: Any, id_: str, table: Any) -> Any:
    """Return an attachment that a route table can use; a peering attachment must be accepted first."""
    attachment = backend.transit_gateway_attachments.get(id_)
    if attachment is None or attachment.state == "deleted":
        message = f"Transit Gateway Attachment {id_} was deleted or does not exist."
        raise error("InvalidTransitGatewayAttachmentID.NotFound", message)
    gateway_ids: tuple[str, ...] = (attachment.transit_gateway_id,)
    if attachment.resource_type == "peering":
        gateway_ids = (
            attachment.requester_tgw_info["TransitGatewayId"],
            attachment.accepter_tgw_info["TransitGatewayId"],
        )
        if attachment.state != "available":
            raise error("IncorrectState", f"{id_} is in invalid state {attachment.state}.")
    if table.transit_gateway_id not in gateway_ids:
        raise error("InvalidParameterValue", f"{id_} and {table.id} are of two transit gateways.")
    return attachment


def _associate(backend: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str) -> Any:
    table = table_of(backend, transit_gateway_route_table_id)
    attachment_of(backend, transit_gateway_attachment_id, table)
    for other in backend.transit_gateways_route_tables.values():
        if transit_gateway_attachment_id in other.route_table_associations and other.state != "deleted":
            message = f"{transit_gateway_attachment_id} is already associated to a route table: {other.id}."
            raise error("Resource.AlreadyAssociated", message)
    return _ORIGINAL["associate_transit_gateway_route_table"](
        backend, transit_gateway_attachment_id, transit_gateway_route_table_id
    )


def _disassociate(backend: Any, tgw_attach_id: str, tgw_rt_id: str) -> Any:
    if tgw_attach_id not in table_of(backend, tgw_rt_id).route_table_associations:
        raise error("InvalidAssociation.NotFound", f"{tgw_attach_id} is not associated to {tgw_rt_id}.")
    return _ORIGINAL["disassociate_transit_gateway_route_table"](backend, tgw_attach_id, tgw_rt_id)


def _propagates(table: Any, attachment: str) -> bool:
    return any(propagation.transitGatewayAttachmentId == attachment for propagation in table.route_table_propagation)


def _propagate(backend: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str) -> Any:
    table = table_of(backend, transit_gateway_route_table_id)
    if attachment_of(backend, transit_gateway_attachment_id, table).resource_type == "peering":
        raise error("InvalidParameterValue", f"{transit_gateway_attachment_id} is a peering: its routes are static.")
    if _propagates(table, transit_gateway_attachment_id):
        message = f"{transit_gateway_attachment_id} propagates to {table.id} already."
        raise error("TransitGatewayRouteTablePropagation.Duplicate", message)
    return _ORIGINAL["enable_transit_gateway_route_table_propagation"](
        backend, transit_gateway_attachment_id, transit_gateway_route_table_id
    )


def _stop(backend: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str) -> Any:
    table = table_of(backend, transit_gateway_route_table_id)
    if not _propagates(table, transit_gateway_attachment_id):
        message = f"{transit_gateway_attachment_id} does not propagate to {table.id}."
        raise error("TransitGatewayRouteTablePropagation.NotFound", message)
    relation = TransitGatewayRelations(
        backend, transit_gateway_attachment_id, transit_gateway_route_table_id, state="disabled"
    )
    backend.disable_route_table_propagation(transit_gateway_attachment_id, transit_gateway_route_table_id)
    return relation


def _delete_table(backend: Any, transit_gateway_route_table_id: str) -> Any:
    table = table_of(backend, transit_gateway_route_table_id)
    if table.route_table_associations:
        attached = ", ".join(sorted(table.route_table_associations))
        raise error("IncorrectState", f"{table.id} has associations: {attached}.")
    return _ORIGINAL["delete_transit_gateway_route_table"](backend, transit_gateway_route_table_id)


def _attach(backend: Any, *arguments: Any, **keywords: Any) -> Any:
    attachment = _ORIGINAL["create_transit_gateway_vpc_attachment"](backend, *arguments, **keywords)
    gateway = backend.transit_gateways[attachment.transit_gateway_id]
    if gateway.options.get("DefaultRouteTableAssociation") == "disable":
        forget(backend, attachment.id)
    return attachment


def _detach(backend: Any, transit_gateway_attachment_id: str) -> Any:
    forget(backend, transit_gateway_attachment_id)
    return _ORIGINAL["delete_transit_gateway_vpc_attachment"](backend, transit_gateway_attachment_id)


def _delete_vpn(backend: Any, vpn_connection_id: str) -> Any:
    for attachment in list(backend.transit_gateway_attachments.values()):
        if attachment.resource_id == vpn_connection_id:
            forget(backend, attachment.id)
    return _ORIGINAL["delete_vpn_connection"](backend, vpn_connection_id)


def _modify(backend: Any, transit_gateway_id: str, description: Any = None, options: Any = None) -> Any:
    """Answer ModifyTransitGateway: CIDR blocks are added and removed, other options are set."""
    settings = dict(options or {})
    added, removed = (settings.pop(f"{word}TransitGatewayCidrBlocks", None) or [] for word in ("Add", "Remove"))
    gateway = _ORIGINAL["modify_transit_gateway"](backend, transit_gateway_id, description, settings)
    remaining = [cidr for cidr in gateway.options.get("TransitGatewayCidrBlocks") or [] if cidr not in removed]
    gateway.options["TransitGatewayCidrBlocks"] = remaining + list(added)
    return gateway


def _delete_gateway(backend: Any, transit_gateway_id: str) -> Any:
    deleted = _ORIGINAL["delete_transit_gateway"](backend, transit_gateway_id)
    for table in backend.transit_gateways_route_tables.values():
        if table.transit_gateway_id == transit_gateway_id:
            table.state = "deleted"
    return deleted


def forget(backend: Any, attachment: str) -> None:
    """Remove a deleted attachment's associations and routes; a static route to it becomes a blackhole."""
    for table in backend.transit_gateways_route_tables.values():
        table.route_table_associations.pop(attachment, None)
        table.route_table_propagation = [
            propagation
            for propagation in table.route_table_propagation
            if propagation.transitGatewayAttachmentId != attachment
        ]
        for route in table.routes.values():
            if any(
                route_attachment["transitGatewayAttachmentId"] == attachment
                for route_attachment in route.get("transitGatewayAttachments", ())
            ):
                route["state"] = "blackhole"
    backend.transit_gateway_associations.pop(attachment, None)
