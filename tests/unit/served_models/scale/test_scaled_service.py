"""Scale to zero and back before a real registry, HAProxy and model servers: requests wait for the start, and none fails."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from landbridge.serving.follow.scale import ScaleState
from landbridge.serving.follow.scaler import read_scale
from tests.unit.models.conftest import Operator, operator, registry_uri
from tests.unit.served_models.followed import FollowedSite, followed_site

__all__ = ["operator", "registry_uri"]
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
SCALE = {"least": 0, "most": 1, "host_rate": 1e6, "idle_seconds": 600.0}


@pytest.fixture(scope="module")
def site(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedSite]:
    with followed_site(tmp_path_factory.mktemp("scaled"), operator, scale=SCALE) as started:
        yield started


def state(site: FollowedSite) -> ScaleState:
    """Return the record of the scale."""
    (service,) = site.config.services
    return read_scale(site.config.state, service)


def to_zero(site: FollowedSite) -> None:
    """Run passes of an idle service until its slots are empty and HAProxy has no model server."""
    site.one_pass()
    site.ahead += SCALE["idle_seconds"] + 1
    site.until(lambda: not (site.folder / "host/digits/a").is_symlink() and state(site).hosts == 0)
    site.gateway.wait(a_srv01="DOWN")


def test_a_service_with_load_is_served(site: FollowedSite) -> None:
    site.operator.promote(site.publish("1"), "staging", "champion")
    site.until(lambda: site.gateway.servers()["a-srv01"]["weight"] == 256)
    site.one_pass()
    assert site.serving() == {"1"}
    assert state(site).hosts == 1
    assert set(site.gateway.servers()) == {"a-srv01", "b-srv01"}, "the waiting room is no model server"


def test_without_load_no_host_serves_and_requests_wait_for_a_start(site: FollowedSite) -> None:
    to_zero(site)
    assert site.host.export.services()["digits"].slots == {"a": "", "b": ""}
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(site.gateway.load, 24, 8)
        site.until(waiting.done)
    assert set(waiting.result().statuses) == {200}, (waiting.result().statuses, site.lines)
    assert waiting.result().versions == {"1": 24}
    site.one_pass()
    assert state(site).hosts == 1 and state(site).cold_seconds > 0
    assert any(" 0 -> 1 hosts" in line for line in site.lines) and any(" waited up to " in line for line in site.lines)


def test_a_candidate_starts_a_host_of_an_idle_service(site: FollowedSite) -> None:
    to_zero(site)
    site.operator.promote(site.publish("2"), "staging")
    site.until(lambda: site.gateway.servers()["b-srv01"]["state"].startswith("UP"))
    assert state(site).hosts == 1


def test_a_stopped_service_lets_no_request_wait(site: FollowedSite) -> None:
    (site.folder / "orders.json").write_text(json.dumps({"scale": {"digits": 0}}))
    site.until(lambda: not (site.folder / "host/digits/a").is_symlink())
    site.gateway.wait(a_srv01="DOWN")
    assert site.gateway.get("POST", "/v2/models/digits/infer", "{}") == 503
