"""Leased lines and route tables between sites: what is left of them, in the order in which AWS lets go of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from landbridge.live.aws import AwsClient

Item = Mapping[str, Any]
_CLUSTER = "landbridge:cluster"


def _own(items: Iterable[Item], cluster: str, state: str) -> list[Item]:
    """Direct Connect writes its tags with small letters; here they become as everybody else's."""
    found = list[Item]()
    for item in items:
        tags = [{"Key": tag["key"], "Value": tag.get("value", "")} for tag in item.get("tags") or ()]
        if {"Key": _CLUSTER, "Value": cluster} in tags and item.get(state) not in ("deleting", "deleted"):
            found.append({**item, "Tags": tags})
    return found


def interfaces(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Virtual interfaces of leased lines."""
    items = aws.ask("directconnect", "describe_virtual_interfaces")["virtualInterfaces"]
    return _own(items, cluster, "virtualInterfaceState")


def gateways(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Direct Connect gateways; what attaches one to a transit gateway is billed."""
    items = aws.all("directconnect", "describe_direct_connect_gateways", "directConnectGateways")
    return _own(items, cluster, "directConnectGatewayState")


def tables(aws: AwsClient, cluster: str) -> Iterable[Item]:
    """Route tables of transit gateways. They go once no attachment uses them."""
    own = {"Key": _CLUSTER, "Value": cluster}
    items = aws.all("ec2", "describe_transit_gateway_route_tables", "TransitGatewayRouteTables")
    return [item for item in items if own in (item.get("Tags") or ()) and item.get("State") in ("pending", "available")]


def delete_interface(aws: AwsClient, item: Item) -> None:
    """At once."""
    aws.ask("directconnect", "delete_virtual_interface", virtualInterfaceId=item["virtualInterfaceId"])


def delete_gateway(aws: AwsClient, item: Item) -> None:
    """Its associations bear no tags and go first; each takes its transit gateway's attachment along."""
    id_ = item["directConnectGatewayId"]
    associated = aws.all(
        "directconnect",
        "describe_direct_connect_gateway_associations",
        "directConnectGatewayAssociations",
        directConnectGatewayId=id_,
    )
    for one in associated:
        if one["associationState"] == "associated":
            aws.ask("directconnect", "delete_direct_connect_gateway_association", associationId=one["associationId"])
    aws.ask("directconnect", "delete_direct_connect_gateway", directConnectGatewayId=id_)


def delete_table(aws: AwsClient, item: Item) -> None:
    """Once no attachment uses it."""
    aws.ask("ec2", "delete_transit_gateway_route_table", TransitGatewayRouteTableId=item["TransitGatewayRouteTableId"])
