"""`landbridge:index:Login`."""

from typing import Any

import pulumi

from components import login
from components.multilang.inputs import OwnedInputs, environment_of, required_plan, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.login import LoginArgs, login_args


class LoginInputs(OwnedInputs):
    """Login hosts in AWS."""

    services: dict[str, Any]
    """As aws.services in an environment file: zone, image, controller, login, database."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""


class Login(Adapter):
    """Equal login hosts at fixed addresses, reached through Systems Manager."""

    security_group_id: pulumi.Output[str]
    """The login hosts' security group."""

    def __init__(self, name: str, args: LoginInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=login.Login)


def _plan(args: LoginInputs) -> LoginArgs:
    services = with_integers(args["services"])
    environment = environment_of(args, zones=list(args["subnet_ids"]), aws={"services": services})
    return required_plan(login_args(environment), "login hosts")


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1", "use1-az6": "subnet-2"},
    "services": {"zone": "use1-az4", "image": "ami-0123456789abcdef0", "login": {"count": 2.0}},
}
