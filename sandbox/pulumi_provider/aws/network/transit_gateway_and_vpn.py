"""Transit gateways, VPC attachments, customer gateways and VPN connections; the tunnel options are generated here."""

import hashlib
import string
from ipaddress import IPv4Network, ip_address
from typing import Any

from sandbox.pulumi_provider.aws.base import Bag, CloudFormationType, ProviderError, first_or_none
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource
from sandbox.pulumi_provider.aws.facts import facts

#: Characters that AWS allows in a pre-shared key; it must not begin with a zero.
KEY_LETTERS = string.ascii_letters + string.digits + "._"
KEY_LENGTH = 32
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
        customer_gateway = self.ec2.create_customer_gateway(
            Type=news["type"], IpAddress=news["ipAddress"], BgpAsn=asn or extended, **self.tagging(news)
        )["CustomerGateway"]
        return customer_gateway["CustomerGatewayId"], {"arn": self.arn_of(customer_gateway["CustomerGatewayId"])}

    def observed(self, item: Any) -> Bag:
        asn = "bgpAsn" if int(item["BgpAsn"]) <= _LARGEST_ASN else "bgpAsnExtended"
        return {"ipAddress": item["IpAddress"], asn: str(item["BgpAsn"]), "type": item["Type"]}


class VpnConnectionResource(Ec2Resource):
    """Site-to-Site VPN connection.

    The emulator has constant addresses and keys; this class generates values in AWS's form.
    """

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
        outside = (
            self._private_address(news, transit_gateway) if news.get("outsideIpAddressType") == "PrivateIpv4" else None
        )
        vpn_connection = self.ec2.create_vpn_connection(
            Type=news["type"],
            CustomerGatewayId=news["customerGatewayId"],
            TransitGatewayId=news["transitGatewayId"],
            Options={"StaticRoutesOnly": news.get("staticRoutesOnly", False)},
            **self.tagging(news),
        )["VpnConnection"]
        return vpn_connection["VpnConnectionId"], self._outputs(
            vpn_connection["VpnConnectionId"], news, transit_gateway, outside
        )

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = super().read(id_, state)
        if seen is None or "tunnel1Address" in state:
            return seen
        # Import by id: the tunnels get the same values as at the creation.
        transit_gateway = self._transit_gateway(state)
        outside = (
            self._private_address(state, transit_gateway)
            if state.get("outsideIpAddressType") == "PrivateIpv4"
            else None
        )
        return {**seen, **self._outputs(id_, state, transit_gateway, outside)}

    def _transit_gateway(self, bag: Bag) -> Any:
        return self.ec2.describe_transit_gateways(TransitGatewayIds=[bag["transitGatewayId"]])["TransitGateways"][0]

    def _outputs(self, id_: str, news: Bag, transit_gateway: Any, outside: str | None) -> Bag:
        customer_gateway = self.ec2.describe_customer_gateways(CustomerGatewayIds=[news["customerGatewayId"]])[
            "CustomerGateways"
        ][0]
        asn = str(transit_gateway.get("Options", {}).get("AmazonSideAsn", 64512))
        outputs: Bag = {"arn": self.arn_of(id_), "vgwTelemetries": [], "routes": []}
        attachment = first_or_none(
            self.ec2.describe_transit_gateway_attachments,
            "TransitGatewayAttachments",
            Filters=[{"Name": "resource-id", "Values": [id_]}],
        )
        outputs["transitGatewayAttachmentId"] = attachment["TransitGatewayAttachmentId"] if attachment else None
        for number in (1, 2):
            outputs |= _tunnel(number, id_, news, outside or customer_gateway["IpAddress"], asn)
        return outputs

    def _private_address(self, news: Bag, transit_gateway: Any) -> str:
        """Return AWS's address of a private VPN, from the CIDR block of the transit gateway."""
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
        return str(IPv4Network(ranges[0])[0])

    def observed(self, item: Any) -> Bag:
        return {"customerGatewayId": item["CustomerGatewayId"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        # The emulator does not use tunnel options, and both sites read them from the plan; only inside addresses change
        # here.
        super().update(id_, state, news, frozenset(key for key in changed if not key.startswith("tunnel")))
        outputs: Bag = {}
        for number in (1, 2):
            inside = news.get(f"tunnel{number}InsideCidr")
            if inside is not None:
                outputs |= _ends(f"tunnel{number}", IPv4Network(inside))
        return outputs


def _tunnel(number: int, id_: str, news: Bag, gateway: str, asn: str) -> Bag:
    prefix = f"tunnel{number}"
    inside = IPv4Network(news.get(f"{prefix}InsideCidr") or _inside(f"{id_}/{number}"))
    outside = ip_address(gateway) + facts().vpn.outside_offsets[number - 1]
    return {
        f"{prefix}Address": str(outside),
        **_ends(prefix, inside),
        f"{prefix}BgpAsn": asn,
        f"{prefix}BgpHoldtime": facts().vpn.bgp_holdtime,
        f"{prefix}PresharedKey": news.get(f"{prefix}PresharedKey") or _pre_shared_key(f"{id_}/{number}"),
    }


def _ends(prefix: str, inside: IPv4Network) -> Bag:
    return {
        f"{prefix}InsideCidr": str(inside),
        f"{prefix}VgwInsideAddress": str(inside[1]),
        f"{prefix}CgwInsideAddress": str(inside[2]),
    }


def _inside(seed: str) -> str:
    """Return the inside CIDR of a tunnel: different for each tunnel, and outside the ranges that AWS reserves."""
    number = int(hashlib.sha256(seed.encode()).hexdigest(), 16)
    return f"169.254.{16 + number % 150}.{4 * (number // 150 % 64)}/30"


def _pre_shared_key(seed: str) -> str:
    """Return the pre-shared key of a tunnel.

    It is constant: AWS returns it to every caller that may describe the connection.
    """
    digest = hashlib.sha512(seed.encode()).digest()
    letters = [KEY_LETTERS[byte % len(KEY_LETTERS)] for byte in digest[:KEY_LENGTH]]
    return "".join((string.ascii_letters[digest[-1] % len(string.ascii_letters)], *letters[1:]))
