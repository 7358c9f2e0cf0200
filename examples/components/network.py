import pulumi
import pulumi_aws as aws

from components.network import Network
from landbridge.plan.network.network import network_args
from landbridge.plan.standalone import standalone_environment

site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", zones=["use1-az4", "use1-az6"]
)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
network = Network("lab", network_args(site), opts=options)
pulumi.export("vpc", network.vpc_id)
