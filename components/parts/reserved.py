"""Subnet CIDR reservation for fixed addresses."""

import pulumi
import pulumi_aws as aws

from landbridge.plan.network.network import SubnetPlan


def reserved(
    name: str, plan: SubnetPlan, subnet_id: pulumi.Input[str], child_options: pulumi.ResourceOptions
) -> pulumi.Input[str]:
    """Return the subnet's id after its CIDR reservation exists.

    Otherwise an endpoint that is created at the same time could get the fixed address of a host.
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
