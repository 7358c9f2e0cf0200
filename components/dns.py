"""Private hosted zone and Route 53 Resolver endpoints."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.network.dns import DNS_PORT, DnsArgs, EndpointAddress, ForwardPlan, QueryLogPlan, SitePlan


class Dns(Component):
    """Private hosted zone, and for an environment with a site Route 53 Resolver endpoints in both directions.

    Costs 0.50 USD a month for the zone, about 0.125 USD an hour for each address of an endpoint (two of each direction) and
    0.40 USD for a million queries through them; query logs cost their volume in CloudWatch Logs.
    Protects: each side answers the other side's queries for its own domains only; with `protect`, Pulumi refuses to delete the
    zone, since other programs may have records in it. Opens port 53 of the inbound endpoint to the site's ranges, and port 53 of
    the site's name servers to the outbound endpoint. Opens nothing to the internet.
    """

    zone_id: pulumi.Output[str]
    inbound_addresses: pulumi.Output[list[str]] | None

    def __init__(
        self,
        name: str,
        args: DnsArgs,
        *,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"zone": args.zone}, opts)
        self._name, self._args, self._vpc_id = name, args, vpc_id
        self._subnet_ids = subnet_ids
        self._child_options = pulumi.ResourceOptions(parent=self)
        self._zone = aws.route53.Zone(
            name,
            name=args.zone,
            comment=f"Landbridge {args.cluster}: names in AWS",
            vpcs=[{"vpc_id": vpc_id}],
            force_destroy=not args.protect,
            tags=named(args.tags, args.zone),
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect),
        )
        self.zone_id, self.inbound_addresses = self._zone.zone_id, None
        if args.site is not None:
            self.inbound_addresses = self._inbound(args.site)
            self._outbound(args.site)
        if args.logs is not None:
            self._log(args.logs)
        self.register_outputs({"zoneId": self.zone_id})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `dns` output."""
        return {"zone": self._args.zone, "zone_id": self.zone_id, "inbound_addresses": self.inbound_addresses or []}

    def _inbound(self, site: SitePlan) -> pulumi.Output[list[str]]:
        """Create the inbound Resolver endpoint, which the site's name servers query."""
        group = self._group("inbound", "DNS queries from the site")
        for cidr in site.cidrs:
            for protocol in ("tcp", "udp"):
                aws.vpc.SecurityGroupIngressRule(
                    f"{self._name}-inbound-{cidr}-{protocol}",
                    security_group_id=group.id,
                    cidr_ipv4=cidr,
                    description="name servers of the site",
                    **self._port(protocol),
                )
        endpoint = self._endpoint("inbound", self._args.inbound, group)
        # AWS returns the addresses as a set; sorting gives the same list every time.
        inbound: pulumi.Output[list[str]] = endpoint.ip_addresses.apply(
            lambda all_: sorted(str(address.ip) for address in all_ if address.ip)
        )
        return inbound

    def _outbound(self, site: SitePlan) -> None:
        """Create the outbound Resolver endpoint and its forwarding rules."""
        group = self._group("outbound", "DNS queries to the site")
        for server in site.servers:
            for protocol in ("tcp", "udp"):
                aws.vpc.SecurityGroupEgressRule(
                    f"{self._name}-outbound-{server}-{protocol}",
                    security_group_id=group.id,
                    cidr_ipv4=f"{server}/32",
                    description="a name server of the site",
                    **self._port(protocol),
                )
        endpoint = self._endpoint("outbound", self._args.outbound, group)
        for plan in site.forwards:
            self._forward(plan, site, endpoint)

    def _forward(self, plan: ForwardPlan, site: SitePlan, endpoint: aws.route53.ResolverEndpoint) -> None:
        rule = aws.route53.ResolverRule(
            f"{self._name}-{plan.domain}",
            name=plan.name,
            domain_name=plan.domain,
            rule_type="FORWARD",
            resolver_endpoint_id=endpoint.id,
            target_ips=[{"ip": server, "port": DNS_PORT} for server in site.servers],
            tags=named(self._args.tags, plan.name),
            opts=self._child_options,
        )
        aws.route53.ResolverRuleAssociation(
            f"{self._name}-{plan.domain}",
            name=plan.name,
            resolver_rule_id=rule.id,
            vpc_id=self._vpc_id,
            opts=self._child_options,
        )

    def _endpoint(
        self, direction: str, addresses: Sequence[EndpointAddress], group: aws.ec2.SecurityGroup
    ) -> aws.route53.ResolverEndpoint:
        label = f"{self._args.cluster}-{direction}"
        return aws.route53.ResolverEndpoint(
            f"{self._name}-{direction}",
            name=label,
            direction=direction.upper(),
            resolver_endpoint_type="IPV4",
            protocols=["Do53"],
            security_group_ids=[group.id],
            ip_addresses=[
                {"subnet_id": self._subnet_ids[address.zone], **({"ip": address.ip} if address.ip else {})}
                for address in addresses
            ],
            tags=named(self._args.tags, label),
            opts=self._child_options,
        )

    def _group(self, direction: str, purpose: str) -> aws.ec2.SecurityGroup:
        label = f"{self._args.cluster}-dns-{direction}"
        return aws.ec2.SecurityGroup(
            f"{self._name}-{direction}",
            name=label,
            description=f"Landbridge {self._args.cluster}: {purpose}",
            vpc_id=self._vpc_id,
            tags=named(self._args.tags, label),
            opts=self._child_options,
        )

    def _port(self, protocol: str) -> dict[str, Any]:
        return {
            "ip_protocol": protocol,
            "from_port": DNS_PORT,
            "to_port": DNS_PORT,
            "tags": self._args.tags,
            "opts": self._child_options,
        }

    def _log(self, plan: QueryLogPlan) -> None:
        """Create the Resolver query log config of the VPC: each query with its source."""
        is_protected = self._args.protect
        group = aws.cloudwatch.LogGroup(
            f"{self._name}-dns",
            name=plan.group,
            retention_in_days=plan.retention_days,
            tags=self._args.tags,
            opts=pulumi.ResourceOptions(parent=self, protect=is_protected, retain_on_delete=is_protected),
        )
        config = aws.route53.ResolverQueryLogConfig(
            self._name,
            name=f"{self._args.cluster}-dns",
            destination_arn=group.arn,
            tags=named(self._args.tags, f"{self._args.cluster}-dns"),
            opts=self._child_options,
        )
        aws.route53.ResolverQueryLogConfigAssociation(
            self._name, resolver_query_log_config_id=config.id, resource_id=self._vpc_id, opts=self._child_options
        )
