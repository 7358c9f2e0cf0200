import pulumi
import pulumi_aws as aws

from components.governance.flow_logs import FlowLogs
from landbridge.plan.network.flow_logs import flow_logs_args
from landbridge.plan.standalone import standalone_environment

site = standalone_environment(
    "lab", "us-east-1", owner="me@example.org", cost_center="1", zones=["use1-az4"], aws={"logs": {"flow_logs": True}}
)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
FlowLogs("lab", flow_logs_args(site), vpc_id="vpc-0a1b2c3d4e5f60718", opts=options)
