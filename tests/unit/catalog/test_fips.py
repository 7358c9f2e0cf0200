"""FIPS endpoints: the catalogue against botocore's endpoint data, and the services that the code calls."""

import re
from pathlib import Path

import botocore.session
import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.catalog.aws.fips import fips
from landbridge.plan.aws.provider import SERVICES

ROOT = Path(__file__).resolve().parents[3] / "landbridge"
SESSION = botocore.session.Session()
CALL = re.compile(r"""\.(?:ask|all)\(\s*["']([a-z0-9-]+)["']""")


def fips_regions(service: str) -> set[str]:
    """Return the regions of a service whose endpoint data has a FIPS variant; global services have every region."""
    prefix = SESSION.get_service_model(service).endpoint_prefix
    with_variant: set[str] = set()
    for partition in SESSION.get_data("endpoints")["partitions"]:
        facts = partition["services"].get(prefix, {})
        default = any(variant["tags"] == ["fips"] for variant in facts.get("defaults", {}).get("variants", []))
        for name, endpoint in facts.get("endpoints", {}).items():
            variants = endpoint.get("variants", [])
            if default or any(variant["tags"] == ["fips"] for variant in variants):
                is_global = not facts.get("isRegionalized", True)
                with_variant |= set(partition["regions"]) if is_global else {name}
    return with_variant


@pytest.mark.parametrize("service", sorted(fips().services))
def test_a_service_has_a_fips_endpoint_in_each_region(service: str) -> None:
    assert set(fips().regions) - fips_regions(service) == set()


@pytest.mark.parametrize("service", ["budgets", "ce", "imagebuilder", "pricing", "savingsplans"])
def test_a_service_without_one_is_not_asked_for_one(service: str) -> None:
    assert service in fips().without and "us-east-1" not in fips_regions(service)


def test_each_service_that_the_code_calls_is_listed() -> None:
    called = {name for path in ROOT.rglob("*.py") for name in CALL.findall(path.read_text())}
    assert len(called) > 15
    assert (called | set(SERVICES)) - fips().services - fips().without == set()


def test_the_operators_client_uses_fips_endpoints_where_they_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    client = AwsClient("us-east-1", fips_services=fips().services)
    hosts = {service: client._client(service, "us-east-1").meta.endpoint_url for service in ("ec2", "budgets")}
    assert hosts["ec2"] == "https://ec2-fips.us-east-1.amazonaws.com" and "fips" not in hosts["budgets"]
    assert "fips" not in AwsClient("us-east-1")._client("ec2", "us-east-1").meta.endpoint_url
    assert "fips" in client.at("us-west-2")._client("ec2", "us-west-2").meta.endpoint_url
