"""`landbridge:index:Pool`."""

from typing import NotRequired, TypedDict

import pulumi

from components import pool
from components.multilang.inputs import OwnedInputs, environment_of
from components.parts.adapter import Adapter
from landbridge.catalog import instances
from landbridge.findings import did_you_mean
from landbridge.plan.aws.pool import PoolArgs, pool_args


class CapacityInputs(TypedDict):
    """Capacity of a pool, as in an environment file."""

    kind: str
    """on_demand, spot, reservation, reservation_group or capacity_block."""
    zones: NotRequired[list[str]]
    """Zone ids, for on_demand and spot."""
    zone: NotRequired[str]
    """The zone id of a reservation or a capacity block."""
    reservation: NotRequired[str]
    """cr-..., of a reservation or a capacity block."""
    group: NotRequired[str]
    """The ARN of a reservation group."""


class PoolInputs(OwnedInputs):
    """A pool of equal EC2 instances."""

    pool: str
    """The pool's name."""
    instance_type: str
    """The EC2 instance type; the catalogue has its network interfaces, with EFA if the type supports it."""
    image: str
    """The AMI's id: ami-..."""
    max_nodes: int
    """The largest number of nodes at the same time."""
    capacity: list[CapacityInputs]
    """Capacity in the order of preference; the launch template is made for the first."""
    vpc_id: pulumi.Input[str]
    """The VPC of the security group."""
    profile_arn: pulumi.Input[str]
    """The nodes' instance profile."""


class Pool(Adapter):
    """A launch template with the network interfaces, placement groups and security group of the instance type. Starts no instance."""

    launch_template_id: pulumi.Output[str]
    """The launch template."""
    security_group_id: pulumi.Output[str]
    """The nodes' security group: all traffic between the nodes, and from on-prem the ports of Slurm and of operators."""

    def __init__(self, name: str, args: PoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=pool.Pool,
            outputs=lambda component: {"launch_template_id": component.template.id},
        )


def _plan(args: PoolInputs) -> PoolArgs:
    if args["instance_type"] not in instances():
        # The catalogue has no interfaces of an unknown type; an environment's check refuses it too.
        near = did_you_mean(args["instance_type"], instances())
        hint = f", did you mean {near}?" if near else ""
        raise ValueError(f"unknown instance type {args['instance_type']}{hint}")
    settings = {
        "name": args["pool"],
        "instance": args["instance_type"],
        "image": args["image"],
        "max_nodes": int(args["max_nodes"]),
        "capacity": [dict(capacity) for capacity in args["capacity"]],
    }
    environment = environment_of(args, pools=[settings])
    return pool_args(environment, environment.aws.pools[0])


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "pool": "p5",
    "instance_type": "p5.48xlarge",
    "image": "ami-0a1b2c3d4e5f60718",
    "max_nodes": 4.0,
    "capacity": [{"kind": "on_demand", "zones": ["use1-az4"]}],
    "vpc_id": "vpc-1",
    "profile_arn": "arn:aws:iam::123456789012:instance-profile/node",
}
