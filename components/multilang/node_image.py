"""`landbridge:index:NodeImage`."""

from pathlib import Path
from typing import Any, NotRequired

import pulumi

from components import node_image
from components.multilang.inputs import OwnedInputs, environment_of, with_integers
from components.parts.adapter import Adapter
from landbridge.node_image import bundle
from landbridge.plan.node_image.node_image import NodeImageArgs, node_image_args

CHECKOUT = Path(__file__).parents[2]


class NodeImageInputs(OwnedInputs):
    """A node image."""

    build: NotRequired[dict[str, Any]]
    """As build of an image under aws.images in an environment file."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id; the image is built in the first."""


class NodeImage(Adapter):
    """An EC2 Image Builder pipeline that runs the cluster's own roles, so that nodes on-prem and in AWS are the same."""

    pipeline_arn: pulumi.Output[str]
    """The image pipeline."""

    def __init__(self, name: str, args: NodeImageInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            name,
            args,
            opts,
            plan=_plan,
            component=node_image.NodeImage,
            arguments=lambda plan: {
                "archive": bundle(CHECKOUT, plan.variables, plan.settings),
                "subnet_id": next(iter(args["subnet_ids"].values())),
            },
        )


def _plan(args: NodeImageInputs) -> NodeImageArgs:
    images = {"node": {"build": with_integers(args.get("build", {}))}}
    environment = environment_of(args, zones=list(args["subnet_ids"]), aws={"images": images})
    return node_image_args(environment, {})[0]


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1", "use1-az6": "subnet-2"},
    "build": {},
}
