"""Lab for the credentials of jobs: a controller, and a GPU node that is an instance of the emulated AWS."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import boto3

from landbridge.environment import Environment, load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.job_roles import job_roles, node_statements, permissions, trust
from landbridge.plan.policy_document import document
from sandbox.aws_emulator.process import EmulatorProcess, start, wait_ready
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import image_builder
from sandbox.nspawn.site import METADATA, Machine, operator_address, plan

ACCOUNT = "123456789012"
ONPREM, CLOUD = IPv4Network("10.34.0.0/16"), IPv4Network("10.90.0.0/16")
ADDRESSES = {"ctl01": "10.34.0.11", "dgx01": "10.34.1.11"}
SITE = plan(ONPREM, CLOUD, None, (Machine("ctl01", ADDRESSES["ctl01"]), Machine("dgx01", ADDRESSES["dgx01"], gpus=8)))
ENDPOINT = f"http://{operator_address(ONPREM)}:4589"
ABSENT = ("AccountingStorageType", "AccountingStorageHost", "AccountingStorageTRES", "AccountingStorageEnforce")
ROLE = f"arn:aws:iam::{ACCOUNT}:role/credentials"


def environment(folder: Path, release: str) -> Environment:
    """Return an environment with three data classes and one account of each."""
    services: dict[str, Any] = {"controller": ["ctl01"], "login": ["ctl01"]}
    services |= dict.fromkeys(("database", "storage", "gateway", "mlops"), "ctl01")
    nodes = {"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"], "rack": "r1"}
    both = ["onprem", "aws"]
    written: dict[str, Any] = {
        "owner": "jobs@example.org",
        "cost_center": "0000",
        "data_classes": {"internal": {"sites": both}, "partner": {"sites": both}, "restricted": {"sites": ["onprem"]}},
        "users": [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}],
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [nodes],
            "services": services,
            "addresses": {"ctl01": ADDRESSES["ctl01"]},
        },
        "aws": {"cidr": str(CLOUD), "endpoints": {"operator": ENDPOINT, "onprem": ENDPOINT, "cloud": ENDPOINT}},
        "storage": {"home": {"kind": "nfs", "export": "/export/home"}, "data_hub": {"kind": "s3"}},
        "scheduler": {
            "slurm": {"version": release, "packages_mirror": None},
            "cgroup": "v1",
            "accounts": {
                "vision": {"data_class": "internal", "users": ["alice", "bob"]},
                "guests": {"data_class": "partner", "users": ["alice"]},
                "clinic": {"data_class": "restricted", "users": ["alice"]},
            },
            # Lab nodes have two cores but declare a DGX's. Without accounting Slurm accepts every account.
            "overrides": {"slurm_conf": {**dict.fromkeys(ABSENT), "SlurmdParameters": "config_overrides"}},
        },
        "budget": {"monthly_usd": 1000},
    }
    path = folder / "Pulumi.credentials.yaml"
    path.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": written}}))
    loaded = load_environment(path)
    assert loaded.environment is not None, loaded
    return loaded.environment


def configure(lab: Layout, chosen: Environment, book: Path) -> None:
    """Run the roles of a cloud node on the node, with the variables of the plan."""
    planned = inventory(chosen)
    places = planned["all"]["vars"]["landbridge_job_credentials"]
    variables = {**planned["all"]["vars"], **planned["slurm_controller"]["vars"], "slurm_controller_database_host": ""}
    variables |= {"base_create_homes": True, "slurm_common_key": "k" * 64, "slurm_job_environment_aws": places}
    variables |= {"job_credentials_region": places["region"], "job_credentials_endpoint": places["endpoint"]}
    variables |= {"slurm_node_after": ["landbridge-metadata.service"]}
    plays = [
        {"hosts": "all", "gather_facts": False, "roles": ["base"]},
        {"hosts": "ctl01", "gather_facts": False, "roles": ["slurm_controller"]},
        {
            "hosts": "dgx01",
            "gather_facts": False,
            "roles": ["metadata_guard", "slurm_job_environment", "slurm_node", "job_credentials"],
        },
    ]
    book.write_text(json.dumps(plays))
    image_builder.run_playbook(lab, book, ADDRESSES, variables)


@dataclass(frozen=True)
class Account:
    """Resources of the emulated AWS that the attempts name."""

    instance: str
    secret: str

    @staticmethod
    def bucket(data_class: str) -> str:
        return f"credentials-{data_class}-{ACCOUNT}"


@contextmanager
def emulated_aws(lab: Layout, folder: Path) -> Iterator[EmulatorProcess]:
    """Run the emulated AWS in the lab's network, with the metadata service where instances expect it."""
    options = ["--with-parent", "--require-credentials", "--listen", "127.0.0.1:0", "--netns", lab.netns]
    options += ["--listen-netns", ENDPOINT.removeprefix("http://"), "--imds", f"{METADATA}:80", "--boot-delay", "0"]
    process = start(folder, options)
    try:
        yield wait_ready(process, folder)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


