"""Link between the sites: transit gateway and Site-to-Site VPN or Direct Connect."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import pulumi
import pulumi_aws as aws

from components.direct_connect import DirectConnect
from components.parts.component import Component
from components.parts.home_transit_gateway import HomeTransitGateway
from components.parts.site_vpn import tunnels_of, vpn_connection
from landbridge.plan.args import named
from landbridge.plan.network.link import LINE, OWN, OWN_KEYS, SECOND_OWN, LinkArgs


class Link(Component):
    """Transit gateway with the VPC attached, and each site's connection: VPN with two tunnels and BGP, or Direct Connect.

    Costs about 0.05 USD an hour for each attachment (VPC, VPN, Direct Connect) and as much for each VPN, 0.02 USD for each GB
    towards AWS, and about 0.50 USD for each GB of tunnel logs. Protects traffic between the sites: IKEv2 with one strong cipher
    suite; AWS creates the pre-shared keys, which are secret outputs, or both ends have certificates of a private CA. A site
    reaches the VPC but no other site, unless the environment allows it: neither route table has the routes of the other.
    Opens the VPC to the sites' ranges only.
    """

    tunnels: pulumi.Output[list[dict[str, str]]]
    pre_shared_keys: pulumi.Output[list[str]]
    site_keys: pulumi.Output[dict[str, list[str]]]
    line: DirectConnect | None
    home: HomeTransitGateway

    def __init__(
        self,
        name: str,
        args: LinkArgs,
        *,
        vpc_id: pulumi.Input[str],
        subnet_ids: list[pulumi.Input[str]],
        route_table_ids: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"asn": args.aws_asn}, opts)
        self._name, self._args = name, args
        self._child_options, tags = pulumi.ResourceOptions(parent=self), named(args.tags, args.cluster)
        self._hub = aws.ec2transitgateway.TransitGateway(
            name,
            description=f"Landbridge {args.cluster}: between the VPC and on-prem",
            amazon_side_asn=args.aws_asn,
            vpn_ecmp_support="enable",
            dns_support="enable",
            auto_accept_shared_attachments="disable",
            # No default table: a later attachment has no route until it is associated with a route table.
            default_route_table_association="disable",
            default_route_table_propagation="disable",
            transit_gateway_cidr_blocks=[args.private_cidr] if args.private_cidr else None,
            tags=tags,
            opts=self._child_options,
        )
        attachment = aws.ec2transitgateway.VpcAttachment(
            name,
            transit_gateway_id=self._hub.id,
            vpc_id=vpc_id,
            subnet_ids=subnet_ids,
            transit_gateway_default_route_table_association=False,
            transit_gateway_default_route_table_propagation=False,
            tags=tags,
            opts=self._child_options,
        )
        self.line = None
        if args.line is not None:
            self.line = DirectConnect(name, args.line, transit_gateway_id=self._hub.id, opts=self._child_options)
        self._vpns = self._connections()
        tables = self._tables(attachment.id)
        self.home = HomeTransitGateway(self._hub.id, {key: table.id for key, table in tables.items()}, route_table_ids)
        for site, cidr in args.networks.items():
            for zone, table in route_table_ids.items():
                aws.ec2.Route(
                    f"{name}-{zone}" if site == OWN else f"{name}-{site}-{zone}",
                    route_table_id=table,
                    destination_cidr_block=cidr,
                    transit_gateway_id=self._hub.id,
                    # AWS refuses a route to a transit gateway that the VPC is not attached to yet.
                    opts=pulumi.ResourceOptions(parent=self, depends_on=[attachment]),
                )
        own_connections, second_connections = ([key for key in keys if key in self._vpns] for keys in OWN_KEYS)
        self.tunnels = pulumi.Output.all(*(tunnel for key in own_connections for tunnel in self._tunnels(key)))
        self.pre_shared_keys = self._keys(*own_connections)
        # The second gateway of our own site has its outputs beside those of other sites.
        self._sites = {SECOND_OWN: second_connections} if second_connections else {}
        self._sites |= {key: [key] for key in self._vpns if key not in chain(*OWN_KEYS)}
        site_keys = {site: self._keys(*connections) for site, connections in self._sites.items()}
        self.site_keys = pulumi.Output.secret(pulumi.Output.all(**site_keys))
        self.register_outputs({"tunnels": self.tunnels})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `link` output."""
        vpn_plan = self._args.vpns.get(OWN)
        exports: dict[str, Any] = {"aws_asn": self._args.aws_asn, "tunnels": self.tunnels}
        if vpn_plan is not None:
            exports["customer_gateway_address"] = vpn_plan.gateway_address
        if self.line is not None:
            exports["line"] = self.line.exports()
        if self._sites:
            exports["sites"] = {
                site: {
                    "customer_gateway_address": self._args.vpns[connections[-1]].gateway_address,
                    "tunnels": pulumi.Output.all(*(tunnel for key in connections for tunnel in self._tunnels(key))),
                }
                for site, connections in self._sites.items()
            }
        return exports

    def secrets(self) -> dict[str, pulumi.Output[Any]]:
        """Return the stack's secret outputs, by the names of StackOutputs."""
        secrets: dict[str, pulumi.Output[Any]] = {}
        if any(key in self._vpns for key in (LINE, OWN)):
            secrets["link_pre_shared_keys"] = self.pre_shared_keys
        if self._sites:
            secrets["link_site_keys"] = self.site_keys
        if self.line is not None:
            secrets["link_bgp_auth_key"] = self.line.bgp_auth_key
        return secrets

    def monitored_ids(self) -> dict[str, pulumi.Output[str]]:
        """Return the id of each VPN connection, and the outside address of each tunnel, for alarms."""
        ids: dict[str, pulumi.Output[str]] = {}
        for key, vpn in self._vpns.items():
            ids[f"vpn-{key}"] = vpn.id
            ids |= {f"vpn-{key}-1": vpn.tunnel1_address, f"vpn-{key}-2": vpn.tunnel2_address}
        return ids

    def _connections(self) -> dict[str, aws.ec2.VpnConnection]:
        """Create each VPN. The VPN over the internet has no suffix in its name, as the link or as a backup."""
        args, group = self._args, self._log_group()
        connections = {}
        for key, plan in args.vpns.items():
            connections[key] = vpn_connection(
                self._name if key == OWN else f"{self._name}-{key}",
                plan,
                label=args.cluster if key == OWN else f"{args.cluster}-{key}",
                tags=args.tags,
                transit_gateway_id=self._hub.id,
                transport_id=self.line.attachment_id if self.line is not None else None,
                log_group_arn=None if group is None else group.arn,
                parent=self,
            )
        return connections

    def _log_group(self) -> aws.cloudwatch.LogGroup | None:
        logs = self._args.logs
        if logs is None:
            return None
        return aws.cloudwatch.LogGroup(
            f"{self._name}-vpn",
            name=logs.group,
            retention_in_days=logs.retention_days,
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _tables(self, vpc: pulumi.Output[str]) -> dict[str, aws.ec2transitgateway.RouteTable]:
        """Create the route tables: sites have a route to the VPC, the VPC to each site, Direct Connect transport to
        itself only.

        A peering with another region has routes to both. RegionLink adds that region's ranges to all three tables.
        """
        site_attachments = {key: vpn.transit_gateway_attachment_id for key, vpn in self._vpns.items()}
        if self.line is not None and LINE in self._vpns:
            # Direct Connect without MACsec carries VPN tunnels only: it has no route to the VPC.
            transport_table = self._table("line")
            self._associate(transport_table, "line", self.line.attachment_id, "transport")
            self._propagate(transport_table, "line", self.line.attachment_id, "transport")
        elif self.line is not None:
            site_attachments[LINE] = self.line.attachment_id
        sites_table, vpc_table = self._table("sites"), self._table("vpc")
        self._associate(vpc_table, "vpc", vpc, "vpc")
        self._propagate(sites_table, "sites", vpc, "vpc")
        for key, attachment in site_attachments.items():
            self._associate(sites_table, "sites", attachment, key)
            self._propagate(vpc_table, "vpc", attachment, key)
            if self._args.sites_meet:
                self._propagate(sites_table, "sites", attachment, key)
        if not self._args.other_regions:
            return {"sites": sites_table, "vpc": vpc_table}
        regions_table = self._table("regions")
        for key, attachment in {"vpc": vpc, **site_attachments}.items():
            self._propagate(regions_table, "regions", attachment, key)
        return {"sites": sites_table, "vpc": vpc_table, "regions": regions_table}

    def _table(self, table_name: str) -> aws.ec2transitgateway.RouteTable:
        tags = named(self._args.tags, f"{self._args.cluster}-{table_name}")
        return aws.ec2transitgateway.RouteTable(
            f"{self._name}-{table_name}", transit_gateway_id=self._hub.id, tags=tags, opts=self._child_options
        )

    def _associate(
        self, table: aws.ec2transitgateway.RouteTable, table_name: str, attachment: pulumi.Output[str], key: str
    ) -> None:
        aws.ec2transitgateway.RouteTableAssociation(
            f"{self._name}-{table_name}-{key}",
            transit_gateway_attachment_id=attachment,
            transit_gateway_route_table_id=table.id,
            opts=self._child_options,
        )

    def _propagate(
        self, table: aws.ec2transitgateway.RouteTable, table_name: str, attachment: pulumi.Output[str], key: str
    ) -> None:
        aws.ec2transitgateway.RouteTablePropagation(
            f"{self._name}-{table_name}-{key}",
            transit_gateway_attachment_id=attachment,
            transit_gateway_route_table_id=table.id,
            opts=self._child_options,
        )

    def _tunnels(self, key: str) -> list[pulumi.Output[dict[str, str]]]:
        return tunnels_of(self._vpns[key], "line" if self._args.vpns[key].private else "internet")

    def _keys(self, *connections: str) -> pulumi.Output[list[str]]:
        # With certificates there are no keys.
        vpns = [self._vpns[key] for key in connections if self._args.vpns[key].certificate_arn is None]
        keys = [key for vpn in vpns for key in (vpn.tunnel1_preshared_key, vpn.tunnel2_preshared_key)]
        return pulumi.Output.secret(pulumi.Output.all(*keys))
