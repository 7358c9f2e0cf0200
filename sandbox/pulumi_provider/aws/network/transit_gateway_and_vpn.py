"""Transit gateways, VPC attachments, customer gateways and VPN connections; the tunnel options are generated here."""

import hashlib
import string
from ipaddress import IPv4Network, ip_address
from typing import Any

from sandbox.pulumi_provider.aws.base import Bag, CloudFormationType, ProviderError, found
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource
from sandbox.pulumi_provider.aws.facts import facts

#: Characters that AWS allows in a pre-shared key; it must not begin with a zero.
KEY_LETTERS = string.ascii_letters + string.digits + "._"
KEY_LENGTH = 32
_LARGEST_ASN = 2_147_483_647


#: Switches that can be turned later, by Pulumi's name and by EC2's.
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
        return {ours: options[theirs] for ours, theirs in _OPTIONS.items() if theirs in options}

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
        made = self.ec2.create_transit_gateway_vpc_attachment(
            TransitGatewayId=news["transitGatewayId"],
            VpcId=news["vpcId"],
            SubnetIds=news["subnetIds"],
            **self.tagging(news),
        )["TransitGatewayVpcAttachment"]
        return made["TransitGatewayAttachmentId"], self.computed(made["TransitGatewayAttachmentId"], made)

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
        # Two parameters for two ranges of numbers; the emulated EC2 has the first alone.
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
    """The emulator makes the connection; addresses and keys, which it has as constants, are AWS-shaped values of ours."""

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
        hub = self._hub(news)
        outside = self._private(news, hub) if news.get("outsideIpAddressType") == "PrivateIpv4" else None
        vpn_connection = self.ec2.create_vpn_connection(
            Type=news["type"],
            CustomerGatewayId=news["customerGatewayId"],
            TransitGatewayId=news["transitGatewayId"],
            Options={"StaticRoutesOnly": news.get("staticRoutesOnly", False)},
            **self.tagging(news),
        )["VpnConnection"]
        return vpn_connection["VpnConnectionId"], self._outputs(vpn_connection["VpnConnectionId"], news, hub, outside)

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = super().read(id_, state)
        if seen is None or "tunnel1Address" in state:
            return seen
        # Import by id only: the tunnels have their values from the creation.
        hub = self._hub(state)
        outside = self._private(state, hub) if state.get("outsideIpAddressType") == "PrivateIpv4" else None
        return {**seen, **self._outputs(id_, state, hub, outside)}

    def _hub(self, bag: Bag) -> Any:
        return self.ec2.describe_transit_gateways(TransitGatewayIds=[bag["transitGatewayId"]])["TransitGateways"][0]

    def _outputs(self, id_: str, news: Bag, hub: Any, outside: str | None) -> Bag:
        gateway = self.ec2.describe_customer_gateways(CustomerGatewayIds=[news["customerGatewayId"]])[
            "CustomerGateways"
        ][0]
        asn = str(hub.get("Options", {}).get("AmazonSideAsn", 64512))
        outputs: Bag = {"arn": self.arn_of(id_), "vgwTelemetries": [], "routes": []}
        attached = found(
            self.ec2.describe_transit_gateway_attachments,
            "TransitGatewayAttachments",
            Filters=[{"Name": "resource-id", "Values": [id_]}],
        )
        outputs["transitGatewayAttachmentId"] = attached["TransitGatewayAttachmentId"] if attached else None
        for number in (1, 2):
            outputs |= _tunnel(number, id_, news, outside or gateway["IpAddress"], asn)
        return outputs

    def _private(self, news: Bag, hub: Any) -> str:
        """Return AWS's addresses of a private VPN: in the transit gateway's own range."""
        ranges = hub.get("Options", {}).get("TransitGatewayCidrBlocks") or []
        transport = news.get("transportTransitGatewayAttachmentId")
        lines = self.ec2.describe_transit_gateway_attachments(TransitGatewayAttachmentIds=[transport or ""])
        known = [one for one in lines["TransitGatewayAttachments"] if one["ResourceType"] == "direct-connect-gateway"]
        if not ranges or not known:
            raise ProviderError(
                "a private VPN needs an attachment of a Direct Connect gateway and a range of the transit gateway"
            )
        return str(IPv4Network(ranges[0])[0])

    def observed(self, item: Any) -> Bag:
        return {"customerGatewayId": item["CustomerGatewayId"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        # Tunnel options are AWS's to carry out; both sides read them from the plan, all but the addresses inside.
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
    """A range that AWS chooses: another one for each tunnel, and never one of those that it keeps."""
    chosen = int(hashlib.sha256(seed.encode()).hexdigest(), 16)
    return f"169.254.{16 + chosen % 150}.{4 * (chosen // 150 % 64)}/30"


def _pre_shared_key(seed: str) -> str:
    """Return the pre-shared key of a tunnel, always the same: AWS returns it to every caller that may describe the connection."""
    drawn = hashlib.sha512(seed.encode()).digest()
    letters = [KEY_LETTERS[one % len(KEY_LETTERS)] for one in drawn[:KEY_LENGTH]]
    return "".join((string.ascii_letters[drawn[-1] % len(string.ascii_letters)], *letters[1:]))
