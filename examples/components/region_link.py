import pulumi
import pulumi_aws as aws

from components.parts.home_transit_gateway import HomeTransitGateway
from components.region_link import RegionLink
from landbridge.plan.network.region_link import region_link_args
from landbridge.plan.standalone import standalone_environment

other_regions = {"us-east-2": {"cidr": "10.70.0.0/16", "pools": {"p5": {"capacity": [{"kind": "on_demand"}]}}}}
site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", aws={"other_regions": other_regions}
)
tables = {key: pulumi.Output.from_input(f"tgw-rtb-{key}") for key in ("sites", "vpc", "regions")}
home = HomeTransitGateway(pulumi.Output.from_input("tgw-0a1b2c3d4e5f60718"), tables, {"use1-az4": "rtb-1"})
vpc = {"vpc_id": "vpc-0a1b2c3d4e5f60718", "subnet_ids": ["subnet-1"], "route_table_ids": {"use2-az1": "rtb-2"}}
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
region_link = RegionLink("lab", region_link_args(site, "us-east-2"), home=home, opts=options, **vpc)
pulumi.export("gateway", region_link.transit_gateway_id)
