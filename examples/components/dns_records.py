import pulumi
import pulumi_aws as aws

from components.dns_records import DnsRecords
from landbridge.plan.network.dns_records import DnsRecordsArgs

plan = DnsRecordsArgs(cluster="lab", zone="aws.example.org")
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
aliases = {"scratch": "fs-0a1b2c3d4e5f60718.fsx.us-east-1.amazonaws.com"}
DnsRecords("lab", plan, zone_id="Z0123456789ABC", aliases=aliases, opts=options)
