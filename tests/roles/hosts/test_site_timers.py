"""Timers of the site on real machines: each unit once, what it wrote, and the rotation of the keys."""

import json
import re
from collections.abc import Iterator
from shlex import quote
from typing import Any

import pytest

from landbridge.plan.network.services.mlflow_servers import MlflowServer, mlflow_servers
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.hosts.timers_lab import ADDRESSES, CONTROLLER, GATEWAY, NODE, SITE, Lab, site_environment

pytestmark = [pytest.mark.lab, pytest.mark.long]
TEXTFILES = "/var/lib/prometheus/node-exporter"
STATE = "/var/lib/landbridge-timers"
ASK = "import sys; from landbridge.ops.host_access import ask; print(ask(%r, 600))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = layout("landbridge-test-timers")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        started = Lab(lab, tmp_path_factory.mktemp("timers"))
        started.run(NODE, "echo 'tmpfs /home tmpfs defaults' >> /etc/fstab && mount /home")
        started.converge().good()
        wait_for("the node in service", lambda: started.run(NODE, "sinfo -h -o %T"), lambda states: "idle" in states)
        yield started
    finally:
        cleanup.down(lab)


def passed(site: Lab, timer: str) -> dict[str, float]:
    """Start the unit of a timer, which has to succeed; return the metrics that it wrote."""
    site.run(
        CONTROLLER, f"rm -f {TEXTFILES}/landbridge-timer-{timer}.prom; systemctl start landbridge-timer-{timer} || true"
    )
    shown = site.run(CONTROLLER, f"systemctl show --property=Result,ExecMainStatus landbridge-timer-{timer}")
    journal = site.run(CONTROLLER, f"journalctl --quiet --no-pager --lines=60 --unit=landbridge-timer-{timer}")
    assert "Result=success" in shown, f"{shown}\n{journal}"
    text = site.run(CONTROLLER, f"cat {TEXTFILES}/landbridge-timer-{timer}.prom || true")
    values = {name: float(value) for name, value in re.findall(r"^(landbridge\S+) (\S+)$", text, re.MULTILINE)}
    assert values, f"no metrics\n{shown}\n{journal}"
    return values


def test_a_second_run_changes_nothing_and_the_check_mode_neither(site: Lab) -> None:
    assert site.converge().good().changed == dict.fromkeys(ADDRESSES, 0)


def test_every_planned_timer_is_enabled_and_runs_as_its_account_without_rights(site: Lab) -> None:
    timers = site.run(CONTROLLER, "systemctl list-unit-files 'landbridge-timer-*.timer' --no-legend").splitlines()
    assert {line.split()[0].removeprefix("landbridge-timer-").removesuffix(".timer") for line in timers} >= {
        "health",
        "idle",
        "link",
    }
    assert all(line.split()[1] == "enabled" for line in timers)
    files = site.run(CONTROLLER, "stat -c '%n %U %G %a' /etc/landbridge/timers/*").splitlines()
    modes = {line.split()[0].rpartition("/")[2]: " ".join(line.split()[1:]) for line in files}
    assert modes["nodes"] == modes["gateways"] == "root root 600"
    assert [mode for name, mode in modes.items() if name.endswith("-password")] == ["root root 400"] * 2


def test_the_pass_of_health_reads_the_node_through_its_forced_command(site: Lab) -> None:
    metrics = passed(site, "health")
    assert metrics['landbridge_timer_unanswered{timer="health"}'] == 0
    assert metrics['landbridge_health_nodes{state="healthy"}'] == 1
    assert metrics['landbridge_timer_interval_seconds{timer="health"}'] == 300
    assert "landbridge-access" in site.run(
        NODE, "journalctl --quiet --no-pager --unit=ssh --grep=landbridge-access | tail -1"
    )
    owners = site.run(CONTROLLER, f"find {STATE}/slurm -type f -printf '%u %m\n' | sort -u")
    assert "slurm" in owners, owners


def test_the_pass_of_idle_gpus_reads_the_samples_of_a_jobs_node(site: Lab) -> None:
    script = "--account=vision --gres=gpu:1 --mem=100 --time=9 --chdir=/tmp --output=/dev/null --wrap='sleep 600'"
    job = site.run(NODE, f"runuser -u alice -- sbatch --parsable --partition=onprem {script}")
    wait_for("the job", lambda: site.run(NODE, f"squeue -h -j {job} -o %T"), lambda state: state == "RUNNING")
    metrics = passed(site, "idle")
    assert metrics['landbridge_timer_unanswered{timer="idle"}'] == 0
    site.run(NODE, f"scancel {job}")


