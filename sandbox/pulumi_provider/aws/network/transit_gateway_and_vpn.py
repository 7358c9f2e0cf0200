"""Transit gateways, VPC attachments, customer gateways and VPN connections."""

import time
from ipaddress import IPv4Network
from typing import Any

from sandbox.pulumi_provider.aws.base import Bag, CloudFormationType, ProviderError, first_or_none
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource
from sandbox.pulumi_provider.aws.facts import facts

_LARGEST_ASN = 2_147_483_647


#: Options that can be changed later: Pulumi's name and EC2's.
_OPTIONS = {
    "defaultRouteTableAssociation": "DefaultRouteTableAssociation",
    "defaultRouteTablePropagation": "DefaultRouteTablePropagation",
    "dnsSupport": "DnsSupport",
    "vpnEcmpSupport": "VpnEcmpSupport",
}


class TransitGatewayResource(Ec2Resource):
    token = "aws:ec2transitgateway/transitGateway:TransitGateway"
    cloudformation = CloudFormationType("AWS::EC2::TransitGateway")
    replaces = frozenset({"amazonSideAsn", "multicastSupport"})
    resource_type = "transit-gateway"
    describe = ("describe_transit_gateways", "TransitGateways", "TransitGatewayIds")
    remove = ("delete_transit_gateway", "TransitGatewayId")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        transit_gateway = self.ec2.create_transit_gateway(
            Description=news.get("description", ""),
            Options={
                "AmazonSideAsn": news.get("amazonSideAsn", 64512),
                "VpnEcmpSupport": news.get("vpnEcmpSupport", "enable"),
                "DnsSupport": news.get("dnsSupport", "enable"),
                "DefaultRouteTableAssociation": news.get("defaultRouteTableAssociation", "enable"),
                "DefaultRouteTablePropagation": news.get("defaultRouteTablePropagation", "enable"),
                "TransitGatewayCidrBlocks": news.get("transitGatewayCidrBlocks") or [],
            },
            **self.tagging(news),
        )["TransitGateway"]
        return transit_gateway["TransitGatewayId"], self.computed(transit_gateway["TransitGatewayId"], transit_gateway)

    def computed(self, id_: str, item: Any) -> Bag:
        options = item.get("Options", {})
        return {
            **super().computed(id_, item),
            "associationDefaultRouteTableId": options.get("AssociationDefaultRouteTableId"),
            "propagationDefaultRouteTableId": options.get("PropagationDefaultRouteTableId"),
        }

    def observed(self, item: Any) -> Bag:
        options = item.get("Options", {})
        return {key: options[option] for key, option in _OPTIONS.items() if option in options}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        settings: Bag = {_OPTIONS[key]: news.get(key) or "enable" for key in changed if key in _OPTIONS}
        if "transitGatewayCidrBlocks" in changed:
            before, after = (set(bag.get("transitGatewayCidrBlocks") or ()) for bag in (state, news))
            settings["AddTransitGatewayCidrBlocks"] = sorted(after - before)
            settings["RemoveTransitGatewayCidrBlocks"] = sorted(before - after)
        if settings:
            self.ec2.modify_transit_gateway(TransitGatewayId=id_, Options=settings)
        super().update(id_, state, news, changed - {*_OPTIONS, "transitGatewayCidrBlocks"})
        return self.computed(id_, self.describes(id_) or {})


