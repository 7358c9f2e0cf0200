import pulumi
import pulumi_aws as aws

from components.login import Login
from components.parts.account import Account
from landbridge.plan.aws.login import login_args
from landbridge.plan.standalone import standalone_environment

services = {"zone": "use1-az4", "image": "ami-0123456789abcdef0", "login": {"count": 2}}
site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", aws={"services": services})
provider = aws.Provider("aws", region="us-east-1")
network = {"vpc_id": "vpc-1", "subnet_ids": {"use1-az4": "subnet-1"}}
options = pulumi.ResourceOptions(providers=[provider])
Login("lab", login_args(site), account=Account.of(provider), opts=options, **network)