def test_the_pass_of_the_link_reads_the_gateway_with_another_key(site: Lab) -> None:
    metrics = passed(site, "link")
    assert metrics['landbridge_timer_unanswered{timer="link"}'] == 0
    assert "landbridge-access" in site.run(
        GATEWAY, "journalctl --quiet --no-pager --unit=ssh --grep=landbridge-access | tail -1"
    )


def tracked(site: Lab, server: MlflowServer, path: str, body: dict[str, Any] | None = None) -> Any:
    """Return the answer of a server of MLflow to its administrator."""
    secret = site.secrets / ("mlflow-admin" if server.name == "mlflow" else f"mlflow-admin-{server.data_class}")
    words = "curl --silent --show-error --fail-with-body --cacert /etc/landbridge/tls/ca.pem"
    words += f" --user admin:{secret.read_text().strip()}"
    if body is not None:
        words += f" --header 'Content-Type: application/json' --data {quote(json.dumps(body))}"
    url = f"https://{CONTROLLER}:{server.port}/api/2.0/mlflow/{path}"
    return json.loads(site.run(CONTROLLER, f"{words} {quote(url)}"))


def test_the_pass_of_costs_tags_the_run_of_an_ended_job_on_each_server(site: Lab) -> None:
    script = "--account=vision --gres=gpu:2 --mem=100 --time=9 --chdir=/tmp --output=/dev/null --wrap='sleep 2'"
    job = site.run(NODE, f"runuser -u alice -- sbatch --parsable --partition=onprem {script}")
    accounted = f"sacct -nXP -j {job} -o State"
    wait_for("the record", lambda: site.run(CONTROLLER, accounted), lambda state: state == "COMPLETED")
    tags = [{"key": "landbridge.cluster", "value": "test"}, {"key": "landbridge.job_id", "value": job}]
    now = int(site.run(CONTROLLER, "date +%s")) * 1000
    servers = mlflow_servers(site_environment())
    assert len(servers) == 2
    for server in servers:
        body = {"experiment_id": "0", "start_time": now - 5000, "tags": tags}
        run = tracked(site, server, "runs/create", body)["run"]["info"]["run_id"]
        tracked(site, server, "runs/update", {"run_id": run, "status": "FINISHED", "end_time": now})
        timer = "cost" if server.name == "mlflow" else f"cost-{server.name}"
        assert passed(site, timer)[f'landbridge_timer_completed_timestamp_seconds{{timer="{timer}"}}'] > 0
        shown = tracked(site, server, f"runs/get?run_id={run}")["run"]["data"]["tags"]
        assert float({tag["key"]: tag["value"] for tag in shown}["cost.usd"]) > 0


def test_a_rung_runs_on_the_node_in_its_reservation_for_the_account_of_the_timers_only(site: Lab) -> None:
    site.run(
        CONTROLLER,
        f"scontrol create reservation=landbridge-health-{NODE} nodes={NODE} users=root starttime=now duration=30 flags=maint,ignore_jobs",
    )
    answer = site.as_account("slurm", "landbridge-access", ASK % f"rung {NODE} driver")
    assert answer.startswith("(0, ") and answer.count("580.") >= 8, answer
    for words in (f"rung {NODE} training", "rung ctl01 driver"):
        assert not site.as_account("slurm", "landbridge-access", ASK % words).startswith("(0, ")
    refused = (
        "import socket; s = socket.socket(socket.AF_UNIX); print(s.connect_ex('/run/landbridge-host-access.sock'))"
    )
    assert site.as_account("nobody", "nogroup", refused) == "13"
    site.run(CONTROLLER, f"scontrol delete reservation=landbridge-health-{NODE}")


def test_after_the_rotation_of_the_keys_the_passes_answer_and_the_former_keys_are_gone(site: Lab) -> None:
    files = "/var/lib/landbridge-access/.ssh/authorized_keys"
    before = {host: site.run(host, f"cat {files}") for host in (NODE, GATEWAY)}
    site.rotate().good()
    for host, text in before.items():
        after = site.run(host, f"cat {files}")
        assert after.count("ssh-ed25519") == text.count("ssh-ed25519") == 1 and after != text
    assert passed(site, "health")['landbridge_timer_unanswered{timer="health"}'] == 0
    assert passed(site, "link")['landbridge_timer_unanswered{timer="link"}'] == 0
    assert site.converge().good().changed == dict.fromkeys(ADDRESSES, 0)
