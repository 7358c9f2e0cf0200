"""Transit gateway peering attachments and static routes: EC2's checks, and visibility in both regions.

moto has neither. Source: EC2 API Reference, CreateTransitGatewayPeeringAttachment,
AcceptTransitGatewayPeeringAttachment, CreateTransitGatewayRoute and DeleteTransitGatewayPeeringAttachment; Transit
Gateways guide, "Transit gateway peering attachments": static routes only.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2 import ec2_backends
from moto.ec2.models import EC2Backend
from moto.ec2.responses import EC2Response

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.network.transit_gateway_route_tables import attachment_of, forget, table_of

_ORIGINAL: dict[str, Any] = {}
_FILTERS = (
    "local-owner-id",
    "remote-owner-id",
    "state",
    "tag-key",
    "transit-gateway-attachment-id",
    "transit-gateway-id",
)


def install(emulator: EmulatorState) -> None:
    """Replace moto's actions. Global to the process, as moto's state is."""
    for name, action in {
        "create_transit_gateway_peering_attachment": _peer,
        "accept_transit_gateway_peering_attachment": _accept,
        "delete_transit_gateway_peering_attachment": _unpeer,
        "describe_transit_gateway_peering_attachments": _peerings,
        "create_transit_gateway_route": _route,
        "delete_transit_gateway_route": _unroute,
    }.items():
        _ORIGINAL.setdefault(name, getattr(EC2Backend, name))
        setattr(EC2Backend, name, action)
    EC2Response.create_transit_gateway_peering_attachment = _create


def is_peering(attachment: Any) -> bool:
    """Return whether an attachment is a peering attachment."""
    return bool(attachment.resource_type == "peering")


def ends(attachment: Any) -> tuple[str, str]:
    """Return the ids of both transit gateways of a peering, requester first."""
    return attachment.requester_tgw_info["TransitGatewayId"], attachment.accepter_tgw_info["TransitGatewayId"]


def peerings_of(backend: Any, gateway: str) -> Iterator[Any]:
    """Yield the peering attachments of a transit gateway, as requester or accepter."""
    for attachment in backend.transit_gateway_attachments.values():
        if is_peering(attachment) and gateway in ends(attachment) and attachment.state != "deleted":
            yield attachment


def _create(response: Any) -> Any:
    """Create a peering attachment with its tags; moto reads the tags of another resource type."""
    attachment = response.ec2_backend.create_transit_gateway_peering_attachment(
        response._get_param("TransitGatewayId"),
        response._get_param("PeerTransitGatewayId"),
        response._get_param("PeerRegion"),
        response._get_param("PeerAccountId"),
        response._parse_tag_specification().get("transit-gateway-attachment", {}),
    )
    return ActionResult({"TransitGatewayPeeringAttachment": attachment})


def _peer(
    backend: Any,
    transit_gateway_id: str,
    peer_transit_gateway_id: str,
    peer_region: str,
    peer_account_id: str,
    tags: dict[str, str],
) -> Any:
    account = peer_account_id or backend.account_id
    peer_backend = ec2_backends[account][peer_region]
    for gateways, gateway_id in (
        (backend.transit_gateways, transit_gateway_id),
        (peer_backend.transit_gateways, peer_transit_gateway_id),
    ):
        if gateway_id not in gateways or gateways[gateway_id].state == "deleted":
            raise error(
                "InvalidTransitGatewayID.NotFound", f"Transit Gateway {gateway_id} was deleted or does not exist."
            )
    if transit_gateway_id == peer_transit_gateway_id:
        raise error("InvalidParameterValue", "A transit gateway cannot be peered with itself.")
    for attachment in peerings_of(backend, transit_gateway_id):
        if peer_transit_gateway_id in ends(attachment):
            raise error("DuplicateTransitGatewayAttachment", f"{transit_gateway_id} has it already: {attachment.id}.")
    requester = _ORIGINAL["create_transit_gateway_peering_attachment"](
        backend, transit_gateway_id, peer_transit_gateway_id, peer_region, account, tags
    )
    # One id, and one attachment in each region, with its own transit gateway and its own tags.
    accepter = copy(requester)
    accepter.ec2_backend, accepter.resource_id, accepter.transit_gateway_id = (
        peer_backend,
        transit_gateway_id,
        peer_transit_gateway_id,
    )
    accepter.transit_gateway_route_table = peer_backend.transit_gateways[peer_transit_gateway_id].default_route_table
    peer_backend.transit_gateway_attachments[requester.id] = accepter
    return requester


def _accept(backend: Any, transit_gateway_attachment_id: str) -> Any:
    attachment = _peering(backend, transit_gateway_attachment_id)
    if attachment.state != "pendingAcceptance" or backend.region_name != attachment.accepter_tgw_info["Region"]:
        region = attachment.accepter_tgw_info["Region"]
        raise error("IncorrectState", f"{attachment.id} is {attachment.state}, and is accepted in {region}.")
    accepted = _ORIGINAL["accept_transit_gateway_peering_attachment"](backend, transit_gateway_attachment_id)
    requester = ec2_backends[backend.account_id][attachment.requester_tgw_info["Region"]].transit_gateway_attachments[
        attachment.id
    ]
    requester.state = accepted.state
    return accepted


def _unpeer(backend: Any, transit_gateway_attachment_id: str) -> Any:
    """Delete a peering attachment in both regions."""
    attachment = _peering(backend, transit_gateway_attachment_id)
    deleted = _ORIGINAL["delete_transit_gateway_peering_attachment"](backend, transit_gateway_attachment_id)
    for region in {attachment.requester_tgw_info["Region"], attachment.accepter_tgw_info["Region"]}:
        region_backend = ec2_backends[backend.account_id][region]
        forget(region_backend, attachment.id)
        region_backend.transit_gateway_attachments.pop(attachment.id, None)
    return deleted


def _peerings(
    backend: Any,
    transit_gateways_attachment_ids: list[str] | None = None,
    filters: Mapping[str, list[str]] | None = None,
) -> list[Any]:
    """Answer DescribeTransitGatewayPeeringAttachments: only peerings, with the filter transit-gateway-id."""
    remaining_filters = dict(filters or {})
    for name in remaining_filters:
        if name not in _FILTERS and not name.startswith("tag:"):
            raise error("InvalidParameterValue", f"The filter '{name}' is invalid")
    gateways = remaining_filters.pop("transit-gateway-id", None)
    attachments = _ORIGINAL["describe_transit_gateway_peering_attachments"](
        backend, transit_gateways_attachment_ids, remaining_filters
    )
    return [
        attachment
        for attachment in attachments
        if is_peering(attachment) and (gateways is None or set(ends(attachment)) & set(gateways))
    ]


def _route(
    backend: Any,
    transit_gateway_route_table_id: str,
    destination_cidr_block: str,
    transit_gateway_attachment_id: str | None = None,
    blackhole: bool = False,
) -> Any:
    table = table_of(backend, transit_gateway_route_table_id)
    if destination_cidr_block in table.routes:
        raise error("RouteAlreadyExists", f"{destination_cidr_block} is in {table.id} already.")
    if bool(transit_gateway_attachment_id) == blackhole:
        raise error("InvalidParameterCombination", "Give an attachment, or make it a blackhole.")
    if transit_gateway_attachment_id:
        attachment_of(backend, transit_gateway_attachment_id, table)
    route = _ORIGINAL["create_transit_gateway_route"](
        backend, transit_gateway_route_table_id, destination_cidr_block, transit_gateway_attachment_id, blackhole
    )
    # moto stores the attachment as an object; its answers expect a list, and omit an object.
    if "transitGatewayAttachments" in route:
        route["transitGatewayAttachments"] = [route["transitGatewayAttachments"]]
    return route


def _unroute(backend: Any, transit_gateway_route_table_id: str, destination_cidr_block: str) -> Any:
    table = table_of(backend, transit_gateway_route_table_id)
    if destination_cidr_block not in table.routes:
        raise error("InvalidRoute.NotFound", f"{destination_cidr_block} is not in {table.id}.")
    return _ORIGINAL["delete_transit_gateway_route"](backend, transit_gateway_route_table_id, destination_cidr_block)


def _peering(backend: Any, id_: str) -> Any:
    attachment = backend.transit_gateway_attachments.get(id_)
    if attachment is None or not is_peering(attachment):
        message = f"Transit Gateway Attachment {id_} was deleted or does not exist."
        raise error("InvalidTransitGatewayAttachmentID.NotFound", message)
    return attachment
