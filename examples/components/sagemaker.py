import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.sagemaker import SageMaker
from landbridge.plan.aws.sagemaker import sagemaker_args
from landbridge.plan.standalone import standalone_environment

plan = sagemaker_args(
    standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", mlops={"sagemaker": {}})
)
provider = aws.Provider("aws", region="us-east-1")
network = {"vpc_id": "vpc-0a1b2c3d4e5f60718", "subnet_ids": {"use1-az4": "subnet-0a1b2c3d4e5f60718"}}
keys = {"internal": "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"}
hub = {"bucket_arns": {"internal": "arn:aws:s3:::lab-internal-123456789012"}, "key_arns": keys}
options = pulumi.ResourceOptions(providers=[provider])
if plan is not None:
    SageMaker("lab", plan, account=Account.of(provider), region="us-east-1", opts=options, **network, **hub)
