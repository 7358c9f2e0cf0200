import pulumi
import pulumi_aws as aws

from components.governance.guardrails import Guardrails
from components.parts.account import Account
from landbridge.plan.aws.guardrails import guardrails_args
from landbridge.plan.standalone import standalone_environment

site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1")
provider = aws.Provider("aws", region="us-east-1")
role = {"launch_role_name": "lab-launch", "launch_role_arn": "arn:aws:iam::123456789012:role/lab-launch"}
options = pulumi.ResourceOptions(providers=[provider])
Guardrails("lab", guardrails_args(site), account=Account.of(provider), region="us-east-1", opts=options, **role)
