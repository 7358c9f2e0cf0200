"""Transit gateway peering with another region."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from components.parts.home_transit_gateway import HomeTransitGateway
from components.parts.in_region import in_region
from landbridge.plan.args import named
from landbridge.plan.network.region_link import RegionLinkArgs


class RegionLink(Component):
    """Transit gateway in another region, peered with the link's: nodes there reach the sites and the cluster's other nodes.

    Costs about 0.15 USD an hour (the VPC's attachment, and one for each end of the peering), about 0.02 USD for each GB between
    the regions, and the transit gateway's data processing. Protects: each route is static, since AWS propagates none through a
    peering; traffic between regions is encrypted and stays in AWS's network. Opens the region's VPC to the sites and to the
    VPCs of this cluster only. `opts` have the provider of the home region.
    """

    def __init__(
        self,
        name: str,
        args: RegionLinkArgs,
        *,
        home: HomeTransitGateway,
        vpc_id: pulumi.Input[str],
        subnet_ids: list[pulumi.Input[str]],
        route_table_ids: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"region": args.region, "asn": args.asn}, opts)
        self._name, self._args = name, args
        self._child_options = pulumi.ResourceOptions(parent=self)
        self._region_options = in_region(args.region, self._child_options)
        tags = named(args.tags, f"{args.cluster}-{args.region}")
        hub = aws.ec2transitgateway.TransitGateway(
            name,
            description=f"Landbridge {args.cluster}: {args.region}",
            amazon_side_asn=args.asn,
            dns_support="enable",
            auto_accept_shared_attachments="disable",
            # No default table: a later attachment has no route until an operator adds one.
            default_route_table_association="disable",
            default_route_table_propagation="disable",
            tags=tags,
            opts=self._region_options,
        )
        self.transit_gateway_id = hub.id
        attachment = aws.ec2transitgateway.VpcAttachment(
            name,
            transit_gateway_id=hub.id,
            vpc_id=vpc_id,
            subnet_ids=subnet_ids,
            transit_gateway_default_route_table_association=False,
            transit_gateway_default_route_table_propagation=False,
            tags=tags,
            opts=self._region_options,
        )
        peering = aws.ec2transitgateway.PeeringAttachment(
            name,
            transit_gateway_id=home.transit_gateway_id,
            peer_transit_gateway_id=hub.id,
            peer_region=args.region,
            tags=tags,
            opts=self._child_options,
        )
        accepter = aws.ec2transitgateway.PeeringAttachmentAccepter(
            name, transit_gateway_attachment_id=peering.id, tags=tags, opts=self._region_options
        )
        self._add_home_routes(home, accepter)
        self._create_region_routes(hub.id, attachment, accepter, route_table_ids)
        self.register_outputs({"transitGatewayId": hub.id})

    def _add_home_routes(
        self, home: HomeTransitGateway, accepter: aws.ec2transitgateway.PeeringAttachmentAccepter
    ) -> None:
        """Add the region's range to the three route tables of the home region, and associate the peering with the regions' table."""
        cidr, peering = self._args.cidr, accepter.transit_gateway_attachment_id
        aws.ec2transitgateway.RouteTableAssociation(
            f"{self._name}-home",
            transit_gateway_attachment_id=peering,
            transit_gateway_route_table_id=home.tables["regions"],
            opts=self._child_options,
        )
        for table_name, table in home.tables.items():
            self._route(f"home-{table_name}", table, cidr, peering, self._child_options)
        for zone, zone_table in home.route_table_ids.items():
            aws.ec2.Route(
                f"{self._name}-home-{zone}",
                route_table_id=zone_table,
                destination_cidr_block=cidr,
                transit_gateway_id=home.transit_gateway_id,
                opts=self._child_options,
            )

    def _create_region_routes(
        self,
        hub: pulumi.Output[str],
        attachment: aws.ec2transitgateway.VpcAttachment,
        accepter: aws.ec2transitgateway.PeeringAttachmentAccepter,
        route_table_ids: Mapping[str, pulumi.Input[str]],
    ) -> None:
        """Create the route tables: the VPC has routes to all ranges beyond the peering, the peering to the VPC."""
        vpc_table, peering_table = self._table("vpc", hub), self._table("home", hub)
        for table_name, table, attachment_id in (
            ("vpc", vpc_table, attachment.id),
            ("peering", peering_table, accepter.transit_gateway_attachment_id),
        ):
            aws.ec2transitgateway.RouteTableAssociation(
                f"{self._name}-{table_name}",
                transit_gateway_attachment_id=attachment_id,
                transit_gateway_route_table_id=table.id,
                opts=self._region_options,
            )
        aws.ec2transitgateway.RouteTablePropagation(
            f"{self._name}-vpc",
            transit_gateway_attachment_id=attachment.id,
            transit_gateway_route_table_id=peering_table.id,
            opts=self._region_options,
        )
        for key, cidr in self._args.beyond.items():
            self._route(key, vpc_table.id, cidr, accepter.transit_gateway_attachment_id, self._region_options)
            for zone, route_table in route_table_ids.items():
                aws.ec2.Route(
                    f"{self._name}-{key}-{zone}",
                    route_table_id=route_table,
                    destination_cidr_block=cidr,
                    transit_gateway_id=hub,
                    # AWS refuses a route to a transit gateway that the VPC is not attached to yet.
                    opts=pulumi.ResourceOptions.merge(
                        self._region_options, pulumi.ResourceOptions(depends_on=[attachment])
                    ),
                )

    def _table(self, table_name: str, hub: pulumi.Output[str]) -> aws.ec2transitgateway.RouteTable:
        tags = named(self._args.tags, f"{self._args.cluster}-{self._args.region}-{table_name}")
        return aws.ec2transitgateway.RouteTable(
            f"{self._name}-{table_name}", transit_gateway_id=hub, tags=tags, opts=self._region_options
        )

    def _route(
        self,
        key: str,
        table: pulumi.Input[str],
        cidr: str,
        peering: pulumi.Output[str],
        options: pulumi.ResourceOptions,
    ) -> None:
        aws.ec2transitgateway.Route(
            f"{self._name}-{key}",
            transit_gateway_route_table_id=table,
            destination_cidr_block=cidr,
            transit_gateway_attachment_id=peering,
            opts=options,
        )
