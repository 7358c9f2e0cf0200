"""VPC endpoints of AWS services."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from landbridge.plan.args import named
from landbridge.plan.network.endpoint_policy import endpoint_policy
from landbridge.plan.network.network import EndpointPlan, NetworkArgs


def vpc_endpoints(
    name: str,
    args: NetworkArgs,
    *,
    vpc_id: pulumi.Input[str],
    subnet_ids: Mapping[str, pulumi.Input[str]],
    zone_names: Mapping[str, pulumi.Input[str]],
    route_table_ids: Sequence[pulumi.Input[str]],
    component: pulumi.Resource,
) -> None:
    """Create gateway endpoints in the route tables, and interface endpoints with private DNS and an address in every subnet
    whose zone has the service; the policy of each permits this account's requests. Subnets and zone names are by zone id.
    """
    child_options = pulumi.ResourceOptions(parent=component)
    account = aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(parent=component)).account_id

    def endpoint(plan: EndpointPlan, **arguments: Any) -> None:
        aws.ec2.VpcEndpoint(
            f"{name}-{plan.service}",
            vpc_id=vpc_id,
            service_name=plan.name,
            policy=account.apply(lambda number: endpoint_policy(args.endpoint_policy, plan.service, number)),
            tags=named(args.tags, f"{args.cluster}-{plan.service}"),
            opts=child_options,
            **arguments,
        )

    # A gateway endpoint without a route table has no effect.
    for plan in args.gateway_endpoints if route_table_ids else ():
        endpoint(plan, vpc_endpoint_type="Gateway", route_table_ids=route_table_ids)
    if not args.interface_endpoints:
        return
    label = f"{args.cluster}-endpoints"
    group = aws.ec2.SecurityGroup(
        f"{name}-endpoints",
        name=label,
        description=f"Landbridge {args.cluster}: services of AWS, inside the VPC",
        vpc_id=vpc_id,
        tags=named(args.tags, label),
        opts=child_options,
    )
    onprem_cidrs = () if args.onprem_cidr is None else (args.onprem_cidr,)
    for index, cidr in enumerate((args.cidr, *args.secondary_cidrs, *onprem_cidrs)):
        aws.vpc.SecurityGroupIngressRule(
            f"{name}-endpoints-{index}",
            security_group_id=group.id,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            cidr_ipv4=cidr,
            description="nodes, and hosts behind the link",
            tags=args.tags,
            opts=child_options,
        )
    for plan in args.interface_endpoints:
        endpoint(
            plan,
            vpc_endpoint_type="Interface",
            subnet_ids=_served(plan, subnet_ids, zone_names, component),
            security_group_ids=[group.id],
            private_dns_enabled=True,
        )


def _served(
    plan: EndpointPlan,
    subnet_ids: Mapping[str, pulumi.Input[str]],
    zone_names: Mapping[str, pulumi.Input[str]],
    component: pulumi.Resource,
) -> pulumi.Output[list[str]]:
    """Return the subnets in zones that have the service: CreateVpcEndpoint refuses the others, and one is enough for its
    private name. Raises ValueError if there is none; `landbridge preflight` says so before."""
    service = aws.ec2.get_vpc_endpoint_service_output(
        service_name=plan.name, service_type="Interface", opts=pulumi.InvokeOutputOptions(parent=component)
    )

    def served(values: Any) -> list[str]:
        zones, names, subnets = values
        # A zone whose name is not known is left to AWS.
        ids = [subnet for name, subnet in zip(names, subnets, strict=True) if not (name and zones) or name in zones]
        if not ids:
            raise ValueError(f"{plan.name} has no endpoint in {', '.join(names)}")
        return ids

    names = [zone_names[zone] for zone in subnet_ids]
    return pulumi.Output.all(service.availability_zones, names, list(subnet_ids.values())).apply(served)
