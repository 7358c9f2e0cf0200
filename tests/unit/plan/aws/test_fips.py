"""FIPS endpoints in every client, if a regime demands them."""

from typing import Any

import pytest

from landbridge.burst.aws.client import clients, cloudwatch_client
from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.guardrails import guardrails_args
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.aws.provider import provider_args
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.roles.burst import burst_config
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_burst import built

FEDERAL = {("data_classes", "internal"): {"sites": ["onprem", "aws"], "regime": "fedramp_moderate"}}
OPEN = {**FEDERAL, ("aws", "nat"): "single"}


def clients_with_fips(site: Environment) -> dict[str, bool]:
    reaper = guardrails_args(site).reaper
    assert reaper is not None
    variables: dict[str, Any] = inventory(site, None)["all"]["vars"]
    return {
        "provider": provider_args(site).get("use_fips_endpoint", False),
        "reaper": reaper.variables.get("AWS_USE_FIPS_ENDPOINT") == "true",
        "burst": burst_config(site, built(site))["fips_endpoints"],
        "node": pool_args(site, site.aws.pools[0]).node_config["fips"] == "true",
        "image": variables["cloud_identity_fips"],
        "jobs": variables["base_environment"].get("AWS_USE_FIPS_ENDPOINT") == "true",
    }


def test_every_client_uses_fips_endpoints_under_a_regime_that_demands_them() -> None:
    assert set(clients_with_fips(environment(OPEN)).values()) == {True}
    assert set(clients_with_fips(environment({})).values()) == {False}


def test_nodes_in_a_closed_vpc_use_the_names_of_interface_endpoints() -> None:
    outside = {"provider", "reaper", "burst"}
    assert {name for name, used in clients_with_fips(environment(FEDERAL)).items() if used} == outside


@pytest.mark.parametrize("side", ["operator", "onprem", "cloud"])
def test_a_custom_endpoint_replaces_fips_endpoints(side: Any) -> None:
    site = environment({**OPEN, ("aws", "endpoints"): {side: "http://192.0.2.9:4580"}})
    used = {each: fips_endpoints(site, each) for each in ("operator", "onprem", "cloud")}  # type: ignore[arg-type]
    assert not used.pop(side) and all(used.values())


def test_a_class_that_stays_on_prem_demands_nothing_of_aws() -> None:
    classes = {"internal": {"sites": ["onprem", "aws"]}, "restricted": {"sites": ["onprem"], "regime": "itar"}}
    assert not fips_endpoints(environment({("data_classes",): classes}))


def test_the_burst_controllers_clients_call_fips_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    (client,) = clients("us-east-1", None, None, ("default",), True)
    assert client.meta.endpoint_url == "https://ec2-fips.us-east-1.amazonaws.com"
    metrics = cloudwatch_client("us-east-1", None, None, True)
    assert metrics.meta.endpoint_url == "https://monitoring-fips.us-east-1.amazonaws.com"
