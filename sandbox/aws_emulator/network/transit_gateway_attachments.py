"""Transit gateway attachments: a VPN attachment is not listed as a VPC attachment, and tags are set at creation."""

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models.transit_gateway_attachments import TransitGatewayAttachmentBackend
from moto.ec2.responses import EC2Response

from sandbox.aws_emulator.emulator_state import EmulatorState

_moto = TransitGatewayAttachmentBackend.describe_transit_gateway_vpc_attachments


def install(emulator: EmulatorState) -> None:
    """Install: DescribeTransitGatewayVpcAttachments returns only VPC attachments, as EC2 does; a creation sets tags."""

    def of_vpcs(backend: Any, *arguments: Any, **keywords: Any) -> list[Any]:
        return [row for row in _moto(backend, *arguments, **keywords) if row.resource_type == "vpc"]

    TransitGatewayAttachmentBackend.describe_transit_gateway_vpc_attachments = of_vpcs
    EC2Response.create_transit_gateway_vpc_attachment = _create


def _create(response: Any) -> Any:
    """Create a VPC attachment with its tags; moto reads the tags of another resource type."""
    attachment = response.ec2_backend.create_transit_gateway_vpc_attachment(
        transit_gateway_id=response._get_param("TransitGatewayId"),
        tags=response._parse_tag_specification().get("transit-gateway-attachment", {}),
        vpc_id=response._get_param("VpcId"),
        subnet_ids=response._get_param("SubnetIds", []),
        options=response._get_param("Options", {}),
    )
    return ActionResult({"TransitGatewayVpcAttachment": attachment})
