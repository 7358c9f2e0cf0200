"""Candidates of a real MLflow that answer copies first: HAProxy, model servers in two slots, and clients without an error."""

from collections.abc import Iterator

import pytest

from landbridge.live.models.registry import ModelRegistry
from tests.unit.models.conftest import Operator, operator, registry_uri
from tests.unit.served_models.folders import onnx_bytes
from tests.unit.served_models.followed import FollowedSite, followed_site

__all__ = ["operator", "registry_uri"]
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedSite]:
    with followed_site(tmp_path_factory.mktemp("shadowed"), operator, shadow=True) as started:
        yield started


def test_a_candidate_that_disagrees_gets_no_request(site: FollowedSite) -> None:
    """Its answers are fast and have status 200: only the comparison refuses it."""
    site.operator.promote(site.publish("1"), "staging", "champion")
    site.until(lambda: site.gateway.servers()["a-srv01"]["weight"] == 256)
    site.operator.promote(site.publish("2", onnx_bytes(3.0)), "staging")
    site.until(lambda: "staging" not in site.aliases(), requests=40, is_killed=True)
    assert site.load.versions.keys() == {"1"}, "no client had an answer of version 2"
    tags = ModelRegistry(site.operator.uri).version("digits", "2").tags
    assert tags["landbridge.canary.decision"] == "roll_back"
    assert tags["landbridge.canary.reason"].startswith("shadow: disagreement in 100.00% of ")
    assert site.load.statuses.keys() == {200}


def test_a_candidate_that_agrees_gets_requests_after_its_copies(site: FollowedSite) -> None:
    site.operator.promote(site.publish("3"), "staging")
    site.until(lambda: any("shadow: " in line and "every share is below" in line for line in site.lines), requests=200)
    site.until(lambda: site.aliases().get("champion") == "3", requests=300)
    assert ModelRegistry(site.operator.uri).version("digits", "3").tags["landbridge.canary.shadow"].startswith("{")
    assert site.load.statuses.keys() == {200} and site.load.versions.keys() == {"1", "3"}
