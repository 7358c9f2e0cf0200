"""From an alias of a real MLflow to a served version without hands: HAProxy, model servers in two slots, and clients without an error."""

import json
from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from landbridge.live.models.registry import ModelRegistry
from tests.unit.models.conftest import Operator, operator, registry_uri
from tests.unit.served_models.folders import onnx_bytes, write_folder
from tests.unit.served_models.followed import REFERENCE, FollowedSite, followed_site
from tests.unit.served_models.gateway import STRANGER, TOKEN

__all__ = ["operator", "registry_uri"]
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def site(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedSite]:
    with followed_site(tmp_path_factory.mktemp("followed"), operator) as started:
        yield started


def slow_bytes() -> bytes:
    """Return a model whose answers are right and late: a product of two large matrices that depend on the input."""
    graph = onnx.load_from_string(onnx_bytes()).graph
    size = helper.make_tensor("size", TensorProto.INT64, [2], [1200, 1200])
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["part"], keepdims=0),
        helper.make_node("Expand", ["part", "size"], ["large"]),
        helper.make_node("MatMul", ["large", "large"], ["squared"]),
        helper.make_node("ReduceMax", ["squared"], ["greatest"], keepdims=0),
        helper.make_node("Mul", ["greatest", "nothing"], ["addend"]),
        helper.make_node("Add", ["x", "addend"], ["late"]),
    ]
    for node in graph.node:
        node.input[:] = ["late" if name == "x" else name for name in node.input]
    whole = helper.make_graph(
        [*nodes, *graph.node],
        "late",
        graph.input,
        graph.output,
        [*graph.initializer, size, numpy_helper.from_array(np.array(0, np.float32), "nothing")],
    )
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def test_the_first_champion_is_served(site: FollowedSite) -> None:
    site.one_pass()
    assert site.host.export.services() == {}, "slots that were filled by hand stay"
    site.operator.promote(site.publish("1"), "staging", "champion")
    site.until(lambda: site.gateway.servers()["a-srv01"]["weight"] == 256)
    assert site.serving() == {"1"}
    assert site.placement() == {"a": "1", "b": ""}


def test_a_good_candidate_is_served_and_promoted(site: FollowedSite) -> None:
    site.operator.promote(site.publish("2"), "staging")
    site.until(lambda: site.aliases().get("champion") == "2", requests=300, is_killed=True)
    site.until(lambda: site.placement() == {"a": "", "b": "2"}, is_killed=True)
    site.one_pass()
    assert site.serving() == {"2"}
    assert site.load.statuses.keys() == {200} and site.load.versions["2"] > 100
    assert ModelRegistry(site.operator.uri).version("digits", "2").tags["landbridge.canary.decision"] == "promote"
    # The file of gauges of the canary, for node exporter.
    gauges = (site.config.state / "metrics/landbridge-canary-digits.prom").read_text()
    assert 'landbridge_model_canary_undecided{model="digits",champion="1",candidate="2"} 0' in gauges


def test_a_late_candidate_is_rolled_back(site: FollowedSite) -> None:
    site.operator.promote(site.publish("3", slow_bytes()), "staging")
    site.until(lambda: "staging" not in site.aliases(), requests=40, is_killed=True)
    site.until(lambda: site.placement() == {"a": "", "b": "2"})
    tags = ModelRegistry(site.operator.uri).version("digits", "3").tags
    assert tags["landbridge.canary.decision"] == "roll_back"
    assert tags["landbridge.canary.reason"].startswith("latency: candidate ")
    assert site.serving() == {"2"} and site.aliases()["champion"] == "2"
    assert site.load.statuses.keys() == {200}, "no client error"


