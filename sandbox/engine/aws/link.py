"""Transit gateway and VPN. The emulated AWS keeps them; the tunnels' facts come from here, in AWS's shape."""

import secrets
import string
from ipaddress import IPv4Network, ip_address
from typing import Any

from sandbox.engine.aws.base import Bag
from sandbox.engine.aws.ec2 import Ec2Kind
from sandbox.engine.aws.facts import facts

#: What AWS allows in a pre-shared key; it must not begin with a zero.
KEY_LETTERS = string.ascii_letters + string.digits + "._"
KEY_LENGTH = 32


class TransitGateway(Ec2Kind):
    token = "aws:ec2transitgateway/transitGateway:TransitGateway"
    replaces = frozenset({"amazonSideAsn", "multicastSupport"})
    resource_type = "transit-gateway"
    describe = ("describe_transit_gateways", "TransitGateways", "TransitGatewayIds")
    remove = ("delete_transit_gateway", "TransitGatewayId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.ec2.create_transit_gateway(
            Description=news.get("description", ""),
            Options={
                "AmazonSideAsn": news.get("amazonSideAsn", 64512),
                "VpnEcmpSupport": news.get("vpnEcmpSupport", "enable"),
                "DnsSupport": news.get("dnsSupport", "enable"),
            },
            **self.tagging(news),
        )["TransitGateway"]
        id_, options = made["TransitGatewayId"], made.get("Options", {})
        return id_, {
            "arn": self.arn_of(id_),
            "ownerId": self.cloud.account,
            "associationDefaultRouteTableId": options.get("AssociationDefaultRouteTableId"),
            "propagationDefaultRouteTableId": options.get("PropagationDefaultRouteTableId"),
        }


class VpcAttachment(Ec2Kind):
    token = "aws:ec2transitgateway/vpcAttachment:VpcAttachment"
    replaces = frozenset({"transitGatewayId", "vpcId"})
    resource_type = "transit-gateway-attachment"
    describe = (
        "describe_transit_gateway_vpc_attachments",
        "TransitGatewayVpcAttachments",
        "TransitGatewayAttachmentIds",
    )
    remove = ("delete_transit_gateway_vpc_attachment", "TransitGatewayAttachmentId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.ec2.create_transit_gateway_vpc_attachment(
            TransitGatewayId=news["transitGatewayId"], VpcId=news["vpcId"], SubnetIds=news["subnetIds"]
        )["TransitGatewayVpcAttachment"]
        id_ = made["TransitGatewayAttachmentId"]
        self.retag(id_, {}, news)  # moto 5.2 forgets the tags of the call itself
        return id_, {"arn": self.arn_of(id_), "vpcOwnerId": self.cloud.account}

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


class CustomerGateway(Ec2Kind):
    token = "aws:ec2/customerGateway:CustomerGateway"
    replaces = frozenset({"bgpAsn", "ipAddress", "type", "deviceName", "certificateArn"})
    resource_type = "customer-gateway"
    describe = ("describe_customer_gateways", "CustomerGateways", "CustomerGatewayIds")
    remove = ("delete_customer_gateway", "CustomerGatewayId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.ec2.create_customer_gateway(
            Type=news["type"], IpAddress=news["ipAddress"], BgpAsn=int(news["bgpAsn"]), **self.tagging(news)
        )["CustomerGateway"]
        return made["CustomerGatewayId"], {"arn": self.arn_of(made["CustomerGatewayId"])}

    def observed(self, item: Any) -> Bag:
        return {"ipAddress": item["IpAddress"], "bgpAsn": str(item["BgpAsn"]), "type": item["Type"]}


class VpnConnection(Ec2Kind):
    """The emulator makes the connection; addresses and keys, which it has as constants, are AWS-shaped values of ours."""

    token = "aws:ec2/vpnConnection:VpnConnection"
    replaces = frozenset({"type", "customerGatewayId", "enableAcceleration", "staticRoutesOnly", "tunnelBandwidth"})
    resource_type = "vpn-connection"
    describe = ("describe_vpn_connections", "VpnConnections", "VpnConnectionIds")
    remove = ("delete_vpn_connection", "VpnConnectionId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.ec2.create_vpn_connection(
            Type=news["type"],
            CustomerGatewayId=news["customerGatewayId"],
            TransitGatewayId=news["transitGatewayId"],
            Options={"StaticRoutesOnly": news.get("staticRoutesOnly", False)},
            **self.tagging(news),
        )["VpnConnection"]
        id_ = made["VpnConnectionId"]
        gateway = self.ec2.describe_customer_gateways(CustomerGatewayIds=[news["customerGatewayId"]])[
            "CustomerGateways"
        ][0]
        hub = self.ec2.describe_transit_gateways(TransitGatewayIds=[news["transitGatewayId"]])["TransitGateways"][0]
        asn = str(hub.get("Options", {}).get("AmazonSideAsn", 64512))
        outputs: Bag = {"arn": self.arn_of(id_), "vgwTelemetries": [], "routes": []}
        for number in (1, 2):
            outputs |= _tunnel(number, news, gateway["IpAddress"], asn)
        return id_, outputs

    def observed(self, item: Any) -> Bag:
        return {"customerGatewayId": item["CustomerGatewayId"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        # Tunnel options are AWS's to carry out; both sides read them from the plan, so nothing else has to happen here.
        return super().update(id_, state, news, frozenset(key for key in changed if not key.startswith("tunnel")))


def _tunnel(number: int, news: Bag, gateway: str, asn: str) -> Bag:
    prefix = f"tunnel{number}"
    inside = IPv4Network(news.get(f"{prefix}InsideCidr") or facts().vpn.inside_cidrs[number - 1])
    outside = ip_address(gateway) + facts().vpn.outside_offsets[number - 1]
    return {
        f"{prefix}Address": str(outside),
        f"{prefix}InsideCidr": str(inside),
        f"{prefix}VgwInsideAddress": str(inside[1]),
        f"{prefix}CgwInsideAddress": str(inside[2]),
        f"{prefix}BgpAsn": asn,
        f"{prefix}BgpHoldtime": facts().vpn.bgp_holdtime,
        f"{prefix}PresharedKey": news.get(f"{prefix}PresharedKey") or _pre_shared_key(),
    }


def _pre_shared_key() -> str:
    return secrets.choice(string.ascii_letters) + "".join(secrets.choice(KEY_LETTERS) for _ in range(KEY_LENGTH - 1))


KINDS = (TransitGateway, VpcAttachment, CustomerGateway, VpnConnection)
