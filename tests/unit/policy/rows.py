"""Resources that comply with each policy, and resources that violate it."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from landbridge.policy import PolicySettings, Resource

TAGS = {"landbridge:cluster": "c", "landbridge:owner": "o", "landbridge:cost-center": "1"}
TEMPLATE, INSTANCE = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/instance:Instance"
INGRESS, EGRESS = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)
GROUP, RULE = "aws:ec2/securityGroup:SecurityGroup", "aws:ec2/securityGroupRule:SecurityGroupRule"
BUCKET, BLOCK, SHUT = (
    "aws:s3/bucket:Bucket",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    dict.fromkeys(("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"), True),
)
BUCKET_POLICY, ACL = "aws:s3/bucketPolicy:BucketPolicy", "aws:s3/bucketAcl:BucketAcl"
VPN, ROLE, ROLE_POLICY = "aws:ec2/vpnConnection:VpnConnection", "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
LUSTRE, EFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem"
ZFS, VOLUME = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "aws:ebs/volume:Volume"
Props = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """Policy with resources `bad` that violate it, a part of the violation's message, and compliant resources `good`."""

    policy: str
    bad: tuple[Resource, ...]
    message: str
    good: tuple[Resource, ...]
    settings: PolicySettings = field(default_factory=PolicySettings)


def resource(
    kind: str, /, name: str = "x", protect: bool | None = None, retained: bool = False, **props: Any
) -> Resource:
    return Resource(kind, name, props, f"urn::{name}", f"{name}-id", protect, retained)


def row(policy: str, kind: str, bad: Props, message: str, good: Props, **settings: Any) -> Row:
    return Row(policy, (resource(kind, **bad),), message, (resource(kind, **good),), PolicySettings(**settings))


def document(**statement: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})


