"""Endpoints: derived from what is used, so that a network without a way out still reaches AWS."""

from typing import Any

import pytest
from hypothesis import given

from landbridge.catalog import endpoint_features
from landbridge.catalog.aws.endpoints import endpoint_name
from landbridge.findings import DataPath
from landbridge.plan.network.endpoints import endpoint_services, features, mode, needed, unreachable
from landbridge.plan.network.network import network_args
from tests.unit.core.samples import environment, shipped
from tests.unit.plan.estates import bodies, built

BURST = {"ec2", "ec2messages", "kms", "logs", "secretsmanager", "ssm", "ssmmessages", "sts"}


def services(changes: dict[DataPath, Any]) -> set[str]:
    return {endpoint.service for endpoint in endpoint_services(environment(changes)) if endpoint.kind == "interface"}


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({}, set()),
        ({("storage",): {"cloud_scratch": {"kind": "fsx_lustre"}}}, {"fsx"}),
        (
            {("storage",): {"cloud_shares": {"x": {"kind": "fsx_openzfs"}, "y": {"kind": "efs"}}}},
            {"fsx", "elasticfilesystem"},
        ),
        (
            {("aws", "kubernetes"): {"version": "1.34"}},
            {"ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticloadbalancing"},
        ),
    ],
)
def test_a_closed_network_gets_what_it_uses(changes: dict[DataPath, Any], more: set[str]) -> None:
    assert services(changes) == BURST | more


def test_s3_has_a_gateway_everywhere() -> None:
    for changes in ({}, {("aws", "nat"): "single"}, {("aws", "vpc_endpoints"): "gateway"}, {("aws", "pools"): []}):
        first, *_ = endpoint_services(environment(changes))  # type: ignore[arg-type]
        assert (first.service, first.kind) == ("s3", "gateway")


def test_with_nat_or_another_aws_there_are_gateways_only() -> None:
    assert services({("aws", "nat"): "single"}) == set()
    assert services({("aws", "nat"): "single", ("aws", "vpc_endpoints"): "derived"}) == BURST
    elsewhere = {"cloud": "http://10.60.0.254:4580"}
    assert services({("aws", "endpoints"): elsewhere, ("aws", "vpc_endpoints"): "derived"}) == set()
    assert mode(shipped("sandbox")) == "gateway"
    assert network_args(shipped("sandbox")).interface_endpoints == ()


def test_what_a_closed_network_cannot_reach_is_known() -> None:
    closed = environment({("aws", "vpc_endpoints"): "gateway"})
    assert {endpoint.service for endpoint in unreachable(closed)} == BURST
    assert unreachable(environment()) == ()
    assert unreachable(environment({("aws", "vpc_endpoints"): "gateway", ("aws", "nat"): "single"})) == ()


@pytest.mark.parametrize(
    ("service", "kind", "region", "name"),
    [
        ("ec2", "interface", "us-east-1", "com.amazonaws.us-east-1.ec2"),
        ("ec2", "interface", "us-gov-west-1", "com.amazonaws.us-gov-west-1.ec2"),
        ("ec2", "interface", "cn-north-1", "cn.com.amazonaws.cn-north-1.ec2"),
        ("ssm", "interface", "cn-north-1", "com.amazonaws.cn-north-1.ssm"),
        ("s3", "gateway", "cn-north-1", "com.amazonaws.cn-north-1.s3"),
    ],
)
def test_names_follow_the_partition(service: str, kind: Any, region: str, name: str) -> None:
    assert endpoint_name(service, kind, region) == name


@given(bodies())
def test_every_feature_is_recorded_and_every_endpoint_says_why(body: dict[str, Any]) -> None:
    own = built(body)
    assert set(features(own)) <= set(endpoint_features())
    every = needed(own)
    assert len({(endpoint.service, endpoint.kind) for endpoint in every}) == len(every)
    assert all(endpoint.why for endpoint in every)
    assert set(endpoint_services(own)) <= set(every)
