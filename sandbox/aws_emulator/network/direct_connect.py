"""Direct Connect gateways, associations and transit virtual interfaces (moto has only the connections).

Source: Direct Connect API Reference and User Guide, "Transit gateway associations" and "Prerequisites for virtual interfaces".
"""

import hashlib
import json
import secrets
import uuid
from collections.abc import Callable
from ipaddress import ip_interface
from typing import Any

from moto.directconnect.models import DirectConnectBackend, directconnect_backends
from moto.directconnect.responses import DirectConnectResponse
from moto.ec2 import ec2_backends
from moto.ec2.models.transit_gateway_attachments import TransitGatewayAttachment

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.transit_gateway_route_tables import forget
from sandbox.aws_emulator.server.errors import CloudError

#: A gateway is in no region; this one's part of moto keeps them all.
_HOME = "us-east-1"
_create_connection = DirectConnectBackend.create_connection


def install(world: EmulatorState) -> None:
    """Install the operations in moto; a reset of the emulated AWS deletes their state."""
    for action in (
        create_direct_connect_gateway,
        describe_direct_connect_gateways,
        delete_direct_connect_gateway,
        create_direct_connect_gateway_association,
        describe_direct_connect_gateway_associations,
        update_direct_connect_gateway_association,
        delete_direct_connect_gateway_association,
        create_transit_virtual_interface,
        describe_virtual_interfaces,
        update_virtual_interface_attributes,
        delete_virtual_interface,
    ):
        setattr(DirectConnectResponse, action.__name__, _method(world, action))
    DirectConnectBackend.create_connection = _connect  # type: ignore[method-assign,assignment]


def connection_id(name: str) -> str:
    """The id of the connection that is ordered under this name."""
    return f"dxcon-f{hashlib.sha256(name.encode()).hexdigest()[:7]}"


Things = dict[str, dict[str, Any]]
Action = Callable[[Any, dict[str, Any]], Any]


def _method(world: EmulatorState, action: Action) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            with world.lock:
                return json.dumps(action(response, json.loads(response.body or "{}")))
        except CloudError as error:
            body = json.dumps({"__type": error.code, "message": error.message})
            return error.status, {"Content-Type": "application/x-amz-json-1.1", "status": error.status}, body

    return method


def _connect(backend: Any, *arguments: Any, **named: Any) -> Any:
    """Create a connection; its id is derived from its name, so that tests know it in advance."""
    connection = _create_connection(backend, *arguments, **named)
    del backend.connections[connection.connection_id]
    connection.connection_id = connection_id(connection.connection_name)
    backend.connections[connection.connection_id] = connection
    return connection


def _kept(response: Any, kind: str) -> Things:
    own = directconnect_backends[response.current_account][_HOME]
    found: Things = own.__dict__.setdefault(f"landbridge_{kind}", {})
    return found


def _refuse(message: str) -> CloudError:
    return CloudError("DirectConnectClientException", message)


def _one(response: Any, kind: str, id_: str | None) -> dict[str, Any]:
    found = _kept(response, kind).get(str(id_))
    if found is None:
        raise _refuse(f"{kind} {id_} does not exist.")
    return found


def create_direct_connect_gateway(response: Any, request: dict[str, Any]) -> Any:
    """CreateDirectConnectGateway: global, and available at once."""
    own = str(uuid.uuid4())
    _kept(response, "gateway")[own] = {
        "directConnectGatewayId": own,
        "directConnectGatewayName": request["directConnectGatewayName"],
        "amazonSideAsn": request.get("amazonSideAsn", 64512),
        "ownerAccount": response.current_account,
        "directConnectGatewayState": "available",
        "tags": request.get("tags", []),
    }
    return {"directConnectGateway": _kept(response, "gateway")[own]}


def describe_direct_connect_gateways(response: Any, request: dict[str, Any]) -> Any:
    """DescribeDirectConnectGateways: an unknown id is no error, the answer is empty."""
    direct_connect_gateway_id = request.get("directConnectGatewayId")
    every = _kept(response, "gateway").items()
    return {"directConnectGateways": [one for key, one in every if direct_connect_gateway_id in (None, key)]}


def delete_direct_connect_gateway(response: Any, request: dict[str, Any]) -> Any:
    """Only once nothing is attached to it."""
    own = _one(response, "gateway", request["directConnectGatewayId"])
    id_ = own["directConnectGatewayId"]
    for kind in ("association", "interface"):
        used = next((one for one in _kept(response, kind).values() if one["directConnectGatewayId"] == id_), None)
        if used is not None:
            raise _refuse(f"Direct Connect gateway {id_} still has an {kind}.")
    return {"directConnectGateway": {**_kept(response, "gateway").pop(id_), "directConnectGatewayState": "deleting"}}


