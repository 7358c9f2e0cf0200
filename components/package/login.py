"""`landbridge:index:Login`."""

from typing import Any

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, wanted_plan, whole
from landbridge.plan.aws.login import LoginArgs, login_args


class LoginInputs(OwnedInputs):
    """Login hosts in AWS."""

    services: dict[str, Any]
    """As aws.services in an environment file: zone, image, controller, login, database."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""


class Login(pulumi.ComponentResource):
    """Equal login hosts at fixed addresses, reached through Systems Manager."""

    security_group_id: pulumi.Output[str]
    """Their security group."""

    def __init__(self, name: str, args: LoginInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> LoginArgs:
            site = site_of(
                args,
                zones=list(args["subnet_ids"]),
                aws={"services": whole(args["services"])},
            )
            return wanted_plan(login_args(site), "login hosts")

        wanted = planned(f"Login {name}", plan)
        super().__init__("landbridge:index:Login", name, dict(args), opts)
        made = components.Login(
            name,
            wanted,
            account=account_of(self),
            vpc_id=args["vpc_id"],
            subnet_ids=args["subnet_ids"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.security_group_id = made.security_group_id
        self.register_outputs({"securityGroupId": self.security_group_id})
