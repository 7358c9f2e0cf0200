"""Subnet CIDR reservations for planned addresses."""

import pulumi
import pulumi_aws as aws

from landbridge.plan.network.network import SubnetPlan


def reserved(
    name: str, plan: SubnetPlan, subnet_id: pulumi.Input[str], child_options: pulumi.ResourceOptions
) -> pulumi.Input[str]:
    """Return the subnet's id after its CIDR reservations exist.

    Otherwise an endpoint that is created at the same time could get the planned address of a host.
    """
    if not plan.reserved:
        return subnet_id
    reservations = [
        aws.ec2.SubnetCidrReservation(
            f"{name}-{plan.zone}-{reserved_range.name}",
            subnet_id=subnet_id,
            cidr_block=reserved_range.cidr,
            reservation_type="explicit",
            description=reserved_range.why,
            opts=child_options,
        ).id
        for reserved_range in plan.reserved
    ]
    return pulumi.Output.all(subnet_id, *reservations).apply(lambda ids: str(ids[0]))
