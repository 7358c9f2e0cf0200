"""`landbridge:index:SlurmController`."""

from typing import Any, NotRequired

import pulumi

from components import slurm_controller
from components.multilang.inputs import OwnedInputs, environment_of, required_plan, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.access.launch_policy import LaunchTargets, launch_targets
from landbridge.plan.aws.slurm_controller import SlurmControllerArgs, slurm_controller_args


class SlurmControllerInputs(OwnedInputs):
    """Slurm's controller in AWS."""

    services: dict[str, Any]
    """As aws.services in an environment file: zone, image, controller, login, database."""
    pools: NotRequired[list[dict[str, Any]]]
    """As aws.pools in an environment file: the controller may launch their nodes. Default: none."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id, with the services' zone; at least two, for the database."""
    zone_name: pulumi.Input[str]
    """The name of the services' zone, such as us-east-1a."""
    node_role_arn: pulumi.Input[str]
    """The nodes' role, which the controller may pass."""
    pool_role_arns: NotRequired[list[pulumi.Input[str]]]
    """Roles of pools with their own policies, which the controller may pass. Default: none."""
    slurm_key_arn: pulumi.Input[str]
    """The secret of Slurm's key."""


class SlurmController(Adapter):
    """Slurm's controller at a fixed address, a state volume that outlives the instance, and RDS for MariaDB for accounting."""

    role_arn: pulumi.Output[str]
    """The controller's role."""
    security_group_id: pulumi.Output[str]
    """The controller's security group."""

    def __init__(self, name: str, args: SlurmControllerInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=slurm_controller.SlurmController,
            outputs=lambda component: {"role_arn": component.role.arn},
        )


def _plan(args: SlurmControllerInputs) -> SlurmControllerArgs:
    services = with_integers(args["services"])
    zones, pools = list(args["subnet_ids"]), with_integers(args.get("pools", []))
    plan = required_plan(
        slurm_controller_args(environment_of(args, zones=zones, aws={"services": services})), "services"
    )
    # The zones of the subnets need no pools: the pools determine the instance types of launches alone.
    targets = launch_targets(environment_of(args, pools=pools)) if pools else LaunchTargets()
    # RDS needs subnets in two zones: all subnets of the inputs are used.
    database = plan.database.model_copy(update={"zones": tuple(args["subnet_ids"])})
    return plan.model_copy(update={"database": database, "targets": targets})


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1", "use1-az6": "subnet-2"},
    "services": {"zone": "use1-az4", "image": "ami-0123456789abcdef0"},
    "pools": [{"name": "g6e", "instance": "g6e.xlarge", "max_nodes": 2.0, "image": "ami-0123456789abcdef0"}],
    "zone_name": "us-east-1a",
    "node_role_arn": "arn:aws:iam::123456789012:role/node",
    "slurm_key_arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:key",
}
