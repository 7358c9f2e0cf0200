"""Models that are deleted in MLflow and created again: the same name, the same version numbers, other files."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from landbridge.live.models.registry import ModelRegistry
from tests.unit.models.conftest import Operator, operator, registry_uri
from tests.unit.served_models.folders import onnx_bytes, write_folder
from tests.unit.served_models.followed import REFERENCE, FollowedSite, followed_site
from tests.unit.served_models.processes import BODY
from tests.unit.served_models.test_followed_service import slow_bytes

__all__ = ["operator", "registry_uri"]
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedSite]:
    with followed_site(tmp_path_factory.mktemp("followed"), operator) as started:
        started.operator.promote(started.publish("1"), "staging", "champion")
        started.until(lambda: started.gateway.servers()["a-srv01"]["weight"] == 256)
        yield started


def answer_of(site: FollowedSite, slot: str) -> bytes:
    """Return the answer of a slot's model server to a request; empty while it starts."""
    (url,) = (each.url for each in site.config.services[0].servers if each.slot == slot)
    context = ssl.create_default_context(cafile=str(site.config.authority))
    request = urllib.request.Request(url.replace("/metrics", "/v2/models/digits/infer"), BODY.encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return bytes(answer.read())
    except urllib.error.URLError:
        return b""


def test_a_model_that_is_deleted_and_created_again_is_served_with_its_new_files(site: FollowedSite) -> None:
    before = answer_of(site, "a")
    state = site.config.state
    ModelRegistry(site.operator.uri)._client.delete_registered_model("digits")
    site.one_pass()
    assert site.placement() == {"a": "1", "b": ""} and site.serving() == {"1"}, (
        "a registry without the model stops nothing"
    )
    assert (
        site.operator.publish(write_folder(site.folder / "again", "", onnx_bytes(5.0), reference=REFERENCE))
        == "digits/1"
    )
    site.operator.promote("digits/1", "staging", "champion")
    site.ahead += 31
    site.until(lambda: answer_of(site, "a") not in (b"", before))
    # The gateway asks a server that was away a few times before it sends requests there.
    site.until(lambda: set(site.gateway.load(1).statuses) == {200})
    assert site.placement() == {"a": "1", "b": ""} and site.serving() == {"1"}
    digest = ModelRegistry(site.operator.uri).version("digits", "1").digest
    site.until(lambda: json.loads((state / "drift-digits.json").read_text())["content"] == digest)


def test_a_candidate_that_is_deleted_and_created_again_begins_a_new_canary(site: FollowedSite) -> None:
    site.operator.promote(site.publish("2"), "staging")
    record, client = site.config.state / "canary-digits.json", ModelRegistry(site.operator.uri)._client
    site.until(lambda: record.exists(), requests=4)
    first = json.loads(record.read_text())
    client.delete_registered_model("digits")
    for name, aliases in (("again", ("staging", "champion")), ("late", ("staging",))):
        data = slow_bytes() if name == "late" else onnx_bytes(5.0)
        folder = write_folder(site.folder / f"second-{name}", "", data, reference=REFERENCE)
        site.operator.promote(site.operator.publish(folder), *aliases)
    site.ahead += 31
    site.until(lambda: record.exists() and json.loads(record.read_text())["content"] != first["content"], requests=20)
    assert json.loads(record.read_text())["started_at"] > first["started_at"]
    site.until(lambda: "staging" not in site.aliases(), requests=40)
    tags = ModelRegistry(site.operator.uri).version("digits", "2").tags
    assert tags["landbridge.canary.reason"].startswith("latency: candidate "), tags
