"""The way between the sites."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from landbridge.plan.args import named
from landbridge.plan.link import LinkArgs


class SiteLink(pulumi.ComponentResource):
    """A Site-to-Site VPN with two tunnels and BGP, on a transit gateway that the VPC is attached to.

    Costs about 0.05 USD an hour for each of the two attachments and 0.05 for the VPN, and 0.02 a GB towards AWS.
    Protects everything between the sites: IKEv2 with one strong suite; AWS chooses the pre-shared keys, which are secret
    outputs. Opens the VPC to the on-prem range and to nothing else.
    """

    tunnels: pulumi.Output[list[dict[str, str]]]
    pre_shared_keys: pulumi.Output[list[str]]

    def __init__(
        self,
        name: str,
        args: LinkArgs,
        *,
        onprem_cidr: str,
        vpc_id: pulumi.Input[str],
        subnet_ids: list[pulumi.Input[str]],
        route_table_ids: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("landbridge:index:SiteLink", name, {"gatewayAddress": args.gateway_address}, opts)
        own = pulumi.ResourceOptions(parent=self)
        tags = named(args.tags, args.cluster)
        hub = aws.ec2transitgateway.TransitGateway(
            name,
            description=f"Landbridge {args.cluster}: between the VPC and on-prem",
            amazon_side_asn=args.aws_asn,
            vpn_ecmp_support="enable",
            dns_support="enable",
            auto_accept_shared_attachments="disable",
            tags=tags,
            opts=own,
        )
        attachment = aws.ec2transitgateway.VpcAttachment(
            name, transit_gateway_id=hub.id, vpc_id=vpc_id, subnet_ids=subnet_ids, tags=tags, opts=own
        )
        gateway = aws.ec2.CustomerGateway(
            name,
            type="ipsec.1",
            ip_address=args.gateway_address,
            bgp_asn=str(args.onprem_asn),
            device_name=f"{args.cluster}-gateway",
            tags=tags,
            opts=own,
        )
        vpn = self._vpn(name, args, hub, gateway, tags)
        for zone, table in route_table_ids.items():
            aws.ec2.Route(
                f"{name}-{zone}",
                route_table_id=table,
                destination_cidr_block=onprem_cidr,
                transit_gateway_id=hub.id,
                # AWS refuses a route to a transit gateway that the VPC is not attached to yet.
                opts=pulumi.ResourceOptions(parent=self, depends_on=[attachment]),
            )
        self.tunnels = pulumi.Output.all(
            _tunnel(
                vpn.tunnel1_address,
                args.inside_cidrs[0],
                vpn.tunnel1_vgw_inside_address,
                vpn.tunnel1_cgw_inside_address,
            ),
            _tunnel(
                vpn.tunnel2_address,
                args.inside_cidrs[1],
                vpn.tunnel2_vgw_inside_address,
                vpn.tunnel2_cgw_inside_address,
            ),
        )
        self.pre_shared_keys = pulumi.Output.secret(
            pulumi.Output.all(vpn.tunnel1_preshared_key, vpn.tunnel2_preshared_key)
        )
        self.register_outputs({"tunnels": self.tunnels})

    def _vpn(
        self,
        name: str,
        args: LinkArgs,
        hub: aws.ec2transitgateway.TransitGateway,
        gateway: aws.ec2.CustomerGateway,
        tags: dict[str, str],
    ) -> aws.ec2.VpnConnection:
        cipher, options = args.cipher, {}
        for number, inside in enumerate(args.inside_cidrs, start=1):
            options |= {
                f"tunnel{number}_inside_cidr": inside,
                f"tunnel{number}_ike_versions": ["ikev2"],
                f"tunnel{number}_startup_action": "add",
                f"tunnel{number}_dpd_timeout_action": "restart",
                f"tunnel{number}_dpd_timeout_seconds": args.dpd_seconds,
                f"tunnel{number}_replay_window_size": 1024,
            }
            for phase, seconds in (("phase1", args.phase1_seconds), ("phase2", args.phase2_seconds)):
                options |= {
                    f"tunnel{number}_{phase}_encryption_algorithms": [cipher.encryption],
                    f"tunnel{number}_{phase}_integrity_algorithms": [cipher.integrity],
                    f"tunnel{number}_{phase}_dh_group_numbers": [cipher.dh_group],
                    f"tunnel{number}_{phase}_lifetime_seconds": seconds,
                }
        if args.bandwidth != "standard":
            options["tunnel_bandwidth"] = args.bandwidth
        return aws.ec2.VpnConnection(
            name,
            customer_gateway_id=gateway.id,
            transit_gateway_id=hub.id,
            type="ipsec.1",
            static_routes_only=False,
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self),
            **options,
        )


def _tunnel(
    outside: pulumi.Output[str], inside_cidr: str, aws_inside: pulumi.Output[str], customer_inside: pulumi.Output[str]
) -> pulumi.Output[dict[str, str]]:
    return pulumi.Output.from_input(
        {
            "outside_address": outside,
            "inside_cidr": inside_cidr,
            "aws_inside_address": aws_inside,
            "customer_inside_address": customer_inside,
        }
    )