class TransitGatewayVpcAttachmentResource(Ec2Resource):
    token = "aws:ec2transitgateway/vpcAttachment:VpcAttachment"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayVpcAttachment")
    replaces = frozenset({"transitGatewayId", "vpcId"})
    resource_type = "transit-gateway-attachment"
    describe = (
        "describe_transit_gateway_vpc_attachments",
        "TransitGatewayVpcAttachments",
        "TransitGatewayAttachmentIds",
    )
    remove = ("delete_transit_gateway_vpc_attachment", "TransitGatewayAttachmentId")
    owner = "vpcOwnerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        attachment = self.ec2.create_transit_gateway_vpc_attachment(
            TransitGatewayId=news["transitGatewayId"],
            VpcId=news["vpcId"],
            SubnetIds=news["subnetIds"],
            **self.tagging(news),
        )["TransitGatewayVpcAttachment"]
        return attachment["TransitGatewayAttachmentId"], self.computed(
            attachment["TransitGatewayAttachmentId"], attachment
        )

    def observed(self, item: Any) -> Bag:
        return {"subnetIds": item["SubnetIds"], "vpcId": item["VpcId"], "transitGatewayId": item["TransitGatewayId"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        before, after = set(state["subnetIds"]), set(news["subnetIds"])
        if before != after:
            self.ec2.modify_transit_gateway_vpc_attachment(
                TransitGatewayAttachmentId=id_,
                AddSubnetIds=sorted(after - before),
                RemoveSubnetIds=sorted(before - after),
            )
        return super().update(id_, state, news, changed - {"subnetIds"})


class CustomerGatewayResource(Ec2Resource):
    token = "aws:ec2/customerGateway:CustomerGateway"
    cloudformation = CloudFormationType("AWS::EC2::CustomerGateway")
    replaces = frozenset({"bgpAsn", "bgpAsnExtended", "ipAddress", "type", "deviceName", "certificateArn"})
    resource_type = "customer-gateway"
    describe = ("describe_customer_gateways", "CustomerGateways", "CustomerGatewayIds")
    remove = ("delete_customer_gateway", "CustomerGatewayId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        # Two parameters for two ranges of ASNs; the emulated EC2 has only the first.
        asn, extended = int(news.get("bgpAsn") or 0), int(news.get("bgpAsnExtended") or 0)
        if bool(asn) == bool(extended) or asn > _LARGEST_ASN or 0 < extended <= _LARGEST_ASN:
            raise ProviderError(f"bgpAsn is up to {_LARGEST_ASN}, bgpAsnExtended above it, and one of the two is given")
        certificate = {"CertificateArn": news["certificateArn"]} if news.get("certificateArn") else {}
        customer_gateway = self.ec2.create_customer_gateway(
            Type=news["type"], IpAddress=news["ipAddress"], BgpAsn=asn or extended, **certificate, **self.tagging(news)
        )["CustomerGateway"]
        return customer_gateway["CustomerGatewayId"], {"arn": self.arn_of(customer_gateway["CustomerGatewayId"])}

    def observed(self, item: Any) -> Bag:
        asn = "bgpAsn" if int(item["BgpAsn"]) <= _LARGEST_ASN else "bgpAsnExtended"
        return {"ipAddress": item["IpAddress"], asn: str(item["BgpAsn"]), "type": item["Type"]}


class VpnConnectionResource(Ec2Resource):
    """Site-to-Site VPN connection."""

    token = "aws:ec2/vpnConnection:VpnConnection"
    cloudformation = CloudFormationType("AWS::EC2::VPNConnection")
    replaces = frozenset(
        {
            "type",
            "customerGatewayId",
            "enableAcceleration",
            "outsideIpAddressType",
            "staticRoutesOnly",
            "transportTransitGatewayAttachmentId",
            "tunnelBandwidth",
        }
    )
    resource_type = "vpn-connection"
    describe = ("describe_vpn_connections", "VpnConnections", "VpnConnectionIds")
    remove = ("delete_vpn_connection", "VpnConnectionId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        transit_gateway = self._transit_gateway(news)
        options: dict[str, Any] = {"StaticRoutesOnly": news.get("staticRoutesOnly", False)}
        if news.get("outsideIpAddressType") == "PrivateIpv4":
            self._check_private(news, transit_gateway)
            options["OutsideIpAddressType"] = "PrivateIpv4"
        options["TunnelOptions"] = [_chosen(news, number) for number in (1, 2)]
        vpn_connection = self.ec2.create_vpn_connection(
            Type=news["type"],
            CustomerGatewayId=news["customerGatewayId"],
            TransitGatewayId=news["transitGatewayId"],
            Options=options,
            **self.tagging(news),
        )["VpnConnection"]
        return vpn_connection["VpnConnectionId"], self._outputs(
            vpn_connection["VpnConnectionId"], vpn_connection, transit_gateway
        )

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.describes(id_)
        if item is None:
            return None
        # Import by id: the other outputs are computed too.
        computed = {} if "tunnel1Address" in state else self._outputs(id_, item, self._transit_gateway(state))
        return {**(super().read(id_, state) or {}), **computed}

    def _transit_gateway(self, bag: Bag) -> Any:
        return self.ec2.describe_transit_gateways(TransitGatewayIds=[bag["transitGatewayId"]])["TransitGateways"][0]

    def _outputs(self, id_: str, item: Any, transit_gateway: Any) -> Bag:
        asn = str(transit_gateway.get("Options", {}).get("AmazonSideAsn", 64512))
        outputs: Bag = {"arn": self.arn_of(id_), "vgwTelemetries": [], "routes": []}
        attachment = first_or_none(
            self.ec2.describe_transit_gateway_attachments,
            "TransitGatewayAttachments",
            Filters=[{"Name": "resource-id", "Values": [id_]}],
        )
        outputs["transitGatewayAttachmentId"] = attachment["TransitGatewayAttachmentId"] if attachment else None
        for number in (1, 2):
            outputs |= {f"tunnel{number}BgpAsn": asn, f"tunnel{number}BgpHoldtime": facts().vpn.bgp_holdtime}
        return {**outputs, **_tunnels(item)}

    def _check_private(self, news: Bag, transit_gateway: Any) -> None:
        """Refuse a private VPN for which AWS has no addresses or no transport."""
        ranges = transit_gateway.get("Options", {}).get("TransitGatewayCidrBlocks") or []
        transport = news.get("transportTransitGatewayAttachmentId")
        attachments = self.ec2.describe_transit_gateway_attachments(TransitGatewayAttachmentIds=[transport or ""])
        direct_connect = [
            attachment
            for attachment in attachments["TransitGatewayAttachments"]
            if attachment["ResourceType"] == "direct-connect-gateway"
        ]
        if not ranges or not direct_connect:
            raise ProviderError(
                "a private VPN needs an attachment of a Direct Connect gateway and a range of the transit gateway"
            )

    def observed(self, item: Any) -> Bag:
        return {"customerGatewayId": item["CustomerGatewayId"], **_tunnels(item)}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        # Other tunnel options are not in EC2's description: both sites read them from the plan.
        super().update(id_, state, news, frozenset(key for key in changed if not key.startswith("tunnel")))
        for number in (1, 2):
            options = {
                key: value for key, value in _chosen(news, number).items() if value != _chosen(state, number).get(key)
            }
            if options:
                # EC2 changes one tunnel at a time.
                self.ec2.modify_vpn_tunnel_options(
                    VpnConnectionId=id_,
                    VpnTunnelOutsideIpAddress=state[f"tunnel{number}Address"],
                    TunnelOptions=options,
                )
                self._await_available(id_)
        return _tunnels(self.describes(id_))

    def _await_available(self, id_: str) -> None:
        while (self.describes(id_) or {"State": "available"})["State"] == "modifying":
            time.sleep(0.1)


def _chosen(bag: Bag, number: int) -> dict[str, Any]:
    """Return the options of a tunnel that EC2's description contains."""
    names = {"TunnelInsideCidr": "InsideCidr", "PreSharedKey": "PresharedKey"}
    values = {name: bag.get(f"tunnel{number}{end}") for name, end in names.items()}
    return {name: value for name, value in values.items() if value is not None}


def _tunnels(item: Any) -> Bag:
    """Return the outputs of both tunnels from EC2's description."""
    outputs: Bag = {}
    for number, row in enumerate(item["Options"]["TunnelOptions"], start=1):
        prefix, inside = f"tunnel{number}", IPv4Network(row["TunnelInsideCidr"])
        outputs |= {
            f"{prefix}Address": row["OutsideIpAddress"],
            f"{prefix}InsideCidr": str(inside),
            f"{prefix}VgwInsideAddress": str(inside[1]),
            f"{prefix}CgwInsideAddress": str(inside[2]),
            f"{prefix}PresharedKey": row["PreSharedKey"],
        }
    return outputs
