"""`landbridge:index:SlurmController`."""

from typing import Any

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, wanted_plan, whole
from landbridge.plan.aws.slurm_controller import SlurmControllerArgs, slurm_controller_args


class SlurmControllerInputs(OwnedInputs):
    """A controller in AWS."""

    services: dict[str, Any]
    """As aws.services in an environment file: zone, image, controller, login, database."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id, the services' own among them: two at least, for the database."""
    zone_name: pulumi.Input[str]
    """The name of the services' zone, such as us-east-1a."""
    node_role_arn: pulumi.Input[str]
    """The nodes' role, which it may pass."""
    slurm_key_arn: pulumi.Input[str]
    """The secret of Slurm's key."""


class SlurmController(pulumi.ComponentResource):
    """Slurm's controller at a fixed address, a state volume that outlives it, and MariaDB for accounting."""

    role_arn: pulumi.Output[str]
    """Its role."""
    security_group_id: pulumi.Output[str]
    """Its security group."""

    def __init__(self, name: str, args: SlurmControllerInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> SlurmControllerArgs:
            site = site_of(
                args,
                zones=list(args["subnet_ids"]),
                aws={"services": whole(args["services"])},
            )
            found = wanted_plan(slurm_controller_args(site), "services")
            # The database may stand wherever there is a subnet: RDS wants two zones, and these are the ones that there are.
            database = found.database.model_copy(update={"zones": tuple(args["subnet_ids"])})
            return found.model_copy(update={"database": database})

        wanted = planned(f"SlurmController {name}", plan)
        super().__init__("landbridge:index:SlurmController", name, dict(args), opts)
        made = components.SlurmController(
            name,
            wanted,
            account=account_of(self),
            vpc_id=args["vpc_id"],
            subnet_ids=args["subnet_ids"],
            zone_name=args["zone_name"],
            node_role_arn=args["node_role_arn"],
            slurm_key_arn=args["slurm_key_arn"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.role_arn = made.role.arn
        self.security_group_id = made.security_group_id
        self.register_outputs({"roleArn": self.role_arn, "securityGroupId": self.security_group_id})
