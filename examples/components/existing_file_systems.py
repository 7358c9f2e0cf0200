import pulumi
import pulumi_aws as aws

from components.existing_file_systems import ExistingFileSystems
from landbridge.plan.aws.storage.existing_file_systems import existing_file_systems_args
from landbridge.plan.standalone import standalone_environment

models = {"kind": "existing_efs", "id": "fs-0a1b2c3d4e5f60718", "data_class": "internal", "mount": "/models"}
site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", storage={"cloud_shares": {"models": models}}
)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
pulumi.export(
    "mounts", ExistingFileSystems("lab", existing_file_systems_args(site), pools={"p5": "sg-1"}, opts=options).mounted()
)
