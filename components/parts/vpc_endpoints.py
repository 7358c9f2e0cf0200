"""VPC endpoints of AWS services."""

from collections.abc import Sequence
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
    subnet_ids: Sequence[pulumi.Input[str]],
    route_table_ids: Sequence[pulumi.Input[str]],
    component: pulumi.Resource,
) -> None:
    """Create gateway endpoints in the route tables, and interface endpoints with an address in every subnet and private
    DNS; the policy of each permits this account's requests.
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
            subnet_ids=subnet_ids,
            security_group_ids=[group.id],
            private_dns_enabled=True,
        )
