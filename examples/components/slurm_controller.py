import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.slurm_controller import SlurmController
from landbridge.plan.aws.slurm_controller import slurm_controller_args
from landbridge.plan.standalone import standalone_environment

services = {"zone": "use1-az4", "image": "ami-0123456789abcdef0"}
site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", aws={"services": services})
provider = aws.Provider("aws", region="us-east-1")
network = {"vpc_id": "vpc-1", "subnet_ids": {"use1-az4": "subnet-1", "use1-az5": "subnet-2"}, "zone_name": "us-east-1a"}
arns = {
    "node_role_arn": "arn:aws:iam::123456789012:role/node",
    "slurm_key_arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:key",
}
options = pulumi.ResourceOptions(providers=[provider])
SlurmController("lab", slurm_controller_args(site), account=Account.of(provider), opts=options, **network, **arns)
