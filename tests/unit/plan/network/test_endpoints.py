"""VPC endpoints, derived from the used services, so that a network without egress reaches AWS."""

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
    ],
)
def test_a_network_without_egress_has_endpoints_of_the_used_services(
    changes: dict[DataPath, Any], more: set[str]
) -> None:
    assert services(changes) == BURST | more


def test_every_network_has_a_gateway_endpoint_for_s3() -> None:
    for changes in ({}, {("aws", "nat"): "single"}, {("aws", "vpc_endpoints"): "gateway"}, {("aws", "pools"): []}):
        first, *_ = endpoint_services(environment(changes))  # type: ignore[arg-type]
        assert (first.service, first.kind) == ("s3", "gateway")


def test_a_network_with_nat_or_other_aws_endpoints_has_gateway_endpoints_only() -> None:
    assert services({("aws", "nat"): "single"}) == set()
    assert services({("aws", "nat"): "single", ("aws", "vpc_endpoints"): "derived"}) == BURST
    elsewhere = {"cloud": "http://10.60.0.254:4580"}
    assert services({("aws", "endpoints"): elsewhere, ("aws", "vpc_endpoints"): "derived"}) == set()
    assert mode(shipped("sandbox")) == "gateway"
    assert network_args(shipped("sandbox")).interface_endpoints == ()


def test_unreachable_services_of_a_network_without_egress_are_listed() -> None:
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
def test_endpoint_names_depend_on_the_aws_partition(service: str, kind: Any, region: str, name: str) -> None:
    assert endpoint_name(service, kind, region) == name


@given(bodies())
def test_every_feature_is_in_the_catalogue_and_every_endpoint_has_a_reason(body: dict[str, Any]) -> None:
    site = built(body)
    assert set(features(site)) <= set(endpoint_features())
    every = needed(site)
    assert len({(endpoint.service, endpoint.kind) for endpoint in every}) == len(every)
    assert all(endpoint.why for endpoint in every)
    assert set(endpoint_services(site)) <= set(every)
