"""Direct Connect gateways, associations and transit virtual interfaces (moto has only the connections).

Source: Direct Connect API Reference and User Guide, "Transit gateway associations" and "Prerequisites for virtual
interfaces".
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

#: A Direct Connect gateway is global; moto's backend of this region stores all of them.
_GLOBAL_REGION = "us-east-1"
_create_connection = DirectConnectBackend.create_connection


def install(emulator: EmulatorState) -> None:
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
        setattr(DirectConnectResponse, action.__name__, _method(emulator, action))
    DirectConnectBackend.create_connection = _connect


def connection_id(name: str) -> str:
    """Return the id of the connection with this name."""
    return f"dxcon-f{hashlib.sha256(name.encode()).hexdigest()[:7]}"


Resources = dict[str, dict[str, Any]]
Action = Callable[[Any, dict[str, Any]], Any]


def _method(emulator: EmulatorState, action: Action) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            with emulator.lock:
                return json.dumps(action(response, json.loads(response.body or "{}")))
        except CloudError as error:
            body = json.dumps({"__type": error.code, "message": error.message})
            return error.status, {"Content-Type": "application/x-amz-json-1.1", "status": error.status}, body

    return method


def _connect(backend: Any, *arguments: Any, **keywords: Any) -> Any:
    """Create a connection; its id is derived from its name, so that tests know it in advance."""
    connection = _create_connection(backend, *arguments, **keywords)
    del backend.connections[connection.connection_id]
    connection.connection_id = connection_id(connection.connection_name)
    backend.connections[connection.connection_id] = connection
    return connection


def _stored(response: Any, kind: str) -> Resources:
    backend = directconnect_backends[response.current_account][_GLOBAL_REGION]
    resources: Resources = backend.__dict__.setdefault(f"landbridge_{kind}", {})
    return resources


def _client_error(message: str) -> CloudError:
    return CloudError("DirectConnectClientException", message)


def _resource(response: Any, kind: str, id_: str | None) -> dict[str, Any]:
    resource = _stored(response, kind).get(str(id_))
    if resource is None:
        raise _client_error(f"{kind} {id_} does not exist.")
    return resource


def create_direct_connect_gateway(response: Any, request: dict[str, Any]) -> Any:
    """Answer CreateDirectConnectGateway: a global resource, available at once."""
    id_ = str(uuid.uuid4())
    _stored(response, "gateway")[id_] = {
        "directConnectGatewayId": id_,
        "directConnectGatewayName": request["directConnectGatewayName"],
        "amazonSideAsn": request.get("amazonSideAsn", 64512),
        "ownerAccount": response.current_account,
        "directConnectGatewayState": "available",
        "tags": request.get("tags", []),
    }
    return {"directConnectGateway": _stored(response, "gateway")[id_]}


def describe_direct_connect_gateways(response: Any, request: dict[str, Any]) -> Any:
    """Answer DescribeDirectConnectGateways; for an unknown id the answer is empty."""
    direct_connect_gateway_id = request.get("directConnectGatewayId")
    gateways = _stored(response, "gateway").items()
    return {"directConnectGateways": [gateway for id_, gateway in gateways if direct_connect_gateway_id in (None, id_)]}


def delete_direct_connect_gateway(response: Any, request: dict[str, Any]) -> Any:
    """Answer DeleteDirectConnectGateway; refused while it has an association or virtual interface."""
    gateway = _resource(response, "gateway", request["directConnectGatewayId"])
    id_ = gateway["directConnectGatewayId"]
    for kind in ("association", "interface"):
        user = next(
            (resource for resource in _stored(response, kind).values() if resource["directConnectGatewayId"] == id_),
            None,
        )
        if user is not None:
            raise _client_error(f"Direct Connect gateway {id_} still has an {kind}.")
    return {"directConnectGateway": {**_stored(response, "gateway").pop(id_), "directConnectGatewayState": "deleting"}}


def create_direct_connect_gateway_association(response: Any, request: dict[str, Any]) -> Any:
    """Answer CreateDirectConnectGatewayAssociation: also create the attachment.

    The ASNs must differ; prefixes are required.
    """
    gateway = _resource(response, "gateway", request["directConnectGatewayId"])
    ec2 = ec2_backends[response.current_account][response.region]
    transit_gateway = ec2.transit_gateways.get(request["gatewayId"])
    if transit_gateway is None:
        raise _client_error(f"Gateway {request['gatewayId']} does not exist.")
    if int(transit_gateway.options.get("AmazonSideAsn", 64512)) == int(gateway["amazonSideAsn"]):
        raise _client_error("The ASN of the transit gateway and of the Direct Connect gateway must be different.")
    if not request.get("addAllowedPrefixesToDirectConnectGateway"):
        raise _client_error("Allowed prefixes are required for an association to a transit gateway.")
    if any(
        association["associatedGateway"]["id"] == transit_gateway.id
        for association in _stored(response, "association").values()
    ):
        raise _client_error(f"{transit_gateway.id} is associated to a Direct Connect gateway already.")
    attachment = TransitGatewayAttachment(
        ec2, gateway["directConnectGatewayId"], "direct-connect-gateway", transit_gateway
    )
    ec2.transit_gateway_attachments[attachment.id] = attachment
    id_ = str(uuid.uuid4())
    _stored(response, "association")[id_] = {
        "associationId": id_,
        "associationState": "associated",
        "directConnectGatewayId": gateway["directConnectGatewayId"],
        "directConnectGatewayOwnerAccount": response.current_account,
        "associatedGateway": {
            "id": transit_gateway.id,
            "type": "transitGateway",
            "ownerAccount": response.current_account,
            "region": response.region,
        },
        "allowedPrefixesToDirectConnectGateway": request["addAllowedPrefixesToDirectConnectGateway"],
    }
    return {"directConnectGatewayAssociation": _stored(response, "association")[id_]}


def describe_direct_connect_gateway_associations(response: Any, request: dict[str, Any]) -> Any:
    """Answer DescribeDirectConnectGatewayAssociations, filtered by any of the three ids."""
    associations = [
        association
        for association in _stored(response, "association").values()
        if request.get("associationId") in (None, association["associationId"])
        and request.get("directConnectGatewayId") in (None, association["directConnectGatewayId"])
        and request.get("associatedGatewayId") in (None, association["associatedGateway"]["id"])
    ]
    return {"directConnectGatewayAssociations": associations}


def update_direct_connect_gateway_association(response: Any, request: dict[str, Any]) -> Any:
    """Answer UpdateDirectConnectGatewayAssociation: add and remove allowed prefixes."""
    association = _resource(response, "association", request["associationId"])
    removed = request.get("removeAllowedPrefixesToDirectConnectGateway", [])
    retained = [prefix for prefix in association["allowedPrefixesToDirectConnectGateway"] if prefix not in removed]
    association["allowedPrefixesToDirectConnectGateway"] = retained + request.get(
        "addAllowedPrefixesToDirectConnectGateway", []
    )
    return {"directConnectGatewayAssociation": association}


def delete_direct_connect_gateway_association(response: Any, request: dict[str, Any]) -> Any:
    """Answer DeleteDirectConnectGatewayAssociation: also delete the attachment."""
    association = _resource(response, "association", request["associationId"])
    del _stored(response, "association")[association["associationId"]]
    ec2 = ec2_backends[response.current_account][association["associatedGateway"]["region"]]
    for attachment_id, attachment in list(ec2.transit_gateway_attachments.items()):
        if (attachment.resource_id, attachment.transit_gateway_id) == (
            association["directConnectGatewayId"],
            association["associatedGateway"]["id"],
        ):
            forget(ec2, attachment_id)
            del ec2.transit_gateway_attachments[attachment_id]
    return {"directConnectGatewayAssociation": {**association, "associationState": "disassociating"}}


def create_transit_virtual_interface(response: Any, request: dict[str, Any]) -> Any:
    """Answer CreateTransitVirtualInterface: requires a connection, a free VLAN and peer addresses in one network."""
    parameters, connection = request["newTransitVirtualInterface"], request["connectionId"]
    backend = response.directconnect_backend
    if connection not in backend.connections and connection not in backend.lags:
        raise _client_error(f"Connection {connection} does not exist.")
    gateway = _resource(response, "gateway", parameters.get("directConnectGatewayId"))
    interfaces = _stored(response, "interface")
    if any(
        (interface["connectionId"], interface["vlan"]) == (connection, parameters["vlan"])
        for interface in interfaces.values()
    ):
        raise _client_error(f"VLAN {parameters['vlan']} is in use on {connection}.")
    peer_addresses = [parameters.get("amazonAddress"), parameters.get("customerAddress")]
    if peer_addresses.count(None) == 1:
        raise _client_error("Give both peers' addresses, or neither.")
    if (
        None not in peer_addresses
        and ip_interface(peer_addresses[0]).network != ip_interface(peer_addresses[1]).network
    ):
        raise _client_error(f"{peer_addresses[0]} and {peer_addresses[1]} are in two networks.")
    id_ = f"dxvif-f{secrets.token_hex(4)[:7]}"
    interfaces[id_] = {
        **{key: value for key, value in parameters.items() if key != "enableSiteLink"},
        "authKey": parameters.get("authKey") or secrets.token_urlsafe(16),
        "asn": parameters.get("asn", parameters.get("asnLong")),
        "virtualInterfaceId": id_,
        "virtualInterfaceType": "transit",
        "virtualInterfaceState": "available",
        "connectionId": connection,
        "ownerAccount": response.current_account,
        "region": response.region,
        "amazonSideAsn": gateway["amazonSideAsn"],
        "jumboFrameCapable": True,
        "awsDeviceV2": "EqDC2-emulated",
        "mtu": parameters.get("mtu", 1500),
    }
    return {"virtualInterface": interfaces[id_]}


def describe_virtual_interfaces(response: Any, request: dict[str, Any]) -> Any:
    """Answer DescribeVirtualInterfaces: all interfaces, the interfaces of a connection, or a single one."""
    interfaces = [
        interface
        for interface in _stored(response, "interface").values()
        if request.get("virtualInterfaceId") in (None, interface["virtualInterfaceId"])
        and request.get("connectionId") in (None, interface["connectionId"])
    ]
    return {"virtualInterfaces": interfaces}


def update_virtual_interface_attributes(response: Any, request: dict[str, Any]) -> Any:
    """Answer UpdateVirtualInterfaceAttributes: name and MTU."""
    interface = _resource(response, "interface", request["virtualInterfaceId"])
    interface |= {key: request[key] for key in ("mtu", "virtualInterfaceName") if key in request}
    return interface


def delete_virtual_interface(response: Any, request: dict[str, Any]) -> Any:
    """Answer DeleteVirtualInterface: deleted at once."""
    interface = _resource(response, "interface", request["virtualInterfaceId"])
    del _stored(response, "interface")[interface["virtualInterfaceId"]]
    return {"virtualInterfaceState": "deleting"}
