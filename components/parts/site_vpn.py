"""VPN connection of a transit gateway, for Link."""

from typing import Any

import pulumi
import pulumi_aws as aws

from landbridge.plan.args import named
from landbridge.plan.network.link import VpnArgs

Tunnel = pulumi.Output[dict[str, str]]
#: Larger AS numbers need a separate parameter. Source: EC2 API Reference, CreateCustomerGateway.
_LARGEST_ASN = 2_147_483_647


def vpn_connection(
    name: str,
    args: VpnArgs,
    *,
    label: str,
    tags: dict[str, str],
    transit_gateway_id: pulumi.Input[str],
    transport_id: pulumi.Input[str] | None,
    log_group_arn: pulumi.Input[str] | None,
    parent: pulumi.Resource,
) -> aws.ec2.VpnConnection:
    """Create a customer gateway and its connection; `transport_id` is the Direct Connect attachment, if the VPN runs
    inside one.
    """
    resource_options = pulumi.ResourceOptions(parent=parent)
    asn_parameter = "bgp_asn" if args.asn <= _LARGEST_ASN else "bgp_asn_extended"
    gateway = aws.ec2.CustomerGateway(
        name,
        type="ipsec.1",
        ip_address=args.gateway_address,
        device_name=f"{label}-gateway",
        certificate_arn=args.certificate_arn,
        tags=named(tags, label),
        opts=resource_options,
        **{asn_parameter: str(args.asn)},
    )
    options: dict[str, Any] = {}
    for number in (1, 2):
        options |= _tunnel_options(number, args, log_group_arn)
    if args.bandwidth != "standard":
        options["tunnel_bandwidth"] = args.bandwidth
    if args.private:
        options |= {"outside_ip_address_type": "PrivateIpv4", "transport_transit_gateway_attachment_id": transport_id}
    return aws.ec2.VpnConnection(
        name,
        customer_gateway_id=gateway.id,
        transit_gateway_id=transit_gateway_id,
        type="ipsec.1",
        static_routes_only=False,
        tags=named(tags, label),
        opts=resource_options,
        **options,
    )


def tunnels_of(vpn: aws.ec2.VpnConnection, over: str) -> list[Tunnel]:
    """Return both tunnels' addresses, as the stack exports them."""
    return [
        _tunnel(
            vpn.tunnel1_address,
            vpn.tunnel1_inside_cidr,
            vpn.tunnel1_vgw_inside_address,
            vpn.tunnel1_cgw_inside_address,
            over,
        ),
        _tunnel(
            vpn.tunnel2_address,
            vpn.tunnel2_inside_cidr,
            vpn.tunnel2_vgw_inside_address,
            vpn.tunnel2_cgw_inside_address,
            over,
        ),
    ]


def _tunnel(
    outside_address: pulumi.Output[str],
    inside_cidr: pulumi.Output[str],
    aws_inside: pulumi.Output[str],
    customer_inside: pulumi.Output[str],
    over: str,
) -> Tunnel:
    return pulumi.Output.all(
        outside_address=outside_address,
        inside_cidr=inside_cidr,
        aws_inside_address=aws_inside,
        customer_inside_address=customer_inside,
        over=over,
    )


def _tunnel_options(number: int, args: VpnArgs, log_group_arn: pulumi.Input[str] | None) -> dict[str, Any]:
    tunnel, cipher = f"tunnel{number}", args.cipher
    options: dict[str, Any] = {
        f"{tunnel}_ike_versions": ["ikev2"],
        f"{tunnel}_startup_action": "add",
        f"{tunnel}_dpd_timeout_action": "restart",
        f"{tunnel}_dpd_timeout_seconds": args.dpd_seconds,
        f"{tunnel}_replay_window_size": 1024,
    }
    if args.inside_cidrs is not None:
        options[f"{tunnel}_inside_cidr"] = args.inside_cidrs[number - 1]
    for phase, seconds in (("phase1", args.phase1_seconds), ("phase2", args.phase2_seconds)):
        options |= {
            f"{tunnel}_{phase}_encryption_algorithms": [cipher.encryption],
            f"{tunnel}_{phase}_integrity_algorithms": [cipher.integrity],
            f"{tunnel}_{phase}_dh_group_numbers": [cipher.dh_group],
            f"{tunnel}_{phase}_lifetime_seconds": seconds,
        }
    if log_group_arn is not None:
        # IKE logs and BGP logs are enabled separately; both are needed to analyse an outage.
        options[f"{tunnel}_log_options"] = {
            "cloudwatch_log_options": {
                "log_enabled": True,
                "log_group_arn": log_group_arn,
                "log_output_format": "json",
                "bgp_log_enabled": True,
                "bgp_log_group_arn": log_group_arn,
                "bgp_log_output_format": "json",
            }
        }
    return options
