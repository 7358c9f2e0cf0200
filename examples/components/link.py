import pulumi
import pulumi_aws as aws

from components.link import Link
from landbridge.plan.network.link import link_args
from landbridge.plan.standalone import standalone_environment

vpn = {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010}
site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", link=vpn)
vpc = {"vpc_id": "vpc-0a1b2c3d4e5f60718", "subnet_ids": ["subnet-1"], "route_table_ids": {"use1-az4": "rtb-1"}}
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
pulumi.export("tunnels", Link("lab", link_args(site), opts=options, **vpc).tunnels)
