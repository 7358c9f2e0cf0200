"""Subnet CIDR reservation for fixed addresses."""

import pulumi
import pulumi_aws as aws

from landbridge.plan.network.network import SubnetPlan


def reserved(
    name: str, plan: SubnetPlan, subnet_id: pulumi.Input[str], child_options: pulumi.ResourceOptions
) -> pulumi.Input[str]:
    """The subnet's id, for whoever puts something in it: known once the plan's range is kept, where it has one.

    Otherwise an endpoint that is made at the same time could have the address of a host that is made after it.
    """
    if plan.reserved is None:
        return subnet_id
    subnet_cidr_reservation = aws.ec2.SubnetCidrReservation(
        f"{name}-{plan.zone}-hosts",
        subnet_id=subnet_id,
        cidr_block=plan.reserved,
        reservation_type="explicit",
        description="hosts with planned addresses",
        opts=child_options,
    )
    return pulumi.Output.all(subnet_id, subnet_cidr_reservation.id).apply(lambda ids: str(ids[0]))
