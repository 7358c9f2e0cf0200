"""`landbridge:index:Pool`."""

from typing import NotRequired, TypedDict

import pulumi

import components
from components.package.inputs import OwnedInputs, planned, site_of
from landbridge.catalog import instances
from landbridge.findings import did_you_mean
from landbridge.plan.aws.pool import PoolArgs, pool_args


class CapacityInputs(TypedDict):
    """One way of buying, as in an environment file."""

    kind: str
    """on_demand, spot, reservation, reservation_group or capacity_block."""
    zones: NotRequired[list[str]]
    """Zone ids, of on_demand and spot."""
    zone: NotRequired[str]
    """The one zone id of something bought beforehand."""
    reservation: NotRequired[str]
    """cr-..., of a reservation or a capacity block."""
    group: NotRequired[str]
    """The ARN of a reservation group."""


class PoolInputs(OwnedInputs):
    """Equal instances that come and go."""

    pool: str
    """The pool's name."""
    instance_type: str
    """Its interfaces follow from the catalogue: one for each card, with EFA where the type has it."""
    image: str
    """ami-..."""
    max_nodes: int
    """How many there may be at once."""
    capacity: list[CapacityInputs]
    """How they are bought; the launch template is of the first."""
    vpc_id: pulumi.Input[str]
    """Where the security group is."""
    profile_arn: pulumi.Input[str]
    """The nodes' instance profile."""


class Pool(pulumi.ComponentResource):
    """A launch template with the interfaces, placement groups and security group that the type needs. Starts nothing."""

    launch_template_id: pulumi.Output[str]
    """What to launch from."""
    security_group_id: pulumi.Output[str]
    """The nodes' group: everything between themselves, and from on-prem what Slurm and operators use."""

    def __init__(self, name: str, args: PoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> PoolArgs:
            if args["instance_type"] not in instances():
                # Its interfaces would be guessed; an environment's check says the same.
                near = did_you_mean(args["instance_type"], instances())
                raise ValueError(
                    f"unknown instance type {args['instance_type']}" + (f", did you mean {near}?" if near else "")
                )
            pool = {
                "name": args["pool"],
                "instance": args["instance_type"],
                "image": args["image"],
                "max_nodes": int(args["max_nodes"]),
                "capacity": [dict(one) for one in args["capacity"]],
            }
            site = site_of(
                args,
                pools=[pool],
            )
            return pool_args(site, site.aws.pools[0])

        wanted = planned(f"Pool {name}", plan)
        super().__init__("landbridge:index:Pool", name, dict(args), opts)
        made = components.Pool(
            name,
            wanted,
            vpc_id=args["vpc_id"],
            profile_arn=args["profile_arn"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.launch_template_id, self.security_group_id = made.template.id, made.security_group_id
        self.register_outputs({"launchTemplateId": self.launch_template_id, "securityGroupId": self.security_group_id})
