from pathlib import Path

import pulumi
import pulumi_aws as aws

from components.node_image import NodeImage
from components.parts.account import Account
from landbridge.node_image import bundle
from landbridge.plan.node_image.node_image import node_image_args
from landbridge.plan.standalone import standalone_environment

images = {"images": {"node": {"build": {}}}}
site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", zones=["use1-az4"], aws=images
)
(args,) = node_image_args(site, {})
roles = bundle(Path(__file__).parents[2], args.variables, args.settings)
provider = aws.Provider("aws", region="us-east-1")
network = {"account": Account.of(provider), "vpc_id": "vpc-1", "subnet_id": "subnet-1"}
image = NodeImage(args.name, args, roles, opts=pulumi.ResourceOptions(providers=[provider]), **network)
pulumi.export("pipeline", image.pipeline_arn)
