"""Ids and ARNs of AWS's form for recorded graphs, so that inputs of an update can be checked against every pattern."""

import hashlib
from typing import Any

from landbridge.catalog import regions
from sandbox.pulumi_provider.recorder import check
from sandbox.pulumi_provider.serialization import Bag
from tests.graph.environments.test_program import ACCOUNT, Answering

#: Prefixes of ids; a resource of another type has its name as its id.
IDS = {
    "aws:ec2/vpc:Vpc": "vpc-",
    "aws:ec2/subnet:Subnet": "subnet-",
    "aws:ec2/securityGroup:SecurityGroup": "sg-",
    "aws:ec2/routeTable:RouteTable": "rtb-",
    "aws:ec2/internetGateway:InternetGateway": "igw-",
    "aws:ec2/natGateway:NatGateway": "nat-",
    "aws:ec2/eip:Eip": "eipalloc-",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt-",
    "aws:ec2/customerGateway:CustomerGateway": "cgw-",
    "aws:ec2/vpnConnection:VpnConnection": "vpn-",
    "aws:ec2/instance:Instance": "i-",
    "aws:ebs/volume:Volume": "vol-",
    "aws:ec2transitgateway/transitGateway:TransitGateway": "tgw-",
    "aws:ec2transitgateway/vpcAttachment:VpcAttachment": "tgw-attach-",
    "aws:ec2transitgateway/routeTable:RouteTable": "tgw-rtb-",
    "aws:fsx/lustreFileSystem:LustreFileSystem": "fs-",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": "fs-",
    "aws:efs/fileSystem:FileSystem": "fs-",
    "aws:route53/resolverEndpoint:ResolverEndpoint": "rslvr-out-",
    "aws:route53/resolverRule:ResolverRule": "rslvr-rr-",
    "aws:route53/resolverQueryLogConfig:ResolverQueryLogConfig": "rqlc-",
}
#: Service, region or none, and the text between account and name of an ARN.
ARNS = {
    "aws:iam/role:Role": ("iam", "", "role/"),
    "aws:iam/policy:Policy": ("iam", "", "policy/"),
    "aws:iam/instanceProfile:InstanceProfile": ("iam", "", "instance-profile/"),
    "aws:lambda/function:Function": ("lambda", "region", "function:"),
    "aws:cloudwatch/logGroup:LogGroup": ("logs", "region", "log-group:"),
    "aws:secretsmanager/secret:Secret": ("secretsmanager", "region", "secret:"),
    "aws:cloudwatch/eventRule:EventRule": ("events", "region", "rule/"),
    "aws:rolesanywhere/trustAnchor:TrustAnchor": ("rolesanywhere", "region", "trust-anchor/"),
    "aws:rolesanywhere/profile:Profile": ("rolesanywhere", "region", "profile/"),
    "aws:imagebuilder/component:Component": ("imagebuilder", "region", "component/"),
    "aws:imagebuilder/imageRecipe:ImageRecipe": ("imagebuilder", "region", "image-recipe/"),
    "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": (
        "imagebuilder",
        "region",
        "infrastructure-configuration/",
    ),
    "aws:imagebuilder/distributionConfiguration:DistributionConfiguration": (
        "imagebuilder",
        "region",
        "distribution-configuration/",
    ),
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": ("ce", "", "anomalymonitor/"),
}
BUCKET, KEY = "aws:s3/bucket:Bucket", "aws:kms/key:Key"


class Lifelike(Answering):
    """Stand-in of AWS in a region that returns ids of the right form, and refuses what any validator refuses."""

    def __init__(self, region: str) -> None:
        self.region, self.partition = region, regions()[region].partition

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        _, state = super().create(token, name, inputs)
        check(token, name, inputs, real=True)
        digest = hashlib.sha256(f"{token} {name}".encode()).hexdigest()
        physical_name = next((str(inputs[key]) for key in ("bucket", "name") if isinstance(inputs.get(key), str)), name)
        id_ = IDS[token] + digest[:17] if token in IDS else physical_name
        service, regional, prefix = ARNS.get(token, (token.split(":")[1].split("/")[0], "region", ""))
        region = self.region if regional else ""
        arn = f"arn:{self.partition}:{service}:{region}:{ACCOUNT}:{prefix}{physical_name}"
        if token == BUCKET:
            arn = f"arn:{self.partition}:s3:::{physical_name}"
        elif token == KEY:
            id_ = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
            arn = f"arn:{self.partition}:kms:{self.region}:{ACCOUNT}:key/{id_}"
        elif service == "imagebuilder":
            arn = f"{arn.lower()}/1.0.0" if prefix in ("component/", "image-recipe/") else arn.lower()
        elif service in ("rolesanywhere", "ce"):
            arn = (
                arn.removesuffix(physical_name)
                + f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
            )
        return id_, {**state, "arn": arn, "keyId": id_, "allocationId": id_}

    def invoke(self, token: str, arguments: Bag) -> dict[str, Any]:
        return {**super().invoke(token, arguments), "partition": self.partition}