def create_direct_connect_gateway_association(response: Any, request: dict[str, Any]) -> Any:
    """Makes the transit gateway's attachment along with it. The two AS numbers differ, and prefixes must be given."""
    own = _one(response, "gateway", request["directConnectGatewayId"])
    ec2 = ec2_backends[response.current_account][response.region]
    hub = ec2.transit_gateways.get(request["gatewayId"])
    if hub is None:
        raise _refuse(f"Gateway {request['gatewayId']} does not exist.")
    if int(hub.options.get("AmazonSideAsn", 64512)) == int(own["amazonSideAsn"]):
        raise _refuse("The ASN of the transit gateway and of the Direct Connect gateway must be different.")
    if not request.get("addAllowedPrefixesToDirectConnectGateway"):
        raise _refuse("Allowed prefixes are required for an association to a transit gateway.")
    if any(one["associatedGateway"]["id"] == hub.id for one in _kept(response, "association").values()):
        raise _refuse(f"{hub.id} is associated to a Direct Connect gateway already.")
    attachment = TransitGatewayAttachment(ec2, own["directConnectGatewayId"], "direct-connect-gateway", hub)
    ec2.transit_gateway_attachments[attachment.id] = attachment
    id_ = str(uuid.uuid4())
    _kept(response, "association")[id_] = {
        "associationId": id_,
        "associationState": "associated",
        "directConnectGatewayId": own["directConnectGatewayId"],
        "directConnectGatewayOwnerAccount": response.current_account,
        "associatedGateway": {
            "id": hub.id,
            "type": "transitGateway",
            "ownerAccount": response.current_account,
            "region": response.region,
        },
        "allowedPrefixesToDirectConnectGateway": request["addAllowedPrefixesToDirectConnectGateway"],
    }
    return {"directConnectGatewayAssociation": _kept(response, "association")[id_]}


def describe_direct_connect_gateway_associations(response: Any, request: dict[str, Any]) -> Any:
    """By any of its three ids."""
    associations = [
        one
        for one in _kept(response, "association").values()
        if request.get("associationId") in (None, one["associationId"])
        and request.get("directConnectGatewayId") in (None, one["directConnectGatewayId"])
        and request.get("associatedGatewayId") in (None, one["associatedGateway"]["id"])
    ]
    return {"directConnectGatewayAssociations": associations}


def update_direct_connect_gateway_association(response: Any, request: dict[str, Any]) -> Any:
    """More and fewer allowed prefixes."""
    own = _one(response, "association", request["associationId"])
    gone = request.get("removeAllowedPrefixesToDirectConnectGateway", [])
    kept = [one for one in own["allowedPrefixesToDirectConnectGateway"] if one not in gone]
    own["allowedPrefixesToDirectConnectGateway"] = kept + request.get("addAllowedPrefixesToDirectConnectGateway", [])
    return {"directConnectGatewayAssociation": own}


def delete_direct_connect_gateway_association(response: Any, request: dict[str, Any]) -> Any:
    """The attachment goes with it."""
    own = _one(response, "association", request["associationId"])
    del _kept(response, "association")[own["associationId"]]
    ec2 = ec2_backends[response.current_account][own["associatedGateway"]["region"]]
    for key, one in list(ec2.transit_gateway_attachments.items()):
        if (one.resource_id, one.transit_gateway_id) == (own["directConnectGatewayId"], own["associatedGateway"]["id"]):
            forget(ec2, key)
            del ec2.transit_gateway_attachments[key]
    return {"directConnectGatewayAssociation": {**own, "associationState": "disassociating"}}


def create_transit_virtual_interface(response: Any, request: dict[str, Any]) -> Any:
    """CreateTransitVirtualInterface: requires an existing connection, a free VLAN, and two peer addresses of one network."""
    asked, connection = request["newTransitVirtualInterface"], request["connectionId"]
    backend = response.directconnect_backend
    if connection not in backend.connections and connection not in backend.lags:
        raise _refuse(f"Connection {connection} does not exist.")
    gateway = _one(response, "gateway", asked.get("directConnectGatewayId"))
    every = _kept(response, "interface")
    if any((one["connectionId"], one["vlan"]) == (connection, asked["vlan"]) for one in every.values()):
        raise _refuse(f"VLAN {asked['vlan']} is in use on {connection}.")
    ends = [asked.get("amazonAddress"), asked.get("customerAddress")]
    if ends.count(None) == 1:
        raise _refuse("Give both peers' addresses, or neither.")
    if None not in ends and ip_interface(ends[0]).network != ip_interface(ends[1]).network:
        raise _refuse(f"{ends[0]} and {ends[1]} are in two networks.")
    id_ = f"dxvif-f{secrets.token_hex(4)[:7]}"
    every[id_] = {
        **{key: value for key, value in asked.items() if key != "enableSiteLink"},
        "authKey": asked.get("authKey") or secrets.token_urlsafe(16),
        "asn": asked.get("asn", asked.get("asnLong")),
        "virtualInterfaceId": id_,
        "virtualInterfaceType": "transit",
        "virtualInterfaceState": "available",
        "connectionId": connection,
        "ownerAccount": response.current_account,
        "region": response.region,
        "amazonSideAsn": gateway["amazonSideAsn"],
        "jumboFrameCapable": True,
        "awsDeviceV2": "EqDC2-emulated",
        "mtu": asked.get("mtu", 1500),
    }
    return {"virtualInterface": every[id_]}


def describe_virtual_interfaces(response: Any, request: dict[str, Any]) -> Any:
    """All, a connection's, or one."""
    interfaces = [
        one
        for one in _kept(response, "interface").values()
        if request.get("virtualInterfaceId") in (None, one["virtualInterfaceId"])
        and request.get("connectionId") in (None, one["connectionId"])
    ]
    return {"virtualInterfaces": interfaces}


def update_virtual_interface_attributes(response: Any, request: dict[str, Any]) -> Any:
    """Its name and its MTU."""
    own = _one(response, "interface", request["virtualInterfaceId"])
    own |= {key: request[key] for key in ("mtu", "virtualInterfaceName") if key in request}
    return own


def delete_virtual_interface(response: Any, request: dict[str, Any]) -> Any:
    """At once."""
    own = _one(response, "interface", request["virtualInterfaceId"])
    del _kept(response, "interface")[own["virtualInterfaceId"]]
    return {"virtualInterfaceState": "deleting"}
