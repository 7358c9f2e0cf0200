"""Mistakes with the link between the sites."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

LINK: DataPath = ("link",)
SITE: DataPath = ("link", "sites", "basel")
SECOND = {"cidr": "10.30.0.0/16", "gateway": "gw02", "address": "10.30.0.1", "gateway_address": "4.4.4.4", "asn": 65011}
MANY = {
    f"s{number}": {
        "cidr": f"10.{100 + number // 100}.{number % 100}.0/24",
        "gateway": f"gw{number + 100}",
        "address": f"10.{100 + number // 100}.{number % 100}.1",
        "gateway_address": f"4.4.{number // 100}.{number % 100 + 1}",
        "asn": 4_200_000_000 + number,
    }
    for number in range(200)
}


def direct_connect(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for a Direct Connect link."""
    link = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "169.254.80.1"}
    return {LINK: {**link, **more}}


def site(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for another site beside the good environment's."""
    return {(*LINK, "sites"): {"basel": {**SECOND, **more}}}


def pair(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for two gateways."""
    link = {
        "kind": "vpn",
        "gateway_address": ["3.3.3.3", "3.3.3.4"],
        "onprem_asn": 65010,
        "shared_address": "10.20.0.9",
        **more,
    }
    return {
        LINK: link,
        ("onprem", "services"): {"gateway": ["gw01", "gw02"]},
        ("onprem", "addresses", "gw02"): "10.20.0.2",
    }


ROWS = [
    Row("same-asn", "one AS number at both ends", {(*LINK, "onprem_asn"): 64512}, (*LINK, "onprem_asn"), "64512"),
    Row("reserved-asn", "a reserved AS number", {(*LINK, "onprem_asn"): 23456}, (*LINK, "onprem_asn"), "23456"),
    Row("reserved-asn", "AWS's own AS number", {(*LINK, "onprem_asn"): 7224}, (*LINK, "onprem_asn"), "7224"),
    Row("reserved-asn", "an AS number from documentation", {(*LINK, "onprem_asn"): 64500}, (*LINK, "onprem_asn"), "the AS number 64500 is reserved for"),
    Row("aws-asn-private", "a public AS number for the transit gateway", {(*LINK, "aws_asn"): 1}, (*LINK, "aws_asn"), "transit gateway"),
    Row("onprem-asn-public", "a public AS number of another organisation", {(*LINK, "onprem_asn"): 3320}, (*LINK, "onprem_asn"), "yours"),
    Row("gateway-address", "a gateway behind NAT by its private address", {(*LINK, "gateway_address"): "192.168.1.1"}, (*LINK, "gateway_address"), "not public"),
    Row("gateway-address", "a multicast address for a gateway", {(*LINK, "gateway_address"): "224.0.0.5"}, (*LINK, "gateway_address"), "not public"),
    Row("gateway-address", "a gateway by its address in the site", {(*LINK, "gateway_address"): "10.20.0.1"}, (*LINK, "gateway_address"), "inside a site"),
    Row("gateway-example-address", "a gateway's address from documentation", {(*LINK, "gateway_address"): "198.51.100.10"}, (*LINK, "gateway_address"), "the gateway address 198.51.100.10 is in a"),
    Row("inside-cidr", "a tunnel in a range that AWS reserves", {(*LINK, "inside_cidrs"): ["169.254.5.0/30", "169.254.11.0/30"]}, (*LINK, "inside_cidrs", 0), "by AWS"),
    Row("inside-cidr", "a tunnel outside link-local addresses", {(*LINK, "inside_cidrs"): ["169.254.9.0/30", "10.1.0.0/30"]}, (*LINK, "inside_cidrs", 1), "not a /30"),
    Row("one-tunnel", "one tunnel in userspace", {(*LINK, "datapath"): "userspace"}, (*LINK, "datapath"), "one of the two"),
    Row("userspace-bandwidth", "a large tunnel for a slow gateway", {(*LINK, "datapath"): "userspace", (*LINK, "bandwidth"): "large"}, (*LINK, "bandwidth"), "0.3"),
    Row("tunnel-mtu", "packets that NAT makes too large", {(*LINK, "mtu"): 1446}, (*LINK, "mtu"), "1438"),
    Row("tunnel-mtu", "packets too large for a userspace tunnel", {(*LINK, "mtu"): 1440, (*LINK, "datapath"): "userspace"}, (*LINK, "mtu"), "an MTU of 1440 bytes is too"),
    Row("direct-connect-peer-addresses", "two routers with one address", direct_connect(aws_address="169.254.80.1"), (*LINK, "aws_address"), "both"),
    Row("direct-connect-peer-addresses", "routers in two networks", direct_connect(aws_address="169.254.81.2"), (*LINK, "aws_address"), "169.254.80.2"),
    Row("direct-connect-peer-addresses", "the network's own address for a router", direct_connect(aws_address="169.254.80.3"), (*LINK, "aws_address"), "two hosts"),
    Row("same-asn", "another site with AWS's number", site(asn=64512), (*SITE, "asn"), "64512"),
    Row("aws-asn-private", "a public AS number for the Direct Connect gateway", direct_connect(line_asn=1), (*LINK, "line_asn"), "Direct Connect gateway"),
    Row("gateway-address", "a backup that ends inside the site", direct_connect(backup={"gateway_address": "10.20.0.1"}), (*LINK, "backup", "gateway_address"), "inside a site"),
    Row("inside-cidr", "another site's tunnel in a range that AWS reserves", site(inside_cidrs=["169.254.10.4/30", "169.254.2.0/30"]), (*SITE, "inside_cidrs", 1), "by AWS"),
    Row("overlapping-cidrs", "another site in our own range", site(cidr="10.20.128.0/20", address="10.20.128.1"), (*SITE, "cidr"), "10.20.0.0/16"),
    Row("overlapping-cidrs", "AWS's ends of a VPN over Direct Connect inside the VPC's range", direct_connect(encryption="vpn", line_vpn={"gateway_address": "10.20.0.1", "cidr": "10.60.0.0/24"}), (*LINK, "line_vpn", "cidr"), "10.60.0.0/16"),
    Row("site-name", "a site with a reserved name", {(*LINK, "sites"): {"line": SECOND}}, (*LINK, "sites", "line"), "the site name line is reserved"),
    Row("site-gateway", "a site's gateway that is another host", site(gateway="ctl01"), (*SITE, "gateway"), "the host name ctl01 is used by"),
    Row("site-gateway", "a site's gateway outside its site", site(address="10.31.0.1"), (*SITE, "address"), "outside"),
    Row("shared-gateway", "two sites behind one address", site(gateway_address="3.3.3.3"), (*SITE, "gateway_address"), "3.3.3.3 is the gateway address of another"),
    Row("sites-meet", "sites_meet with one AS number for two sites", {**site(asn=65010), (*LINK, "sites_meet"): True}, (*SITE, "asn"), "number the"),
    Row("sites-meet", "sites_meet with one site", {(*LINK, "sites_meet"): True}, (*LINK, "sites_meet"), "sites_meet has no effect: there are no"),
    Row("gateway-addresses", "two gateways with one address towards AWS", pair(gateway_address="3.3.3.3"), (*LINK, "gateway_address"), "2 gateways, and 1 gateway address"),
    Row("gateway-addresses", "two addresses of a linked site's gateway", site(gateway_address=["4.4.4.4", "4.4.4.5"]), (*SITE, "gateway_address"), "the site basel has 1 gateway"),
    Row("gateway-addresses", "inside ranges for a second gateway that does not exist", {(*LINK, "inside_cidrs"): [f"169.254.{number}.0/30" for number in (10, 11, 12, 13)]}, (*LINK, "inside_cidrs"), "4 inside ranges for 2 tunnels"),
    Row("wrong-format", "a second gateway's address with an octet above 255", pair(gateway_address=["3.3.3.3", "999.1.1.1"]), (*LINK, "gateway_address", 1), "999.1.1.1"),
    Row("wrong-format", "a second gateway's host name with a capital letter", {**pair(), ("onprem", "services"): {"gateway": ["gw01", "GW02"]}}, ("onprem", "services", "gateway", 1), "GW02"),
    Row("gateway-addresses", "three inside ranges for four tunnels", pair(inside_cidrs=["169.254.10.0/30", "169.254.11.0/30", "169.254.12.0/30"]), (*LINK, "inside_cidrs"), "3 inside ranges for 4 tunnels"),
    Row("shared-gateway", "two gateways behind one address", pair(gateway_address=["3.3.3.3", "3.3.3.3"]), (*LINK, "gateway_address", 1), "3.3.3.3 is the gateway address of another"),
    Row("gateway-address", "a second gateway behind carrier-grade NAT", pair(gateway_address=["3.3.3.3", "100.64.0.1"]), (*LINK, "gateway_address", 1), "not public"),
    Row("inside-cidr", "a second gateway's tunnel in a range that AWS reserves", pair(inside_cidrs=["169.254.10.0/30", "169.254.11.0/30", "169.254.12.0/30", "169.254.5.0/30"]), (*LINK, "inside_cidrs", 3), "by AWS"),
    Row("overlapping-cidrs", "one inside range for tunnels of two gateways", pair(inside_cidrs=["169.254.10.0/30", "169.254.11.0/30", "169.254.12.0/30", "169.254.10.0/30"]), (*LINK, "inside_cidrs", 3), "tunnel"),
    Row("two-gateway-hosts", "one host as both gateways", {**pair(), ("onprem", "services"): {"gateway": ["gw01", "gw01"]}}, ("onprem", "services", "gateway", 1), "the gateway gw01 is repeated"),
    Row("gateway-next-hop", "two gateways without a next hop for the hosts", pair(shared_address=None), LINK, "two gateways"),
    Row("gateway-next-hop", "a shared address of one gateway", {(*LINK, "shared_address"): "10.20.0.9"}, (*LINK, "shared_address"), "no effect"),
    Row("shared-gateway-address", "a shared address outside the site", pair(shared_address="10.21.0.9"), (*LINK, "shared_address"), "not the address of a host in 10.20.0.0/16"),
    Row("shared-gateway-address", "a host's address as the shared address", pair(shared_address="10.20.0.11"), (*LINK, "shared_address"), "ctl01's"),
    Row("shared-gateway-address", "the router's address as the shared address", pair(router="10.20.0.9"), (*LINK, "shared_address"), "the router's"),
    Row("site-name", "a site with the name of the second gateway's connection", {(*LINK, "sites"): {"onprem-2": SECOND}}, (*LINK, "sites", "onprem-2"), "the site name onprem-2 is reserved"),
    Row("direct-connect-asn", "one AS number for both gateways of Direct Connect", direct_connect(line_asn=64512), (*LINK, "line_asn"), "aws_asn"),
    Row("direct-connect-vpn", "VPN over Direct Connect without its addresses", direct_connect(encryption="vpn"), (*LINK, "encryption"), "line_vpn"),
    Row("direct-connect-vpn", "VPN addresses beside MACsec", direct_connect(line_vpn={"gateway_address": "10.20.0.1"}), (*LINK, "line_vpn"), "macsec"),
    Row("direct-connect-vpn-address", "a public address inside Direct Connect", direct_connect(encryption="vpn", line_vpn={"gateway_address": "3.3.3.3"}), (*LINK, "line_vpn", "gateway_address"), "private"),
    Row("direct-connect-vpn-address", "too few addresses for AWS's ends of a VPN over Direct Connect", direct_connect(encryption="vpn", line_vpn={"gateway_address": "10.20.0.1", "cidr": "100.127.254.0/28"}), (*LINK, "line_vpn", "cidr"), "/24"),
    Row("macsec-port", "MACsec on a port that has none", direct_connect(port="1g"), (*LINK, "encryption"), "vpn"),
    Row("direct-connect-without-backup", "Direct Connect without a backup", direct_connect(), (*LINK, "kind"), "backup"),
    Row("direct-connect-backup-datapath", "userspace tunnels for Direct Connect and its backup", direct_connect(encryption="vpn", line_vpn={"gateway_address": "10.20.0.1"}, backup={"gateway_address": "3.3.3.3", "datapath": "userspace"}), (*LINK, "backup"), "kernel"),
    Row("direct-connect-prefixes", "more prefixes than Direct Connect announces", {**direct_connect(sites=MANY, sites_meet=True)}, (*LINK, "sites_meet"), "200"),
    Row("direct-connect-unencrypted", "Direct Connect in clear text", direct_connect(encryption="none"), (*LINK, "encryption"), "macsec"),
    Row("direct-connect-unencrypted", "health data on Direct Connect in clear text", {**direct_connect(encryption="none"), ("data_classes", "health"): {"sites": ["onprem", "aws"], "regime": "hipaa"}}, (*LINK, "encryption"), "health"),
]  # fmt: skip
