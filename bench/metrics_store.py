"""Memory, scrape time and disk of the real Prometheus with the planned targets of a large site: `python -m bench.metrics_store --nodes 1000`.

The targets, scrape settings and rules are the plan's, without TLS and accounts; a server on the loopback answers for every host with the metrics of the
contract, whose values change. The figures of the last scrapes are printed, and the size that landbridge/plan/observability/store_size.py computes.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment, environment_from_config
from landbridge.plan.network.site import hosts
from landbridge.plan.observability.alerts import alert_groups
from landbridge.plan.observability.scrapes import prometheus_settings, target_files
from landbridge.plan.observability.store_size import store_size
from sandbox.ports import free_port

GPUS, PROCESSORS, PORTS, UNITS = 8, 224, 12, 25
_TLS_KEYS = ("basic_auth", "tls_config", "scheme")


def site(nodes: int) -> Environment:
    """Return a site with service hosts and nodes of the platform dgx-h100."""
    services = dict.fromkeys(("database", "storage", "gateway", "mlops", "monitoring"), "mon01")
    content = {
        "owner": "a@example.org",
        "onprem": {
            "cidr": "10.0.0.0/12",
            "nodes": [{"hosts": f"dgx[0001-{nodes:04}]", "platform": "dgx-h100", "address": "10.1.0.1", "rack": "r1"}],
            "services": {**services, "controller": ["ctl01"], "login": ["login01"]},
            "addresses": {"mon01": "10.0.0.11", "ctl01": "10.0.0.12", "login01": "10.0.0.13"},
        },
        "aws": {"cidr": "10.64.0.0/16"},
        "observability": {"retention_days": 30},
    }
    return environment_from_config("bench", "us-east-1", content)


def labels_of(metric: str, labels: tuple[str, ...]) -> list[str]:
    """Return the label sets of a metric of node exporter on a node."""
    if "cpu" in labels:
        modes = ("idle", "iowait", "system", "user")
        return [f'{{cpu="{cpu}",mode="{mode}"}}' for cpu in range(PROCESSORS) for mode in modes]
    if "port" in labels:
        return [f'{{device="mlx5_{port}",port="1"}}' for port in range(PORTS)]
    if "mountpoint" in labels:
        return [f'{{device="/dev/md{number}",fstype="ext4",mountpoint="/{number}"}}' for number in range(4)]
    if "state" in labels:
        states = ("activating", "active", "deactivating", "failed", "inactive")
        return [
            f'{{name="unit-{unit}.service",state="{state}",type="notify"}}' for unit in range(UNITS) for state in states
        ]
    if labels:
        return [f'{{{labels[0]}="{number}"}}' for number in range(6)]
    return [""]


def rows() -> dict[str, list[str]]:
    """Return the series of a node by job, without values."""
    exporters = metrics_contract().exporters
    node = [
        f"{metric}{labels}"
        for exporter in ("node", "host")
        for metric, fact in exporters[exporter].metrics.items()
        for labels in labels_of(metric, (*exporters[exporter].labels, *fact.labels))
    ]
    gpu_labels = 'device="nvidia{0}",gpu="{0}",modelName="NVIDIA H100 80GB HBM3",pci_bus_id="0000:{0}",UUID="GPU-00000000-0000-{0}"'
    dcgm = [f"{metric}{{{gpu_labels.format(gpu)}}}" for metric in exporters["dcgm"].metrics for gpu in range(GPUS)]
    return {"node": node, "dcgm": dcgm}


class Bodies:
    """Answers of a host, computed again in each interval: gauges vary and counters grow."""

    def __init__(self, seconds: float) -> None:
        self._rows, self._seconds, self._lock = rows(), seconds, threading.Lock()
        self._values = {job: [random.random() * 1e6 for _ in names] for job, names in self._rows.items()}
        self._rendered: dict[str, tuple[int, bytes]] = {}

    def of(self, job: str) -> bytes:
        turn = int(time.time() / self._seconds)
        with self._lock:
            if self._rendered.get(job, (0, b""))[0] != turn:
                values = self._values[job]
                for number in range(0, len(values), 2):
                    values[number] += random.randrange(3000) / 100
                text = "".join(f"{name} {value:.2f}\n" for name, value in zip(self._rows[job], values, strict=True))
                self._rendered[job] = (turn, text.encode())
            return self._rendered[job][1]


def serve(seconds: float) -> ThreadingHTTPServer:
    """Start the server of all hosts."""
    bodies = Bodies(seconds)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = bodies.of(self.path.strip("/"))
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        """Server that ignores connections which Prometheus closes when its time for a scrape is over."""

        def handle_error(self, *_: object) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def write_configuration(folder: Path, environment: Environment, server: int) -> None:
    """Write prometheus.yml, rules and targets of the plan; every target is at the server, and its path names the job."""
    gpu_hosts = frozenset(host.name for host in hosts(environment) if host.platform)
    settings = prometheus_settings(environment, gpu_hosts, "")
    settings["scrape_configs"] = [job for job in settings["scrape_configs"] if job["job_name"] in ("node", "dcgm")]
    for job in settings["scrape_configs"]:
        for key in _TLS_KEYS:
            job.pop(key, None)
        job |= {
            "metrics_path": f"/{job['job_name']}",
            "file_sd_configs": [{"files": [str(folder / f"{job['job_name']}.json")]}],
        }
    settings |= {"alerting": {}, "rule_files": [str(folder / "rules.json")]}
    (folder / "prometheus.yml").write_text(json.dumps(settings))
    (folder / "rules.json").write_text(json.dumps(alert_groups(environment, gpu_hosts)))
    for job, groups in target_files(environment, gpu_hosts).items():
        local = [{**group, "targets": [f"127.0.0.1:{server}"]} for group in groups]
        (folder / f"{job}.json").write_text(json.dumps(local))


def query(address: str, text: str) -> float:
    """Return the value of a query; 0 without one."""
    url = f"http://{address}/api/v1/query?query={urllib.parse.quote(text)}"
    with urllib.request.urlopen(url, timeout=120) as answer:
        result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return float(result[0]["value"][1]) if result else 0.0


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def measure(program: str, nodes: int, scrapes: int) -> dict[str, float]:
    """Run Prometheus until each target was scraped so often; return the figures."""
    environment = site(nodes)
    seconds = environment.observability.scrape_seconds
    gpu_hosts = frozenset(host.name for host in hosts(environment) if host.platform)
    with tempfile.TemporaryDirectory(prefix="landbridge-metrics-store-") as name:
        folder, server = Path(name), serve(seconds)
        write_configuration(folder, environment, server.server_port)
        address = f"127.0.0.1:{free_port()}"
        words = ["--config.file=prometheus.yml", "--storage.tsdb.path=series", f"--web.listen-address={address}"]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen([program, *words], cwd=folder, stdout=log, stderr=log)
        try:
            began, wanted = time.monotonic(), scrapes * len(hosts(environment))
            peak = 0.0
            while True:
                time.sleep(seconds / 3)
                if process.poll() is not None:
                    raise SystemExit((folder / "log").read_text()[-2000:])
                peak = max(peak, resident_mib(process.pid))
                if query(address, 'sum(count_over_time(up{job="node"}[1h]))') >= wanted:
                    break
            elapsed = time.monotonic() - began
            wal = sum(path.stat().st_size for path in (folder / "series").rglob("*") if path.is_file())
            series = query(address, 'count({__name__=~".+"})')
            computed = store_size(environment, gpu_hosts)
            return {
                "targets": query(address, "count(up)"),
                "targets that were not read in time": query(address, "count(up == 0)"),
                "series": series,
                "memory MiB, peak": peak,
                "memory bytes a series": peak * 2**20 / series,
                "processor seconds a second": processor_seconds(process.pid) / elapsed,
                "scrape of a node, seconds (median)": query(
                    address, 'quantile(0.5, scrape_duration_seconds{job="node"})'
                ),
                "scrape of a node, seconds (p95)": query(
                    address, 'quantile(0.95, scrape_duration_seconds{job="node"})'
                ),
                "disk MiB until now": wal / 2**20,
                "computed: series": computed.series,
                "computed: memory GiB": computed.memory_gib,
                "computed: disk GiB": computed.disk_gib,
                "computed: samples a month": computed.monthly_samples,
                "computed: USD a month in AWS": computed.managed_usd,
            }
        finally:
            process.terminate()
            process.wait(timeout=120)
            server.shutdown()


def main() -> None:
    """Print the figures of a site of so many nodes."""
    parser = argparse.ArgumentParser(prog="bench.metrics_store", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--scrapes", type=int, default=6)
    parser.add_argument("--prometheus", default="prometheus", help="path of the program prometheus")
    options = parser.parse_args()
    for name, value in measure(options.prometheus, options.nodes, options.scrapes).items():
        print(f"{name:40} {value:16,.3f}")


if __name__ == "__main__":
    main()
