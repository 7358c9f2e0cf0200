"""`landbridge:index:NodeImage`."""

from pathlib import Path
from typing import Any, NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, whole
from landbridge.node_image import bundle
from landbridge.plan.node_image.args import NodeImageArgs, node_image_args


class NodeImageInputs(OwnedInputs):
    """An image of nodes."""

    build: NotRequired[dict[str, Any]]
    """As build of an image under aws.images in an environment file."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Where it may be built: private subnets by zone id; the first is taken."""


class NodeImage(pulumi.ComponentResource):
    """A pipeline of EC2 Image Builder that runs the cluster's own roles, so that metal and cloud nodes are the same."""

    pipeline_arn: pulumi.Output[str]
    """The pipeline."""

    def __init__(self, name: str, args: NodeImageInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> NodeImageArgs:
            site = site_of(
                args,
                zones=list(args["subnet_ids"]),
                aws={"images": {"node": {"build": whole(args.get("build", {}))}}},
            )
            return node_image_args(site, {})[0]

        wanted = planned(f"NodeImage {name}", plan)
        super().__init__("landbridge:index:NodeImage", name, dict(args), opts)
        made = components.NodeImage(
            name,
            wanted,
            bundle(Path(__file__).parents[2], wanted.variables, wanted.settings),
            account=account_of(self),
            vpc_id=args["vpc_id"],
            subnet_id=next(iter(args["subnet_ids"].values())),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.pipeline_arn = made.pipeline_arn
        self.register_outputs({"pipelineArn": self.pipeline_arn})