def furnish(cloud: EmulatorProcess, chosen: Environment) -> Account:
    """Create the roles, buckets and keys of the plan, and the instance that the lab's node is."""
    lines = cloud.operator_credentials.read_text().splitlines()
    keys = dict(line.split(" = ") for line in lines if " = " in line)
    session = boto3.session.Session(region_name="us-east-1", **keys)
    iam, s3, kms, ec2, secrets = (
        session.client(name, endpoint_url=cloud.endpoint) for name in ("iam", "s3", "kms", "ec2", "secretsmanager")
    )
    place = ArnContext(chosen.name, "aws", "us-east-1", ACCOUNT)
    secret = secrets.create_secret(Name=f"{chosen.name}/slurm-key", SecretString="k")["ARN"]
    by_ec2 = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName=f"{chosen.name}-node", AssumeRolePolicyDocument=document([by_ec2]))
    for plan_ in job_roles(chosen):
        bucket, key = Account.bucket(plan_.data_class), kms.create_key()["KeyMetadata"]["Arn"]
        s3.create_bucket(Bucket=bucket)
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
        s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration=rules)
        s3.put_object(Bucket=bucket, Key="x", Body=b"x")
        iam.create_role(RoleName=plan_.name, AssumeRolePolicyDocument=trust(plan_, place, [f"{ROLE}-node"], None))
        text = document(permissions(plan_, f"arn:aws:s3:::{bucket}", key))
        iam.put_role_policy(RoleName=plan_.name, PolicyName="landbridge", PolicyDocument=text)
    arns = [f"arn:aws:iam::{ACCOUNT}:role/{plan_.name}" for plan_ in job_roles(chosen)]
    text = document(node_statements(place, secret, arns, bound=False))
    iam.put_role_policy(RoleName=f"{chosen.name}-node", PolicyName="landbridge", PolicyDocument=text)
    profile = iam.create_instance_profile(InstanceProfileName="node")["InstanceProfile"]["Arn"]
    iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName=f"{chosen.name}-node")
    vpc = ec2.create_vpc(CidrBlock=str(ONPREM))["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.34.1.0/24", AvailabilityZoneId="use1-az4")["Subnet"]["SubnetId"]
    nic = {"DeviceIndex": 0, "SubnetId": subnet, "PrivateIpAddress": ADDRESSES["dgx01"]}
    instances = ec2.run_instances(
        ImageId="ami-0a11ce5a9db0c5000",
        InstanceType="p5.48xlarge",
        MinCount=1,
        MaxCount=1,
        IamInstanceProfile={"Arn": profile},
        NetworkInterfaces=[nic],
        MetadataOptions={"HttpTokens": "required"},
    )["Instances"]
    assert instances[0]["PrivateIpAddress"] == ADDRESSES["dgx01"], instances
    return Account(instances[0]["InstanceId"], secret)
