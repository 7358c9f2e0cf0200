import pulumi
import pulumi_aws as aws

from components.model_servers import ModelServers
from landbridge.plan.aws.model_servers import model_servers_args
from landbridge.plan.standalone import standalone_environment

servers = {"zones": {"use1-az4": 2}, "image": "ami-0123456789abcdef0", "public_keys": ["ssh-ed25519 AAAA me"]}
service = {"model": "digits", "data_class": "internal", "replicas": 3, "port": 8500, "accounts": ["research"]}
digits = {**service, "canary": {}, "scale": {"host_rate": 50}}
serving = {"hosts": ["srv01"], "gateway": "gwm01", "aws": servers, "services": {"digits": digits}}
owner = {"owner": "me@example.org", "cost_center": "1", "zones": ["use1-az4"]}
site = standalone_environment("lab", "us-east-1", serving=serving, addresses={"gwm01": "10.20.0.33"}, **owner)
options = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
network = {"vpc_id": "vpc-1", "subnet_ids": {"use1-az4": "subnet-1"}}
ModelServers("lab", model_servers_args(site), opts=options, **network)
