"""Contract of metrics: it has exactly our own metrics, and those of the real exporters."""

import json
import re
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from landbridge.burst.daemon.metrics import GAUGES, PREFIX, Metrics
from landbridge.catalog.observability.metrics import metrics_contract, metrics_in
from landbridge.economics.job_costs import first_steps
from landbridge.models.canary.decide import CanaryLook, begun, decided
from landbridge.models.canary.gauges import canary_gauge_text
from landbridge.models.canary.guards import Guard
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.tallies import VersionCounters
from landbridge.models.drift.gauges import gauge_text, window_text
from landbridge.models.drift.judge import DriftReport, FeatureDrift
from landbridge.models.drift.reference import SliceColumn, reference_of
from landbridge.ops import timer_metrics
from landbridge.ops.netcheck import metrics as link_metrics
from landbridge.pipelines.service.metrics import PipelineMetrics
from landbridge.serving.canary_controller.exposition import samples
from sandbox.ports import free_port
from tests.unit.observability.debian_programs import debian_program
from tests.unit.served_models.folders import new_key, sign, write_folder
from tests.unit.served_models.gateway import gateway
from tests.unit.served_models.processes import model_server
from tests.unit.served_models.site_ca import write_certificates

CONTRACT = metrics_contract()
#: Metrics of the node exporter that only a host with such hardware or such a service has.
WITH_HARDWARE = re.compile(
    "node_(infiniband|nfs|nfsd|edac|disk|network|filesystem|pressure|systemd|timex|textfile_mtime)_"
)
#: /proc/net/rpc/nfs of an NFS client and /proc/net/rpc/nfsd of a server, as Linux 6.1 prints them, with smaller numbers.
NFS_CLIENT = """net 18628 0 18628 6
rpc 4329785 3 4338291
proc3 22 1 4084749 29200 94754 32580 186 47747 7981 8639 0 6356 0 6962 0 7958 0 0 241 4 4 2 39
proc4 61 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""
NFS_SERVER = """rc 0 6 18622
fh 0 0 0 0 0
io 157286400 72864
th 8 0 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000
ra 32 0 0 0 0 0 0 0 0 0 0 0
net 18628 0 18628 6
rpc 18628 0 0 0 0
proc2 18 2 69 0 0 4410 0 0 0 0 0 0 0 0 0 0 0 99 2
proc3 22 2 112 0 2719 111 0 0 0 0 0 0 0 0 0 0 0 27 216 0 2 1 0
proc4 2 2 10853
proc4ops 40 0 0 0 1098 2 0 0 0 0 8179 5896 0 0 0 0 5900 0 0 2 0 2 0 9609 0 2 150 1272 0 0 0 1236 0 0 0 0 3 3 0 0 0
"""
#: Metrics that appear with the first sample of their kind.
WITH_EVENTS = {
    "prometheus_rule_evaluation_failures_total",
    # Tested with a real destination in test_remote_write.py.
    "prometheus_remote_storage_highest_timestamp_in_seconds",
    "prometheus_remote_storage_queue_highest_sent_timestamp_seconds",
}


def types_of(text: str) -> dict[str, str]:
    """Return the type of each family, as Prometheus' text formats print it."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def test_the_burst_controllers_metrics_are_those_of_its_program() -> None:
    families = types_of(Metrics()._render()) | {f"{PREFIX}{name}": "gauge" for name in GAUGES}
    suffixes = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}
    printed = {name + suffix: kind for name, kind in families.items() for suffix in suffixes[kind]}
    assert {name: fact.type for name, fact in CONTRACT.exporters["burst"].metrics.items()} == printed


def test_the_timers_metrics_are_those_of_their_passes() -> None:
    assert set(CONTRACT.exporters["timers"].metrics) == {f"{timer_metrics.PREFIX}{name}" for name in timer_metrics.HELP}
    names = {f"{first_steps.NAME}{suffix}" for suffix in ("_bucket", "_count", "_sum")}
    assert set(CONTRACT.exporters["first_steps"].metrics) == names


def test_the_links_metrics_are_those_of_netcheck() -> None:
    assert set(CONTRACT.exporters["link"].metrics) == {f"{link_metrics.PREFIX}{name}" for name in link_metrics._HELP}


#: With few requests they are the content of one.
SUMS_OF_INPUTS = ("landbridge_model_feature_sum", "landbridge_model_slice_feature_sum")


