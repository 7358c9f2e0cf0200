"""Service control policy: size, regions, data classes and GPU types, in the IAM evaluator."""

import json
from typing import Any

import pytest

from landbridge.catalog.aws.access.service_control_policies import service_control_policy_facts
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.ops.iam import Document, Policies, Request, evaluate
from landbridge.plan.placement.service_control_policy import (
    permitted_regions,
    service_control_policy,
    size_findings,
)
from landbridge.policy.environment_settings import policy_settings
from landbridge.policy.resource import Resource
from landbridge.policy.run_policies import resource_violations
from landbridge.tags import DATA_CLASS
from tests.unit.core.samples import SHIPPED, environment, shipped
from tests.unit.plan.placement.estate import estate

FULL = {"Sid": "FullAWSAccess", "Effect": "Allow", "Action": "*", "Resource": "*"}


def allows(chosen: Environment, action: str, resource: str = "*", **context: str) -> bool:
    """Return the answer to an identity that may do anything, in an account with the document beside FullAWSAccess."""
    keys = {key.replace("__", ":"): value for key, value in context.items()}
    if "data_class" in keys:
        keys[f"aws:RequestTag/{DATA_CLASS}"] = keys.pop("data_class")
    level = Document("organisation", (FULL, *json.loads(service_control_policy(chosen))["Statement"]))
    request = Request("arn:aws:iam::111111111111:role/any", action, resource, keys)
    return evaluate(request, Policies(identity=(Document("identity", (FULL,)),), organization=(level,))).allowed


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_the_document_of_a_shipped_environment_is_small_enough(path: Any) -> None:
    text = service_control_policy(shipped(path.name.split(".")[1]))
    assert len(text) <= service_control_policy_facts().characters and not size_findings(text)
    assert {statement["Effect"] for statement in json.loads(text)["Statement"]} == {"Deny"}


def test_a_document_that_is_too_large_has_a_finding() -> None:
    classes: dict[DataPath, Any] = {
        ("data_classes", f"a-class-with-a-long-name-{number}"): {"sites": ["onprem", "aws"]} for number in range(200)
    }
    (finding,) = size_findings(service_control_policy(environment(classes)))
    assert finding.rule == "service-control-policy-size" and "5,120" in finding.message


@pytest.mark.parametrize(
    ("action", "region", "allowed"),
    [
        ("s3:CreateBucket", "us-east-1", True),
        ("s3:CreateBucket", "us-east-2", True),
        ("s3:CreateBucket", "eu-west-1", False),
        ("kms:ReplicateKey", "eu-west-1", False),
        ("ec2:CopyImage", "eu-west-1", False),
        ("iam:CreateRole", "us-east-1", True),
        ("ec2:DescribeRegions", "eu-west-1", True),
        ("sts:AssumeRole", "eu-west-1", True),
    ],
)
def test_regions_of_the_environment_are_permitted(action: str, region: str, allowed: bool) -> None:
    assert allows(estate(), action, aws__RequestedRegion=region) is allowed


def test_global_services_are_permitted_where_the_cluster_is_not_in_their_region() -> None:
    chosen = shipped("regulated")
    assert allows(chosen, "iam:CreateRole", aws__RequestedRegion="us-east-1")
    assert allows(chosen, "route53:CreateHostedZone", aws__RequestedRegion="us-east-1")


@pytest.mark.parametrize(
    ("data_class", "region", "allowed"),
    [
        ("internal", "us-east-1", True),
        ("internal", "us-east-2", True),
        ("local", "us-east-1", True),
        ("local", "us-east-2", False),
        ("restricted", "us-east-1", False),
        ("secret", "us-east-1", False),
        ("misspelt", "us-east-1", False),
    ],
)
def test_a_launch_is_denied_by_the_data_class_of_its_jobs(data_class: str, region: str, allowed: bool) -> None:
    instance = f"arn:aws:ec2:{region}:111111111111:instance/*"
    context = {"aws__RequestedRegion": region, "ec2__InstanceType": "p5.48xlarge", "data_class": data_class}
    assert allows(estate(), "ec2:RunInstances", instance, **context) is allowed


@pytest.mark.parametrize(
    ("action", "instance_type", "allowed"),
    [
        ("ec2:RunInstances", "p5.48xlarge", True),
        ("ec2:RunInstances", "p4d.24xlarge", False),
        ("ec2:StartInstances", "g6e.48xlarge", False),
        ("ec2:RunInstances", "p9.96xlarge", False),
        ("ec2:RunInstances", "m7i.large", True),
        ("ec2:RunInstances", "t3.large", True),
    ],
)
def test_gpu_types_of_no_pool_are_denied(action: str, instance_type: str, allowed: bool) -> None:
    instance = "arn:aws:ec2:us-east-1:111111111111:instance/*"
    context = {"aws__RequestedRegion": "us-east-1", "ec2__InstanceType": instance_type}
    assert allows(estate(), action, instance, **context) is allowed


def test_no_gpu_starts_if_no_data_may_be_in_aws() -> None:
    chosen = environment({("data_classes", "internal", "sites"): ["onprem"]})
    instance = "arn:aws:ec2:us-east-1:111111111111:instance/*"
    for instance_type in ("p5.48xlarge", "g6e.xlarge"):
        context = {"aws__RequestedRegion": "us-east-1", "ec2__InstanceType": instance_type}
        assert not allows(chosen, "ec2:RunInstances", instance, **context)
    tagged = {"aws__RequestedRegion": "us-east-1", "ec2__InstanceType": "m7i.large", "data_class": "internal"}
    assert not allows(chosen, "ec2:RunInstances", instance, **tagged)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_the_policy_pack_permits_the_same_regions(path: Any) -> None:
    chosen = shipped(path.name.split(".")[1])
    assert policy_settings(chosen).regions == permitted_regions(chosen)


@pytest.mark.parametrize("instance_type", ["p5.48xlarge", "p4d.24xlarge", "g6e.xlarge", "p6-b200.48xlarge"])
def test_the_policy_pack_permits_the_same_gpu_types(instance_type: str) -> None:
    chosen = estate()
    template = Resource("aws:ec2/launchTemplate:LaunchTemplate", "node", {"instanceType": instance_type})
    broken = [violation.policy for violation in resource_violations(template, policy_settings(chosen))]
    instance = "arn:aws:ec2:us-east-1:111111111111:instance/*"
    context = {"aws__RequestedRegion": "us-east-1", "ec2__InstanceType": instance_type}
    assert ("allowed-types" not in broken) == allows(chosen, "ec2:RunInstances", instance, **context)


@pytest.mark.parametrize(
    ("owner", "allowed"), [("111111111111", True), ("999988887777", False), ("222222222222", True), ("", False)]
)
def test_uploads_go_to_buckets_of_the_account_and_of_trusted_ones(owner: str, allowed: bool) -> None:
    chosen = environment({("aws", "endpoint_policy"): {"accounts": ["222222222222"]}})
    keys = {"aws__PrincipalAccount": "111111111111", "aws__RequestedRegion": "us-east-1"}
    if owner:
        keys["aws__ResourceAccount"] = owner
    assert allows(chosen, "s3:PutObject", "arn:aws:s3:::b/x", **keys) is allowed
    assert allows(chosen, "s3:GetObject", "arn:aws:s3:::b/x", **keys)
