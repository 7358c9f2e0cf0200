"""Prometheus with recorded series and the pages of the role prometheus, on the loopback."""

import json
import math
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader

from landbridge import yaml_text
from landbridge.plan.roles.prometheus import monitoring_variables
from sandbox.demo.cluster import wait_for
from sandbox.ports import free_port
from tests.unit.core.samples import ROOT, environment
from tests.unit.observability.debian_programs import debian_program
from tests.unit.observability.serving_sample import served as served_models

ROLE = ROOT / "ansible" / "roles" / "prometheus"
SERIES = Path(__file__).with_name("dashboard_series.yaml")
STEP, LENGTH = 120, 12 * 3600


def pages() -> dict[str, Any]:
    """Return the pages of a site with every exporter."""
    services = {("onprem", "services", name): "mlops01" for name in ("monitoring", "logs")}
    monitored = {**services, ("scheduler", "slurm", "version"): "26.05", ("observability", "timers"): {}}
    site = environment({**monitored, **served_models()})
    return dict(monitoring_variables(site)["prometheus_pages"])


def write_pages(folder: Path, content: dict[str, Any]) -> None:
    """Template the pages as the role does."""
    loader = Templates(loader=FileSystemLoader(ROLE / "templates"), trim_blocks=True, keep_trailing_newline=True)
    loader.filters["to_json"] = json.dumps
    template = loader.get_template("page.html.j2")
    folder.mkdir()
    for name, page in content.items():
        item = {"key": name, "value": page}
        (folder / f"{name}.html").write_text(template.render(item=item, prometheus_pages=content))


def samples() -> Iterator[tuple[str, dict[str, str], float, float]]:
    """Yield name, labels, mean and swing of each series of the file."""
    for name, labels, mean, swing in yaml_text.load(SERIES.read_text()):
        lists = [value if isinstance(value, list) else [value] for value in labels.values()]
        for number, values in enumerate(product(*lists)):
            yield name, dict(zip(labels, values, strict=True)), mean * (1 - 0.03 * number * bool(swing)), swing


def recorded(now: int) -> str:
    """Return the series in OpenMetrics, a wave, or for a counter a line; times are from now."""
    families: dict[str, list[str]] = {}
    for number, (name, labels, mean, swing) in enumerate(samples()):
        words = ",".join(f'{key}="{value}"' for key, value in labels.items())
        for at in range(0, LENGTH + 1, STEP):
            value = mean + swing * math.sin(at / 2000 + number)
            if name.endswith(("_total", "_bucket", "_count", "_oom_kill")):
                value = mean * (1 + at / STEP)
            elif name.endswith("_timestamp_seconds") or name == "node_boot_time_seconds":
                value = now + mean
            elif float(mean).is_integer() and float(swing).is_integer():
                value = round(value)
            families.setdefault(name, []).append(f"{name}{{{words}}} {value:.12g} {now - LENGTH + at}")
    lines = [line for name, every in families.items() for line in (f"# TYPE {name} unknown", *every)]
    return "\n".join([*lines, "# EOF", ""])


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Start Prometheus; yield the address of its pages."""
    now = int(time.time())
    (folder / "recorded.txt").write_text(recorded(now))
    line = [
        debian_program("prometheus", "promtool"),
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        "recorded.txt",
        "series",
    ]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    write_pages(folder / "pages", pages())
    (folder / "prometheus.yml").write_text("")
    address = f"127.0.0.1:{free_port()}"
    words = [
        "--config.file=prometheus.yml",
        "--storage.tsdb.path=series",
        f"--web.listen-address={address}",
        "--web.console.templates=pages",
        f"--web.console.libraries={ROLE / 'files'}",
    ]
    log = folder / "prometheus.log"
    with log.open("w") as output:
        command = [debian_program("prometheus", "prometheus"), *words]
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
    try:
        _wait(f"http://{address}/-/ready", process, log)
        yield f"http://{address}/consoles"
    finally:
        process.terminate()
        process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=10):
                return True
        except OSError:
            return False

    wait_for("Prometheus to be ready", answers, every=0.05)
