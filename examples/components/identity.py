import pulumi
import pulumi_aws as aws

from components.identity import Identity
from components.parts.account import Account
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.standalone import standalone_environment

site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1")
provider = aws.Provider("aws", region="us-east-1")
hub = {
    "bucket_arns": {"internal": "arn:aws:s3:::lab"},
    "key_arns": {"internal": "arn:aws:kms:us-east-1:123456789012:key/1"},
}
options = pulumi.ResourceOptions(providers=[provider])
identity = Identity("lab", identity_args(site), account=Account.of(provider), region="us-east-1", opts=options, **hub)
pulumi.export("node_role", identity.node_role_arn)
