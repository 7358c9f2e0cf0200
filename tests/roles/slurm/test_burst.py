"""The burst controller's service on a separate host: the role's files, and restarts by systemd."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.realise import wheel
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play

pytestmark = [pytest.mark.lab]

ONPREM = IPv4Network("10.47.0.0/16")
SITE = plan(ONPREM, IPv4Network("10.87.0.0/16"), None, (Machine("ctl01", "10.47.0.11"),))
SAMPLE = Path(__file__).parents[2] / "unit/burst/data/burst.json"
UNIT, STATE = "landbridge-burst.service", "/var/lib/landbridge"
CREDENTIALS = "[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = not-a-real-one\n"


@dataclass(frozen=True)
class Host:
    """The controller, with its operator's commands."""

    lab: Layout
    folder: Path
    wheel: Path  # the same for every run, even if the checkout changes meanwhile

    def run(self, command: str) -> str:
        done = nodes.exec(self.lab, "ctl01", [command], timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str, **change: Any) -> Played:
        config = json.loads(SAMPLE.read_text()) | {"endpoint": "http://127.0.0.1:9"}
        variables: Mapping[str, Any] = {
            "burst_config": config,
            "burst_credentials": CREDENTIALS,
            "burst_wheel": str(self.wheel),
            "burst_find_links": f"http://{operator_address(ONPREM)}:3143/",
            "python_runtime_find_links": f"http://{operator_address(ONPREM)}:3143/",
            **change,
        }
        host = {"ansible_host": "10.47.0.11", **connection(self.lab), **variables}
        book = [{"hosts": "ctl01", "gather_facts": False, "roles": ["burst"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {"ctl01": host}}}, *words).good()

    @property
    def pid(self) -> str:
        return self.run(f"systemctl show --property=MainPID --value {UNIT}")

    def wait(self, command: str) -> str:
        """Repeat a command until it prints a text, and return the text."""
        log = f"journalctl -u {UNIT} --no-pager | tail -20"
        return wait_for(f"output of `{command}`", lambda: self.run(command), details=lambda: self.run(log))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    lab = layout("landbridge-burst")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        folder = tmp_path_factory.mktemp("burst")
        started = Host(lab, folder, wheel.build(folder))
        started.converge()
        yield started
    finally:
        cleanup.down(lab)


def test_it_runs_as_slurm_and_is_inactive_without_slurmctld(host: Host) -> None:
    assert host.run(f"systemctl is-enabled {UNIT}; systemctl is-active {UNIT}") == "enabled\nactive"
    assert host.run(f"ps -o user= -p {host.pid}") == "slurm"
    host.wait(f"journalctl -u {UNIT} -o cat | grep scontrol || true")
    assert host.run(f"systemctl show --property=NRestarts --value {UNIT}") == "0"
    assert "landbridge_burst_active 0" in host.run(
        "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:9810/metrics\").read().decode())'"
    )
    resident_kib = int(host.run(f"awk '/VmRSS/ {{print $2}}' /proc/{host.pid}/status"))
    assert resident_kib < 60 * 1024


def test_a_second_run_changes_nothing(host: Host) -> None:
    before = host.pid
    assert host.converge("--diff").changed == {"ctl01": 0}
    assert host.pid == before


def test_the_programs_write_orders_as_slurm_runs_them(host: Host) -> None:
    began = host.run(f"journalctl -u {UNIT} -o cat | wc -l")
    host.run(
        'echo \'{"jobs":[{"job_id":7,"nodes_resume":"p5-[1-2]"}]}\' > /tmp/resume.json; '
        "for p in resume suspend resume-fail; do runuser -u slurm -- env -i SLURM_RESUME_FILE=/tmp/resume.json "
        "/opt/landbridge/bin/landbridge-$p p5-[1-2] || exit 1; done"
    )
    select_orders = 'import sqlite3; print([r for r in sqlite3.connect(\\"/var/lib/landbridge/burst.db\\").execute(\\"select kind, nodes from orders\\")])'
    assert host.run(f'python3 -c "{select_orders}"') == str(
        [(k, "p5-[1-2]") for k in ("resume", "suspend", "resume-fail")]
    )
    assert host.run(f"stat -c %U {STATE}/burst.db /run/landbridge/burst.sock") == "slurm\nslurm"
    assert host.run("stat -c '%U %a' /run/landbridge/burst-prolog.sock") == "slurm 600"
    prolog = "runuser -u slurm -- env -i SLURM_JOB_NODELIST=dgx[01-02] SLURM_JOB_ACCOUNT=patients"
    assert host.run(f"{prolog} /opt/landbridge/bin/landbridge-prolog-wait && echo starts") == "starts"
    # Each order woke the service, which queried slurmctld again.
    host.wait(f"test $(journalctl -u {UNIT} -o cat | wc -l) -gt {began} && echo yes || true")


def test_commands_of_operators_do_not_change_the_owner_of_its_files(host: Host) -> None:
    host.run("/opt/landbridge/bin/landbridge-burst history")
    host.run(
        "/opt/landbridge/bin/landbridge-burst drain p5 --why maintenance && /opt/landbridge/bin/landbridge-burst undrain p5"
    )
    assert set(host.run(f"stat -c %U {STATE}/*").split()) == {"slurm"}


def test_new_settings_and_new_keys_restart_it(host: Host) -> None:
    before = host.pid
    changed = json.loads(SAMPLE.read_text()) | {"endpoint": "http://127.0.0.1:9", "lease_minutes": 20}
    host.converge(burst_config=changed)
    second = host.pid
    assert second != before
    host.converge(burst_config=changed, burst_credentials=CREDENTIALS.replace("EXAMPLE", "ANOTHER"))
    assert host.pid not in (before, second)
    assert host.run("stat -c '%U %a' /etc/landbridge/aws-credentials") == "slurm 600"


def test_after_a_kill_it_is_restarted_and_a_stop_ends_it_in_time(host: Host) -> None:
    before = host.pid
    host.run(f"kill -9 {before}")
    host.wait(f"systemctl show --property=MainPID --value {UNIT} | grep -vx -e 0 -e {before} || true")
    host.run(f"systemctl is-active --wait {UNIT} || true")
    host.run(f"systemctl restart {UNIT}")
    # After its stop timeout systemd would have killed it, with another result.
    result = host.run(f"systemctl show --property=Result --value {UNIT}")
    assert result.strip() == "success"


def test_the_unit_restricts_files_and_capabilities(host: Host) -> None:
    exposure = json.loads(host.run(f"systemd-analyze security --json=short --no-pager {UNIT} || true") or "[]")
    assert exposure, "systemd-analyze printed nothing"
    root = f"nsenter -t {host.pid} -m"
    assert host.run(f"{root} touch /etc/x 2>&1 || true").endswith("Read-only file system")
    assert host.run(f"{root} touch {STATE}/x && {root} rm {STATE}/x && echo yes") == "yes"
    assert host.run(f"grep CapBnd /proc/{host.pid}/status").endswith("0000000000000000")
