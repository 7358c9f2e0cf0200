import pulumi
import pulumi_aws as aws

from components.data_hub import DataHub
from components.parts.account import Account
from landbridge.plan.aws.storage.data_hub import data_hub_args
from landbridge.plan.standalone import standalone_environment

site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", classes=["internal", "public"]
)
provider = aws.Provider("aws", region="us-east-1")
hub = DataHub(
    "lab", data_hub_args(site), account=Account.of(provider), opts=pulumi.ResourceOptions(providers=[provider])
)
pulumi.export("buckets", {name: bucket.bucket for name, bucket in hub.buckets.items()})
