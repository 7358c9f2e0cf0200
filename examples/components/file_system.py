import pulumi
import pulumi_aws as aws

from components.file_system import FileSystem
from components.parts.account import Account
from landbridge.plan.aws.storage.file_system import file_system_args
from landbridge.plan.standalone import standalone_environment

share = {"cloud_scratch": {"kind": "fsx_lustre", "capacity_gib": 4800, "zone": "use1-az4"}}
site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", zones=["use1-az4"], storage=share
)
provider = aws.Provider("aws", region="us-east-1")
network = {"vpc_id": "vpc-1", "subnet_ids": {"use1-az4": "subnet-1"}, "clients": {"unused": "sg-1"}}
options = pulumi.ResourceOptions(providers=[provider])
FileSystem("lab", file_system_args(site)[0], account=Account.of(provider), opts=options, **network)