def data(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def disk(on: str) -> list[Props]:
    return [{"deviceName": "/dev/xvda", "ebs": {"encrypted": on}}]


def gp3(gib: int, **more: Any) -> list[Props]:
    return [{"deviceName": "/dev/xvda", "ebs": {"volumeType": "gp3", "volumeSize": gib, "encrypted": "true", **more}}]


def nics(*kinds: tuple[int, int, str], **more: Any) -> list[Props]:
    return [{"networkCardIndex": c, "deviceIndex": d, "interfaceType": kind, **more} for c, d, kind in kinds]


def tunnels(groups: list[int], integrity: str = "SHA2-384", ike: str = "ikev2") -> Props:
    properties: Props = {}
    for number in (1, 2):
        properties[f"tunnel{number}IkeVersions"] = [ike]
        for phase in ("Phase1", "Phase2"):
            properties[f"tunnel{number}{phase}DhGroupNumbers"] = groups
            properties[f"tunnel{number}{phase}IntegrityAlgorithms"] = [integrity]
    return properties


TLS_ONLY = json.dumps(
    {
        "Statement": [
            {
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            }
        ]
    }
)
FABRIC = nics((0, 0, "interface"), (0, 1, "efa-only"), securityGroups=["g-id"])
SELF = {"securityGroupId": "g-id", "referencedSecurityGroupId": "g-id", "ipProtocol": "-1"}
OPTIONS = {"httpTokens": "required", "httpPutResponseHopLimit": 1}

ROWS = [
    row("imds-v2", TEMPLATE, {"metadataOptions": {"httpTokens": "optional"}}, "httpTokens", {"metadataOptions": OPTIONS}),
    row("imds-v2", TEMPLATE, {}, "httpTokens", {"metadataOptions": {"httpEndpoint": "disabled"}}),
    row("imds-v2", INSTANCE, {"metadataOptions": {**OPTIONS, "httpPutResponseHopLimit": 3}}, "3 hops", {"metadataOptions": OPTIONS}),
    row("encrypted-disks", TEMPLATE, {"blockDeviceMappings": disk("false")}, "[0].ebs", {"blockDeviceMappings": disk("true")}),
    row("encrypted-disks", INSTANCE, {}, "rootBlockDevice", {"rootBlockDevice": {"encrypted": True}}),
    row(
        "no-group-with-block",
        TEMPLATE,
        {"instanceMarketOptions": {"marketType": "capacity-block"}, "placement": {"groupName": "g"}},
        "Capacity Block",
        {"instanceMarketOptions": {"marketType": "spot"}, "placement": {"groupName": "g"}},
    ),
    row("no-secret-in-user-data", TEMPLATE, {"userData": data("key: AKIAABCDEFGHIJKLMNOP")}, "access key", {"userData": data("echo hi")}),
    row(
        "no-secret-in-user-data",
        INSTANCE,
        {"userData": "#!/bin/sh\nDB_PASSWORD=hunter2000\n"},
        "literal",
        {"userData": "#!/bin/sh\nDB_PASSWORD=$(aws secretsmanager get-secret-value)\ntoken_file: /run/token\n"},
    ),
    row(
        "no-secret-in-user-data",
        "aws:lambda/function:Function",
        {"environment": {"variables": {"API_TOKEN": "abcdefgh"}}},
        "environment.variables",
        {"environment": {"variables": {"REGION": "us-east-1"}}},
    ),
    row("efa-interfaces", TEMPLATE, {"networkInterfaces": nics((0, 0, "efa-only"))}, "cannot be efa-only", {"networkInterfaces": FABRIC}),
    row("efa-interfaces", TEMPLATE, {"networkInterfaces": nics((1, 1, "efa"))}, "no primary", {"networkInterfaces": FABRIC}),
    row(
        "efa-interfaces",
        TEMPLATE,
        {"networkInterfaces": nics((0, 0, "efa"), (0, 1, "efa-only"))},
        "card 0 has more than one EFA",
        {},
    ),
    row(
        "no-public-address",
        TEMPLATE,
        {"networkInterfaces": nics((0, 0, "efa"), (1, 1, "efa"), associatePublicIpAddress="true")},
        "associatePublicIpAddress",
        {"networkInterfaces": nics((0, 0, "interface"), associatePublicIpAddress="true")},
    ),
    row("allowed-types", TEMPLATE, {"instanceType": "p6e-gb200.36xlarge"}, "p6e", {"instanceType": "p5.48xlarge"}, instance_types=("p5.48xlarge",)),
    row(
        "tags-at-launch",
        TEMPLATE,
        {"tagSpecifications": [{"resourceType": "instance", "tags": TAGS}]},
        "volume lacks",
        {"tagSpecifications": [{"resourceType": kind, "tags": TAGS} for kind in ("instance", "volume")]},
    ),
    row(
        "efa-interfaces",
        TEMPLATE,
        {"instanceType": "g6e.xlarge", "networkInterfaces": FABRIC},
        "g6e.xlarge takes no interface of type efa-only",
        {"instanceType": "p5.48xlarge", "networkInterfaces": FABRIC},
    ),
    row("possible-disks", TEMPLATE, {"blockDeviceMappings": gp3(100, iops=90_000)}, ".0.ebs.iops", {"blockDeviceMappings": gp3(100)}),
    row("possible-disks", VOLUME, {"type": "gp3", "size": 20, "iops": 16_000}, "on 20 GiB", {"type": "gp3", "size": 32, "iops": 16_000}),
    row("possible-disks", INSTANCE, {"rootBlockDevice": {"volumeType": "gp3", "throughput": 1000}}, "at 3000 IOPS", {"rootBlockDevice": {"volumeType": "gp3"}}),
    row("possible-disks", VOLUME, {"type": "st1", "size": 500, "iops": 3000}, "no choice of IOPS", {"type": "io2", "size": 4, "iops": 100}),
    row("possible-ports", INGRESS, {"ipProtocol": "tcp"}, "without ports", {"ipProtocol": "-1"}),
    row("possible-ports", EGRESS, {"ipProtocol": "17", "fromPort": 9, "toPort": 8}, "backwards", {"ipProtocol": "icmp", "fromPort": 8, "toPort": 0}),
    row("possible-ports", INGRESS, {"ipProtocol": "tcp", "fromPort": 443, "toPort": 70_000}, "65535", {"ipProtocol": "tcp", "fromPort": None, "toPort": 1}),
    row("possible-tags", BUCKET, {"tags": {f"k{number}": "v" for number in range(51)}}, "51 tags", {"tags": {"k": "v"}}),
    row("possible-tags", BUCKET, {"tags": {"aws:mine": "v"}}, "only AWS sets", {"tags": {"Aws": None}}),
    row("possible-tags", BUCKET, {"tags": {"k": "<v>"}}, "cannot have", {"tags": {"k": "v@x"}}),
    row("possible-tags", INSTANCE, {"metadataOptions": {"instanceMetadataTags": "enabled"}, "tags": {"a/b": "v"}}, '"a/b"', {"metadataOptions": {"instanceMetadataTags": "disabled"}, "tags": {"a/b": "v"}}),
    row("possible-file-systems", LUSTRE, {"deploymentType": "PERSISTENT_2", "storageCapacity": 5000}, "no size of 5000", {"deploymentType": "PERSISTENT_2", "storageCapacity": 4800}),
    row("possible-file-systems", ZFS, {"deploymentType": "SINGLE_AZ_HA_2", "storageCapacity": 10, "throughputCapacity": 320}, "64 to", {"deploymentType": "SINGLE_AZ_HA_2", "storageCapacity": 64}),
    row("possible-file-systems", EFS, {"performanceMode": "maxIO", "throughputMode": "elastic"}, "exclude each other", {"throughputMode": "elastic"}),
    row("possible-file-systems", EFS, {"throughputMode": "provisioned"}, "needs provisioned_mibps", {"throughputMode": "provisioned", "provisionedThroughputInMibps": None}),
    row("encrypted-at-rest", EFS, {}, "encrypted", {"encrypted": True}),
    row("encrypted-at-rest", "aws:rds/instance:Instance", {"storageEncrypted": False}, "storageEncrypted", {"storageEncrypted": True}),
    row("encrypted-at-rest", "aws:ec2/amiCopy:AmiCopy", {}, "encrypted", {"encrypted": True}),
    row("own-key", LUSTRE, {"deploymentType": "PERSISTENT_2"}, "kmsKeyId", {"deploymentType": "SCRATCH_2"}),
    row(
        "bucket-key",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]},
        "aws:kms",
        {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms"}}]},
    ),
    row("no-public-bucket", BLOCK, {**SHUT, "ignorePublicAcls": False}, "ignorePublicAcls", SHUT),
    row("no-public-bucket", ACL, {"acl": "public-read"}, "public-read", {"acl": "private"}),
    row("no-public-bucket", BUCKET_POLICY, {"policy": document(Principal="*", Action="s3:GetObject")}, "every principal", {"policy": TLS_ONLY}),
    row("bucket-tls", BUCKET_POLICY, {"policy": document(Principal={"AWS": "1"}, Action="s3:GetObject")}, "SecureTransport", {"policy": TLS_ONLY}),
    row("key-rotation", "aws:kms/key:Key", {}, "enableKeyRotation", {"enableKeyRotation": True}),
    row("closed-database", "aws:rds/instance:Instance", {"publiclyAccessible": True}, "publicly", {}),
    row("logs-end", "aws:cloudwatch/logGroup:LogGroup", {}, "never deleted", {"retentionInDays": 30}),
    row("protected-data", BUCKET, {"protect": False}, "neither protect", {"protect": True}),
    row("protected-data", LUSTRE, {"protect": False}, "every file", {"protect": False, "retained": True}),
    row("no-world-ingress", INGRESS, {"cidrIpv4": "0.0.0.0/0", "fromPort": 22}, "0.0.0.0/0", {"cidrIpv4": "10.0.0.0/8"}),
    row("no-world-ingress", INGRESS, {"cidrIpv6": "::/0"}, "::/0", {"cidrIpv6": "fd00::/8"}),
    row("no-world-ingress", INGRESS, {"cidrIpv4": "0.0.0.0/0", "fromPort": 443, "toPort": 444}, "0.0.0.0/0", {"cidrIpv4": "0.0.0.0/0", "fromPort": 443, "toPort": 443}, world_ports=(443,)),
    row("no-world-ingress", RULE, {"type": "ingress", "cidrBlocks": ["0.0.0.0/0"]}, "0.0.0.0/0", {"type": "egress", "cidrBlocks": ["0.0.0.0/0"]}),
    row("no-world-ingress", GROUP, {"ingress": [{"cidrBlocks": ["0.0.0.0/0"]}]}, "ingress[0]", {"egress": [{"cidrBlocks": ["0.0.0.0/0"]}]}),
    row("no-world-ingress", "aws:ec2/networkAclRule:NetworkAclRule", {"ruleAction": "allow", "cidrBlock": "0.0.0.0/0"}, "0.0.0.0/0", {"ruleAction": "deny", "cidrBlock": "0.0.0.0/0"}),
    row("default-group-closed", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", {"egress": [{"protocol": "-1"}]}, "egress", {"egress": []}),
    row("strong-vpn", VPN, tunnels([14, 20]), "under 19", tunnels([20])),
    row("strong-vpn", VPN, tunnels([20], "SHA1"), "SHA1", tunnels([20])),
    row("strong-vpn", VPN, tunnels([20], ike="ikev1"), "ikev2", tunnels([14]), least_dh_group=14),
    row(
        "closed-kubernetes",
        "aws:eks/cluster:Cluster",
        {"vpcConfig": {"publicAccessCidrs": ["0.0.0.0/0"]}, "encryptionConfig": {}},
        "for the whole internet",
        {"vpcConfig": {"endpointPublicAccess": False}, "encryptionConfig": {"resources": ["secrets"]}},
    ),
    row("private-subnets", "aws:ec2/subnet:Subnet", {"mapPublicIpOnLaunch": True}, "mapPublic", {}),
    row("no-star-iam", ROLE_POLICY, {"policy": document(Action="*", Resource="arn:aws:s3:::a")}, "action *", {"policy": document(Action="s3:GetObject", Resource="arn:aws:s3:::a/*")}),
    row("no-star-iam", ROLE_POLICY, {"policy": document(Action=["s3:*"], Resource="arn:aws:s3:::a")}, "s3:*", {"policy": document(Action="ec2:DescribeInstances", Resource="*")}),
    row("no-star-iam", ROLE_POLICY, {"policy": document(Action="ec2:RunInstances", Resource="*")}, "every resource", {"policy": document(Action="ec2:RunInstances", Resource="*", Condition={"StringEquals": {}})}),
    row("no-star-iam", ROLE, {"inlinePolicies": [{"policy": document(NotAction="iam:*", Resource="*")}]}, "everything except", {"inlinePolicies": []}),
    row("no-static-keys", "aws:iam/accessKey:AccessKey", {}, "long-lived", {}),
    row("no-administrators", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", {"policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}, "Administrator", {"policyArn": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"}),
    row("narrow-trust", ROLE, {"assumeRolePolicy": document(Principal={"AWS": "*"}, Action="sts:AssumeRole")}, "every principal", {"assumeRolePolicy": document(Principal={"Service": "ec2.amazonaws.com"}, Action="sts:AssumeRole")}),
    row("tagged", BUCKET, {"tags": {"landbridge:cluster": "c"}}, "landbridge:owner", {"tags": TAGS}),
    row("allowed-regions", BUCKET, {"region": "eu-west-1"}, "eu-west-1", {"region": "us-east-1"}, regions=("us-east-1",)),
    Row(
        "efa-self-rule",
        (resource(TEMPLATE, networkInterfaces=FABRIC), resource(INGRESS, **SELF)),
        "all traffic out",
        (resource(TEMPLATE, networkInterfaces=FABRIC), resource(INGRESS, **SELF), resource(EGRESS, **SELF)),
    ),
    Row(
        "efa-self-rule",
        (resource(TEMPLATE, networkInterfaces=FABRIC), resource(INGRESS, **{**SELF, "ipProtocol": "tcp"}), resource(EGRESS, **SELF)),
        "all traffic in",
        (resource(TEMPLATE, networkInterfaces=nics((0, 0, "interface"), securityGroups=["g-id"])),),
    ),
    Row(
        "buckets-are-closed",
        (resource(BUCKET, "b", bucket="b"), resource(BLOCK, "b", bucket="b-id")),
        "has no policy",
        (resource(BUCKET, "b", bucket="b"), resource(BLOCK, "b", bucket="b-id"), resource(BUCKET_POLICY, "b", bucket="b-id")),
    ),
    Row(
        "rules-fit",
        tuple(resource(EGRESS, f"r{number}", securityGroupId="g-id") for number in range(61)),
        "61 rules in a security group; AWS allows 60 each way (out)",
        (*(resource(EGRESS, f"r{number}", securityGroupId="g-id") for number in range(60)), *(resource(INGRESS) for _ in range(61))),
    ),
    Row("flow-logs", (resource("aws:ec2/vpc:Vpc"),), "flow log", (resource("aws:ec2/vpc:Vpc"), resource("aws:ec2/flowLog:FlowLog", vpcId="x-id"))),
    Row("budget-alarm", (resource(TEMPLATE),), "no budget", (resource(TEMPLATE), resource("aws:budgets/budget:Budget"))),
]  # fmt: skip
