"""`landbridge:index:ModelServers`."""

from typing import Any

import pulumi

from components import model_servers
from components.multilang.inputs import OwnedInputs, environment_of, required_plan, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.model_servers import ModelServersArgs, model_servers_args

_SITE, _GATEWAY = "models", "model-gateway"


class ModelServersInputs(OwnedInputs):
    """Hosts of model servers in AWS."""

    gateway_address: str
    """The address of the model gateway on-prem, the only client of the model servers."""
    model_servers: dict[str, Any]
    """As serving.aws in an environment file: zones, instance, root_volume_gib, image, public_keys."""
    port: int
    """The port of the model servers; the second slot has the next one."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""


class ModelServers(Adapter):
    """Hosts of model servers at fixed addresses, without a role, which a gateway on-prem starts and stops."""

    security_group_id: pulumi.Output[str]
    """The hosts' security group."""

    def __init__(self, name: str, args: ModelServersInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=model_servers.ModelServers)


def _plan(args: ModelServersInputs) -> ModelServersArgs:
    settings = with_integers(args["model_servers"])
    service = {
        "model": "any",
        "data_class": "internal",
        "replicas": 1 + sum(settings["zones"].values()),
        "port": int(args["port"]),
        "accounts": ["any"],
        "canary": {},
        "scale": {"host_rate": 1},
    }
    serving = {"hosts": [_SITE], "gateway": _GATEWAY, "aws": settings, "services": {"any": service}}
    environment = environment_of(
        args, zones=list(args["subnet_ids"]), serving=serving, addresses={_GATEWAY: args["gateway_address"]}
    )
    return required_plan(model_servers_args(environment), "model servers")


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "gateway_address": "10.20.0.33",
    "port": 8500.0,
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1"},
    "model_servers": {
        "zones": {"use1-az4": 2.0},
        "image": "ami-0123456789abcdef0",
        "public_keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG2 operator@example.org"],
    },
}
