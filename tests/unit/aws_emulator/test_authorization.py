"""Requests with the keys of an instance or of an assumed role have the permissions of that role and no others."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.job_roles import JobRolePlan, node_statements, permissions, trust
from landbridge.plan.policy_document import document
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import ONCE, build, client_of
from tests.unit.aws_emulator.instances.test_emulator_metadata import Machine

ACCOUNT = "123456789012"
PLACE = ArnContext("sandbox", "aws", "us-east-1", ACCOUNT)
ROLE = f"arn:aws:iam::{ACCOUNT}:role/sandbox"
EC2_TRUST = document([{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}])


@dataclass(frozen=True)
class Site:
    """Account with a node, and the roles, buckets, keys and secrets of two data classes."""

    cloud: EmulatorProcess
    #: Client of a service with the credentials of the node.
    node: Callable[[str], Any]

    def job(self, service: str, data_class: str = "internal", **words: Any) -> Any:
        """Return a client with the credentials of a job, as the node starts its session."""
        return client(self.cloud, service, self.session(data_class, **words))

    def session(self, data_class: str = "internal", **words: Any) -> dict[str, str]:
        request = {"RoleArn": f"{ROLE}-job-{data_class}", "RoleSessionName": "job-7", "SourceIdentity": "alice"}
        return dict(self.node("sts").assume_role(**{**request, **words})["Credentials"])


def client(cloud: EmulatorProcess, service: str, keys: dict[str, str]) -> Any:
    return boto3.client(
        service,
        region_name="us-east-1",
        endpoint_url=cloud.endpoint,
        config=ONCE,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys.get("Token") or keys["SessionToken"],
    )


@pytest.fixture
def site(cloud: EmulatorProcess) -> Site:
    """Return an account with the policies of the plan."""
    iam, ec2, s3, kms = (client_of(cloud, service) for service in ("iam", "ec2", "s3", "kms"))
    secrets = client_of(cloud, "secretsmanager")
    secret = secrets.create_secret(Name="sandbox/slurm-key", SecretString="k")["ARN"]
    secrets.create_secret(Name="other", SecretString="o")
    iam.create_role(RoleName="sandbox-node", AssumeRolePolicyDocument=EC2_TRUST)
    classes = [JobRolePlan(data_class=name, name=f"sandbox-job-{name}") for name in ("internal", "partner")]
    for plan in classes:
        key = kms.create_key()["KeyMetadata"]["Arn"]
        bucket = f"sandbox-{plan.data_class}-{ACCOUNT}"
        s3.create_bucket(Bucket=bucket)
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
        s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration=rules)
        s3.put_object(Bucket=bucket, Key="x", Body=b"x")
        text = trust(plan, PLACE, [f"{ROLE}-node"], None)
        iam.create_role(RoleName=plan.name, AssumeRolePolicyDocument=text)
        statements = document(permissions(plan, f"arn:aws:s3:::{bucket}", key))
        iam.put_role_policy(RoleName=plan.name, PolicyName="landbridge", PolicyDocument=statements)
    iam.create_role(RoleName="admin", AssumeRolePolicyDocument=EC2_TRUST)
    statements = node_statements(PLACE, secret, [f"{ROLE}-job-{plan.data_class}" for plan in classes], bound=False)
    iam.put_role_policy(RoleName="sandbox-node", PolicyName="landbridge", PolicyDocument=document(statements))
    profile = iam.create_instance_profile(InstanceProfileName="sandbox-node")["InstanceProfile"]["Arn"]
    iam.add_role_to_instance_profile(InstanceProfileName="sandbox-node", RoleName="sandbox-node")
    stack = build(ec2, profile=profile)
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
    template = {"LaunchTemplateId": stack.template}
    ec2.run_instances(LaunchTemplate=template, MinCount=1, MaxCount=1, NetworkInterfaces=nic)
    machine = Machine(cloud, cloud.control()["instances"][0]["address"])
    keys = json.loads(machine.get("meta-data/iam/security-credentials/sandbox-node")[1])
    return Site(cloud, lambda service: client(cloud, service, keys))


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as error:
        call()
    return str(error.value.response["Error"]["Code"])


def test_a_node_reads_the_key_of_slurm_and_nothing_else(site: Site) -> None:
    secrets, s3 = site.node("secretsmanager"), site.node("s3")
    assert secrets.get_secret_value(SecretId="sandbox/slurm-key")["SecretString"] == "k"
    assert refused(lambda: secrets.get_secret_value(SecretId="other")) == "AccessDeniedException"
    bucket = f"sandbox-internal-{ACCOUNT}"
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="x")) == "AccessDenied"
    assert refused(lambda: s3.put_object(Bucket=bucket, Key="y", Body=b"")) == "AccessDenied"
    assert refused(lambda: s3.list_buckets()) == "AccessDenied"
    assert refused(lambda: site.node("ec2").terminate_instances(InstanceIds=["i-1"])) == "UnauthorizedOperation"
    assert site.node("sts").get_caller_identity()["Account"] == ACCOUNT


def test_a_job_reads_and_writes_the_objects_of_its_class_and_deletes_none(site: Site) -> None:
    s3, bucket = site.job("s3"), f"sandbox-internal-{ACCOUNT}"
    s3.put_object(Bucket=bucket, Key="y", Body=b"y")
    assert s3.get_object(Bucket=bucket, Key="y")["Body"].read() == b"y"
    assert [entry["Key"] for entry in s3.list_objects_v2(Bucket=bucket)["Contents"]] == ["x", "y"]
    assert refused(lambda: s3.delete_object(Bucket=bucket, Key="y")) == "AccessDenied"
    several = {"Objects": [{"Key": "x"}, {"Key": "y"}]}
    assert refused(lambda: s3.delete_objects(Bucket=bucket, Delete=several)) == "AccessDenied"
    other = f"sandbox-partner-{ACCOUNT}"
    assert refused(lambda: s3.get_object(Bucket=other, Key="x")) == "AccessDenied"
    assert refused(lambda: s3.list_objects_v2(Bucket=other)) == "AccessDenied"
    assert refused(lambda: s3.copy_object(Bucket=bucket, Key="z", CopySource=f"{other}/x")) == "AccessDenied"
    assert site.job("s3", "partner").get_object(Bucket=other, Key="x")["Body"].read() == b"x"


def test_a_job_gets_no_secret_and_no_other_role(site: Site) -> None:
    secrets, sts = site.job("secretsmanager"), site.job("sts")
    assert refused(lambda: secrets.get_secret_value(SecretId="sandbox/slurm-key")) == "AccessDeniedException"
    for name in ("sandbox-job-partner", "sandbox-job-internal", "sandbox-node", "admin", "absent"):
        arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
        assert refused(lambda arn=arn: sts.assume_role(RoleArn=arn, RoleSessionName="job-7")) == "AccessDenied"
    assert refused(lambda: site.job("iam").list_roles()) == "AccessDenied"


def test_a_node_starts_sessions_of_jobs_alone(site: Site) -> None:
    sts = site.node("sts")
    for words, code in (
        ({"RoleArn": f"arn:aws:iam::{ACCOUNT}:role/admin"}, "AccessDenied"),
        ({"RoleSessionName": "root"}, "AccessDenied"),
        ({"DurationSeconds": 7200}, "ValidationError"),
    ):
        request = {"RoleArn": f"{ROLE}-job-internal", "RoleSessionName": "job-7", **words}
        assert refused(lambda request=request: sts.assume_role(**request)) == code
    operator = client_of(site.cloud, "iam")
    operator.update_assume_role_policy(RoleName="sandbox-job-internal", PolicyDocument=EC2_TRUST)
    assert refused(site.session) == "AccessDenied"


def test_the_key_of_another_class_cannot_be_used(site: Site) -> None:
    kms = client_of(site.cloud, "kms")
    buckets = client_of(site.cloud, "s3")
    internal = f"sandbox-internal-{ACCOUNT}"
    foreign = kms.create_key()["KeyMetadata"]["Arn"]
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": foreign}
    rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
    buckets.put_bucket_encryption(Bucket=internal, ServerSideEncryptionConfiguration=rules)
    assert refused(lambda: site.job("s3").get_object(Bucket=internal, Key="x")) == "AccessDenied"
    assert (
        refused(lambda: site.job("kms").generate_data_key(KeyId=foreign, KeySpec="AES_256")) == "AccessDeniedException"
    )


def test_only_who_may_list_a_bucket_is_told_that_an_object_does_not_exist(site: Site) -> None:
    bucket = f"sandbox-internal-{ACCOUNT}"
    assert refused(lambda: site.job("s3").get_object(Bucket=bucket, Key="missing")) == "NoSuchKey"
    statements = [{"Effect": "Allow", "Action": ["s3:GetObject", "kms:Decrypt"], "Resource": "*"}]
    client_of(site.cloud, "iam").put_role_policy(
        RoleName="sandbox-node", PolicyName="scripts", PolicyDocument=document(statements)
    )
    s3 = site.node("s3")
    assert s3.get_object(Bucket=bucket, Key="x")["Body"].read() == b"x"
    assert refused(lambda: s3.get_object(Bucket=bucket, Key="missing")) == "AccessDenied"
