import pulumi
import pulumi_aws as aws

from components.existing_network import ExistingNetwork
from landbridge.plan.network.network import network_args
from landbridge.plan.standalone import standalone_environment

existing_vpc = {
    "id": "vpc-0a1b2c3d4e5f60718",
    "subnets": {"use1-az4": {"id": "subnet-0a1b2c3d4e5f60718", "cidr": "10.60.0.0/20"}},
}
site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", zones=["use1-az4"], aws={"vpc": existing_vpc}
)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
pulumi.export("vpc", ExistingNetwork("lab", network_args(site), opts=options).vpc_id)
