import pulumi
import pulumi_aws as aws

from components.accounting_database import AccountingDatabase
from landbridge.plan.aws.accounting_database import accounting_database_args
from landbridge.plan.standalone import standalone_environment

services = {"zone": "use1-az4", "database": {"multi_az": True}}
site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", aws={"services": services})
provider = aws.Provider("aws", region="us-east-1")
network = {"vpc_id": "vpc-1", "subnet_ids": {"use1-az4": "subnet-1", "use1-az5": "subnet-2"}}
key = "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012"
options = pulumi.ResourceOptions(providers=[provider])
AccountingDatabase("lab", accounting_database_args(site), clients={"own": "sg-1"}, key_arn=key, opts=options, **network)
