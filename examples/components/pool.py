import pulumi
import pulumi_aws as aws

from components.pool import Pool
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.standalone import standalone_environment

p5 = {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 8, "image": "ami-0a1b2c3d4e5f60718"}
site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", pools=[{**p5, "capacity": [{"kind": "spot"}]}]
)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
profile = "arn:aws:iam::123456789012:instance-profile/node"
pool = Pool("lab-p5", pool_args(site, site.aws.pools[0]), vpc_id="vpc-1", profile_arn=profile, opts=options)
pulumi.export("template", pool.template.id)
