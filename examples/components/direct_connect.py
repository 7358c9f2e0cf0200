import pulumi
import pulumi_aws as aws

from components.direct_connect import DirectConnect
from landbridge.plan.network.direct_connect import direct_connect_args
from landbridge.plan.standalone import standalone_environment

link = {"kind": "direct_connect", "connection": "dxcon-ffabc123", "vlan": 100, "gateway_address": "169.254.80.1"}
site = standalone_environment("lab", "us-east-1", owner="me@example.org", cost_center="1", link=link)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
direct_connect = DirectConnect(
    "lab", direct_connect_args(site, site.link), transit_gateway_id="tgw-0a1b2c3d4e5f60718", opts=options
)
pulumi.export("attachment", direct_connect.attachment_id)
