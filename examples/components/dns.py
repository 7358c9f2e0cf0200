import pulumi
import pulumi_aws as aws

from components.dns import Dns
from landbridge.plan.network.dns import dns_args
from landbridge.plan.standalone import standalone_environment

zones = {"use1-az4": "subnet-0a1b2c3d4e5f60718", "use1-az6": "subnet-1a1b2c3d4e5f60718"}
dns = {"resolvers": ["10.20.0.53", "10.20.1.53"]}
site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", zones=list(zones), dns=dns)
plan = dns_args(site)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
if plan is not None:
    Dns("lab", plan, vpc_id="vpc-0a1b2c3d4e5f60718", subnet_ids=zones, opts=options)
