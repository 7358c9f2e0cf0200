"""Attachments of transit gateways: a VPN's is none of a VPC, and moto lists both alike."""

from typing import Any

from moto.ec2.models.transit_gateway_attachments import TransitGatewayAttachmentBackend

from sandbox.cloud.world import World

_moto = TransitGatewayAttachmentBackend.describe_transit_gateway_vpc_attachments


def install(world: World) -> None:
    """DescribeTransitGatewayVpcAttachments answers with attachments of VPCs alone, as EC2 does."""

    def of_vpcs(backend: Any, *arguments: Any, **named: Any) -> list[Any]:
        return [one for one in _moto(backend, *arguments, **named) if one.resource_type == "vpc"]

    TransitGatewayAttachmentBackend.describe_transit_gateway_vpc_attachments = of_vpcs  # type: ignore[method-assign]
