"""Memory and processor time of agents: programs of the roles with the settings of a GPU node, as processes of this machine."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import jinja2
import yaml

from sandbox.ports import free_port
from tests.roles.jobs.program_module import ROLES
from tests.unit.observability.debian_programs import debian_program

TICKS = os.sysconf("SC_CLK_TCK")
PYTHON = "/usr/bin/python3"


@dataclass(frozen=True)
class Use:
    """Memory (PSS) of the processes in MiB, and the processor time of one pass in seconds; None: not measured."""

    mib: float
    cpu_seconds: float | None = None


def pss_mib(pid: int) -> float:
    """Return the proportional set size of a process and its children; 0 of one that ends."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    kib = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024 + sum(pss_mib(int(child)) for child in children)


def ticks(pid: int) -> int:
    """Return the processor time of a process, in clock ticks."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def pass_of(command: list[str], passes: int, **environment: str) -> Use:
    """Run a program several times; return the largest memory seen, and the mean processor time with its children."""
    seconds, peak = 0.0, 0.0
    for _ in range(passes):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
        ended, status, usage = 0, 0, None
        while not ended:
            peak = max(peak, pss_mib(process.pid))
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0 and usage is not None, command
        seconds += usage.ru_utime + usage.ru_stime
    return Use(peak, seconds / passes)


@contextmanager
def daemon(command: list[str], **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the end of the block."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment}
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def until(condition: Path | str) -> bytes:
    """Wait for a file, or return the answer of a server, within a minute."""
    deadline = monotonic() + 60
    while True:
        try:
            if isinstance(condition, Path):
                condition.stat()
                return b""
            with urllib.request.urlopen(condition, timeout=60) as answer:
                return bytes(answer.read())
        except OSError:
            assert monotonic() < deadline, condition
            sleep(0.02)


def node_exporter(folder: Path, scrapes: int) -> Use:
    """Scrape the exporter with the role's arguments, without TLS and account."""
    defaults: Mapping[str, str] = yaml.safe_load((ROLES / "node_exporter/defaults/main.yml").read_text())
    address = f"127.0.0.1:{free_port()}"
    variables = {**defaults, "node_exporter_listen": address, "node_exporter_textfiles": str(folder)}
    text = jinja2.Template((ROLES / "node_exporter/templates/arguments.j2").read_text()).render(variables)
    arguments = text.partition('"')[2].rpartition('"')[0].split(" ")
    arguments = [word for word in arguments if not word.startswith("--web.config.file")]
    program = debian_program("prometheus-node-exporter", "prometheus-node-exporter")
    with daemon([str(program), *arguments]) as process:
        for _ in range(3):
            until(f"http://{address}/metrics")
        before = ticks(process.pid)
        for _ in range(scrapes):
            until(f"http://{address}/metrics")
        return Use(pss_mib(process.pid), (ticks(process.pid) - before) / TICKS / scrapes)


def host_metrics(folder: Path, passes: int) -> Use:
    """Run the timer's program with one certificate, as on a GPU node."""
    certificate, settings = folder / "host.pem", folder / "host-metrics.json"
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node", "-days", "9"]
    subprocess.run([*new, "-keyout", certificate, "-out", certificate], check=True, capture_output=True)
    empty = {"backups": {}, "sources": {}, "metrics": {}, "probes": {}, "authority": ""}
    settings.write_text(json.dumps({"certificates": {"host": str(certificate)}, **empty}))
    program = ROLES / "node_exporter/files/landbridge-host-metrics"
    return pass_of([PYTHON, str(program), str(settings), str(folder / "host.prom")], passes)


def node_health(passes: int) -> Use:
    """Start the program of the health checks, without a call of nvidia-smi or Slurm."""
    return pass_of([PYTHON, "-sS", "-m", "node_health", "show"], passes, PYTHONPATH=str(ROLES / "node_health/files"))


def job_credentials(folder: Path, requests: int) -> Use:
    """Ask the endpoint of jobs' credentials, which refuses a process that is in no job."""
    port, settings, program = free_port(), folder / "job-credentials.json", folder / "landbridge-job-credentials"
    settings.write_text(json.dumps({"source": "profile", "port": port, "profiles": "/nonexistent", "seconds": 3600}))
    text = (ROLES / "job_credentials/files/landbridge-job-credentials").read_text()
    program.write_text(text.replace("/etc/landbridge/job-credentials.json", str(settings)))
    with daemon([PYTHON, "-I", str(program)]) as process:
        before = 0
        for number in range(requests + 1):
            _refused(port)
            before = before if number else ticks(process.pid)
        return Use(pss_mib(process.pid), (ticks(process.pid) - before) / TICKS / requests)


def _refused(port: int) -> None:
    deadline = monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/jobs/1", timeout=60)
        except urllib.error.HTTPError as error:
            if error.code == 403:
                return
            raise
        except OSError:
            assert monotonic() < deadline
            sleep(0.02)


def dataset_cache(folder: Path) -> Use:
    """Start the cache of datasets without a dataset."""
    settings, at = folder / "dataset-cache.json", folder / "cache.socket"
    values = {
        "root": str(folder / "datasets"),
        "source": str(folder),
        "limit_bytes": 1 << 30,
        "classes": {},
        "workers": 4,
    }
    settings.write_text(json.dumps({**values, "socket": str(at), "inspection_seconds": 10}))
    with daemon(
        [PYTHON, "-s", "-m", "dataset_cache", "serve"],
        PYTHONPATH=str(ROLES / "dataset_cache/files"),
        LANDBRIDGE_DATASET_CACHE=str(settings),
    ) as process:
        until(at)
        return Use(pss_mib(process.pid))


def cloud_agent(folder: Path, seconds: float) -> Use:
    """Run the agent of a cloud node, whose controller answers, for some passes that follow each other at once."""
    settings, ping = folder / "agent.json", folder / "scontrol"
    ping.write_text(
        '#!/bin/sh\necho "$*" >>' + str(folder / "pings") + '\necho \'{"pings": [{"responding": true}]}\'\n'
    )
    ping.chmod(0o755)
    values = {"interval_seconds": seconds, "ping_seconds": 30, "lease_minutes": 30, "requeue_seconds": 30}
    settings.write_text(
        json.dumps({**values, "warning_seconds": 120, "signal": "USR1", "rebalance": True, "hooks": str(folder)})
    )
    environment = {"LANDBRIDGE_AGENT_SETTINGS": str(settings), "PATH": f"{folder}:{os.environ['PATH']}"}
    environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:9"
    with daemon([PYTHON, str(ROLES / "cloud_agent/files/landbridge-cloud-agent")], **environment) as process:
        until(folder / "pings")
        return Use(pss_mib(process.pid))
