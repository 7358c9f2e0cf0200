"""Direct Connect: gateways, their associations and virtual interfaces."""

from collections.abc import Iterable

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import ENDED_STATES, cluster_tag, delete_by, listed, value_at


def _with_tag(items: Iterable[Item], cluster: str, state_key: str) -> list[Item]:
    # Direct Connect returns the keys of a tag in lower case.
    existing = list[Item]()
    for item in items:
        tags = [{"Key": tag["key"], "Value": tag.get("value", "")} for tag in item.get("tags") or ()]
        if cluster_tag(cluster) in tags and item.get(state_key) not in ENDED_STATES:
            existing.append({**item, "Tags": tags})
    return existing


def _interfaces(aws: AwsClient, cluster: str) -> Iterable[Item]:
    items = aws.ask("directconnect", "describe_virtual_interfaces")["virtualInterfaces"]
    return _with_tag(items, cluster, "virtualInterfaceState")


def _gateways(aws: AwsClient, cluster: str) -> Iterable[Item]:
    items = aws.all("directconnect", "describe_direct_connect_gateways", "directConnectGateways")
    return _with_tag(items, cluster, "directConnectGatewayState")


def _associations(aws: AwsClient, gateway_id: str) -> Iterable[Item]:
    operation, key = "describe_direct_connect_gateway_associations", "directConnectGatewayAssociations"
    return aws.all("directconnect", operation, key, directConnectGatewayId=gateway_id)


def _delete_gateway(aws: AwsClient, item: Item) -> None:
    # Its associations have no tags; the deletion of an association deletes the transit gateway's attachment.
    gateway_id = item["directConnectGatewayId"]
    for association in _associations(aws, gateway_id):
        if association["associationState"] == "associated":
            association_id = association["associationId"]
            aws.ask("directconnect", "delete_direct_connect_gateway_association", associationId=association_id)
    aws.ask("directconnect", "delete_direct_connect_gateway", directConnectGatewayId=gateway_id)


def _recover_association(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the association of both gateways. The provider's id joins theirs."""
    gateway, transit = inputs["dxGatewayId"], inputs["associatedGatewayId"]
    associated = [each for each in _associations(aws, gateway) if value_at(each, "associatedGateway.id") == transit]
    return [f"ga-{gateway}{transit}"] if associated else []


RESOURCE_TYPES = (
    # The association with a transit gateway is billed.
    ResourceType(
        "Direct Connect gateway", "aws:directconnect/gateway:Gateway", billed=True,
        recover=listed("directconnect", "describe_direct_connect_gateways", "directConnectGateways",
                       "directConnectGatewayId",
                       {"name": "directConnectGatewayName", "amazonSideAsn": "amazonSideAsn"}),
        sweep=Sweep(80, _gateways, "directConnectGatewayId", _delete_gateway)),
    ResourceType(
        "Direct Connect gateway association", "aws:directconnect/gatewayAssociation:GatewayAssociation",
        recover=_recover_association),
    ResourceType(
        "virtual interface", "aws:directconnect/transitVirtualInterface:TransitVirtualInterface", billed=True,
        recover=listed("directconnect", "describe_virtual_interfaces", "virtualInterfaces", "virtualInterfaceId",
                       {"name": "virtualInterfaceName", "vlan": "vlan"},
                       parameters_from={"connectionId": "connectionId"}, pages=False),
        sweep=Sweep(70, _interfaces, "virtualInterfaceId",
                    delete_by("directconnect", "delete_virtual_interface", "virtualInterfaceId",
                              "virtualInterfaceId"))),
)  # fmt: skip