def printed_of(text: str) -> dict[str, str]:
    """Return the type of each metric of a page, with the suffixes of histograms. Inputs of requests have no sum."""
    suffixes = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}
    names = {name + suffix: kind for name, kind in types_of(text).items() for suffix in suffixes[kind]}
    return {name: kind for name, kind in names.items() if name not in SUMS_OF_INPUTS or f"\n{name}{{" in text}


def assert_is_contract(exporter: str, text: str) -> None:
    """Compare names, types and labels of a page with the contract."""
    facts = CONTRACT.exporters[exporter]
    assert {name: fact.type for name, fact in facts.metrics.items()} == printed_of(text)
    for sample in samples(text):
        wanted = {*facts.labels, *facts.metrics[sample.name].labels}
        assert sample.labels.keys() - {"service"} == wanted, sample


def test_a_model_server_has_the_metrics_of_the_contract(tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    reference = reference_of({"x[0]": [0.5, 1.0, 2.0]}, slice_by=SliceColumn("x[0]", (0.5,))).to_dict()
    folder = sign(write_folder(tmp_path / "3", "3", reference=reference), private)
    with model_server(tmp_path, "a", folder=str(folder), trust=str(public)) as server:
        assert server.infer()[0] == 200
        text = server.request("GET", "/metrics")[1]
    assert_is_contract("model_server", text)


def test_prometheus_reads_a_model_servers_metrics_and_gets_no_prediction(tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    folder = sign(write_folder(tmp_path / "3", "3"), private)
    with model_server(tmp_path, "a", folder=str(folder), trust=str(public), metrics_client="127.0.0.1") as server:
        assert server.request("GET", "/metrics")[0] == 200
        assert server.infer()[0] == 403
        assert server.request("GET", "/v2/models/digits")[0] == 403


def test_haproxy_has_the_metrics_of_the_contract_for_prometheus_only(tmp_path: Path) -> None:
    authority, certificate = write_certificates(tmp_path)
    port = free_port()
    context = ssl.create_default_context(cafile=str(authority))
    url = f"https://localhost:{port}/metrics"
    for client, is_answered in (("127.0.0.1", True), ("127.0.0.2", False)):
        place = tmp_path / client
        place.mkdir()
        metrics = {"metrics": f"127.0.0.1:{port}", "metrics_client": client}
        with gateway(place, authority, certificate, {"a": [free_port()]}, metrics):
            if not is_answered:
                with pytest.raises(urllib.error.HTTPError, match="403"):
                    urllib.request.urlopen(url, timeout=60, context=context)
                continue
            with urllib.request.urlopen(url, timeout=60, context=context) as answer:
                text = answer.read().decode()
            facts, families = CONTRACT.exporters["model_gateway"], types_of(text)
            wanted = {name: fact.type for name, fact in facts.metrics.items()}
            assert wanted == {name: families.get(name) for name in wanted}
            for sample in samples(text):
                if sample.name in wanted and sample.labels["proxy"] == "model-digits":
                    assert sample.labels.keys() == {*facts.labels, *facts.metrics[sample.name].labels}


def test_the_gauges_of_drift_are_those_of_its_program() -> None:
    feature = FeatureDrift("all", 'x"0', 500, 0.3, 0.2, 0.0001, drifted=True)
    text = gauge_text(DriftReport((feature,), (), 0.8, 0.9, accuracy_fell=True), "digits", "3", 60.0)
    assert_is_contract("model_drift", text + window_text("digits", "3", 60.0))


def test_the_metrics_of_pipelines_are_those_of_its_service() -> None:
    assert_is_contract("pipelines", PipelineMetrics(["vision"]).text(60.0))


def test_the_gauges_of_a_canary_are_those_of_its_program() -> None:
    plan = CanaryPlan((Guard("errors", 0.001, 0.01),), down_seconds=10)
    counters: VersionCounters = {}
    record = begun("digits", "3", "4", CanaryLook(0.0, counters, counters))
    decision, record = decided(plan, record, CanaryLook(5.0, counters, counters))
    text = canary_gauge_text(record, decision, 5.0)
    assert_is_contract("model_canary", text)
    assert 'landbridge_model_canary_undecided{model="digits",champion="3",candidate="4"} 1' in text
    _, record = decided(plan, record, CanaryLook(10.0, counters, counters, ready=False))
    decision, record = decided(plan, record, CanaryLook(30.0, counters, counters, ready=False))
    values = {each.name: each.value for each in samples(canary_gauge_text(record, decision, 30.0))}
    assert values["landbridge_model_canary_rolled_back"] == 1 and values["landbridge_model_canary_undecided"] == 0
    assert values["landbridge_model_canary_weight_percent"] == 0


def test_a_metric_belongs_to_one_exporter() -> None:
    every = [name for exporter in CONTRACT.exporters.values() for name in exporter.metrics]
    assert len(every) == len(set(every))


def test_no_label_has_a_value_for_each_job_or_user() -> None:
    labels = {
        label
        for exporter in CONTRACT.exporters.values()
        for fact in exporter.metrics.values()
        for label in (*exporter.labels, *fact.labels)
    }
    unbounded = {
        "job_id",
        "jobid",
        "hpc_job",
        "user",
        "username",
        "uid",
        "pid",
        "command",
        "path",
        "instance_id",
        "job_name",
    }
    assert not labels & unbounded


@pytest.mark.parametrize(
    ("expression", "metrics"),
    [
        ('sum by (node) (rate(node_cpu_seconds_total{mode="idle"}[5m])) > 1e3', ["node_cpu_seconds_total"]),
        ("a / on (instance, device) group_left (rack) b offset 5m", ["a", "b"]),
        ('absent(up{job="x"}) or vector(0) unless c:d:rate5m', ["up", "c:d:rate5m"]),
        (
            "count without (gpu) (DCGM_FI_DEV_GPU_TEMP) and on () (time() - e[1h:5m]) > bool 2",
            ["DCGM_FI_DEV_GPU_TEMP", "e"],
        ),
    ],
)
def test_metrics_of_an_expression(expression: str, metrics: list[str]) -> None:
    assert metrics_in(expression) == metrics


@contextmanager
def running(program: Path, *arguments: str) -> Iterator[None]:
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def page(url: str) -> str:
    """Return a page of a server that starts."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, ConnectionError):
            assert time.monotonic() < deadline, url
            time.sleep(0.05)


def test_the_node_exporter_has_its_metrics(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    arguments = (f"--web.listen-address={address}", f"--collector.textfile.directory={tmp_path}")
    (tmp_path / "x.prom").write_text("x 1\n")
    with running(debian_program("prometheus-node-exporter", "prometheus-node-exporter"), *arguments):
        families = types_of(page(f"http://{address}/metrics"))
    wanted = {name: fact.type for name, fact in CONTRACT.exporters["node"].metrics.items()}
    absent = [name for name in wanted if name not in families and not WITH_HARDWARE.match(name)]
    assert absent == []
    other = {n: families[n] for n in wanted if n in families and families[n] not in (wanted[n], "untyped")}
    assert other == {}


def test_the_node_exporter_has_the_metrics_of_nfs(tmp_path: Path) -> None:
    address, counters = f"127.0.0.1:{free_port()}", tmp_path / "net/rpc"
    counters.mkdir(parents=True)
    (counters / "nfs").write_text(NFS_CLIENT)
    (counters / "nfsd").write_text(NFS_SERVER)
    collectors = ("--collector.disable-defaults", "--collector.nfs", "--collector.nfsd", f"--path.procfs={tmp_path}")
    program = debian_program("prometheus-node-exporter", "prometheus-node-exporter")
    with running(program, f"--web.listen-address={address}", *collectors):
        families = types_of(page(f"http://{address}/metrics"))
    wanted = {
        name: fact.type for name, fact in CONTRACT.exporters["node"].metrics.items() if name.startswith("node_nfs")
    }
    assert wanted and wanted == {name: families.get(name) for name in wanted}


def test_prometheus_has_its_metrics(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    # Remote write has metrics while a destination is configured, and so have files of targets.
    (tmp_path / "prometheus.yml").write_text(
        json.dumps(
            {
                "remote_write": [{"url": "http://127.0.0.1:9/"}],
                "scrape_configs": [{"job_name": "x", "file_sd_configs": [{"files": [f"{tmp_path}/none.json"]}]}],
            }
        )
    )
    (tmp_path / "none.json").write_text("[]")
    arguments = (f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/series")
    with running(debian_program("prometheus", "prometheus"), *arguments, f"--web.listen-address={address}"):
        page(f"http://{address}/-/ready")
        families = types_of(page(f"http://{address}/metrics"))
    # Prometheus makes these itself, of its scrapes and of its alerts.
    without_page = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
    assert set(CONTRACT.exporters["prometheus"].metrics) - without_page - WITH_EVENTS - set(families) == set()
