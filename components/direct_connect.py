"""Direct Connect: transit virtual interface and gateway."""

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.network.direct_connect import DirectConnectArgs


class DirectConnect(Component):
    """Transit virtual interface on an existing Direct Connect connection, and its Direct Connect gateway.

    Costs about 0.05 USD an hour for the gateway's attachment and 0.02 a GB towards on-prem; the connection's port is billed
    with or without the interface. Protects nothing by itself: MACsec belongs to the connection. On a connection without MACsec,
    announce only the prefixes of a VPN inside it. Opens `allowed_prefixes` to every host behind the connection.
    """

    attachment_id: pulumi.Output[str]
    bgp_auth_key: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: DirectConnectArgs,
        *,
        transit_gateway_id: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"connection": args.connection}, opts)
        self._args = args
        child_options, tags = pulumi.ResourceOptions(parent=self), named(args.tags, f"{args.cluster}-line")
        self._gateway = aws.directconnect.Gateway(
            name, name=f"{args.cluster}-line", amazon_side_asn=str(args.asn), tags=tags, opts=child_options
        )
        self._interface = aws.directconnect.TransitVirtualInterface(
            name,
            name=f"{args.cluster}-line",
            connection_id=args.connection,
            dx_gateway_id=self._gateway.id,
            vlan=args.vlan,
            mtu=args.mtu,
            address_family="ipv4",
            customer_address=args.customer_address,
            amazon_address=args.aws_address,
            bgp_asn_long=str(args.onprem_asn),
            tags=tags,
            # AWS makes a BGP key if the request has none.
            opts=pulumi.ResourceOptions(parent=self, additional_secret_outputs=["bgpAuthKey"]),
        )
        association = aws.directconnect.GatewayAssociation(
            name,
            dx_gateway_id=self._gateway.id,
            associated_gateway_id=transit_gateway_id,
            allowed_prefixes=list(args.allowed_prefixes),
            opts=child_options,
        )
        self.attachment_id = association.transit_gateway_attachment_id
        self.bgp_auth_key = pulumi.Output.secret(self._interface.bgp_auth_key)
        self.register_outputs({"gatewayId": self._gateway.id, "interfaceId": self._interface.id})

    def exports(self) -> dict[str, pulumi.Input[str | int]]:
        """Return the values of the site router's configuration, without its BGP key."""
        return {
            "gateway_id": self._gateway.id,
            "interface_id": self._interface.id,
            "vlan": self._args.vlan,
            "mtu": self._args.mtu,
            "customer_address": self._args.customer_address,
            "aws_address": self._args.aws_address,
            "aws_asn": self._args.asn,
        }