def test_a_replaced_candidate_is_refused_and_withdrawn(site: FollowedSite) -> None:
    site.operator.promote(site.publish("4"), "staging")
    registry = ModelRegistry(site.operator.uri)
    (site.folder / "bad").mkdir()
    (site.folder / "bad/model.onnx").write_bytes(onnx_bytes(9.0))
    registry.upload(registry.version("digits", "4"), site.folder / "bad")
    site.one_pass()
    assert any("replaced" in line for line in site.lines), site.lines
    assert not (site.config.state / "models/digits/4").exists()
    site.ahead += 601
    site.one_pass()
    assert "staging" not in site.aliases()
    site.one_pass()
    assert site.placement() == {"a": "", "b": "2"} and site.serving() == {"2"}


def test_a_candidate_with_other_inputs_gets_no_request(site: FollowedSite) -> None:
    # An alias that was moved in MLflow's own pages: no command of Landbridge compared the inputs.
    inputs = [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
    version = site.operator.publish(
        write_folder(site.folder / "5", "", onnx_bytes(0.05), inputs=inputs, reference=REFERENCE)
    )
    registry = ModelRegistry(site.operator.uri)
    registry.set_alias("digits", "staging", version.partition("/")[2])
    site.until(lambda: "staging" not in site.aliases(), requests=40)
    records = json.loads(site.operator.run("history", "digits", "--format", "json").stdout)["records"]
    assert "the input x has the shape [-1, 4], before [-1, 3]" in records[-1]["reason"]
    assert version.partition("/")[2] not in site.load.versions and site.load.statuses.keys() == {200}
    site.until(lambda: site.placement() == {"a": "", "b": "2"})


def test_the_operator_s_way_back_is_served(site: FollowedSite) -> None:
    site.operator.run("rollback", "digits", "--reason", "test", trust=True)
    assert site.aliases()["champion"] == "1"
    site.until(lambda: site.placement() == {"a": "1", "b": ""})
    site.one_pass()
    assert site.serving() == {"1"}
    versions = sorted(path.name for path in (site.folder / "host/digits").iterdir() if path.name.isdigit())
    assert versions == ["1", "2"], "the last version without a slot stays, and the others are removed"


def test_drift_of_a_window_is_in_the_gauges(site: FollowedSite) -> None:
    site.one_pass()
    site.send(300)
    site.ahead += 86_401
    site.one_pass()
    gauges = (site.config.state / "metrics/landbridge-drift-digits.prom").read_text().splitlines()
    drifted = {line.rpartition('feature="')[2][:4]: line[-1] for line in gauges if "_drift_drifted{" in line}
    assert drifted == {"x[0]": "0", "x[1]": "1"}


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("/landbridge/hosts/srv01", STRANGER, 200),
        ("/landbridge/hosts/srv01", TOKEN, 403),
        ("/landbridge/hosts/srv01", "", 401),
        ("/landbridge/models/digits/1/model.json", STRANGER, 200),
        ("/landbridge/models/digits/1/model.json", TOKEN, 403),
        ("/landbridge/models/digits/9/model.json", STRANGER, 404),
        ("/landbridge/models/digits/1/../../digits.json", STRANGER, 404),
        ("/landbridge/models/digits/1/model.pkl", STRANGER, 404),
        ("/v2/models/digits/infer", STRANGER, 403),
    ],
)
def test_the_export_is_for_model_servers_only(site: FollowedSite, path: str, token: str, status: int) -> None:
    assert site.gateway.get("GET", path, token=token) == status
    assert site.gateway.get("PUT", "/landbridge/hosts/srv01", "{}", STRANGER) == 501


def test_a_scale_of_zero_empties_the_slots(site: FollowedSite) -> None:
    orders = site.folder / "orders.json"
    orders.write_text(json.dumps({"scale": {"digits": 0}}))
    site.until(lambda: not (site.folder / "host/digits/a").is_symlink())
    assert site.gateway.get("POST", "/v2/models/digits/infer", "{}") == 503
    orders.unlink()
    site.until(lambda: site.gateway.servers()["a-srv01"]["state"].startswith("UP"))
    site.one_pass()
    assert site.serving() == {"1"}
