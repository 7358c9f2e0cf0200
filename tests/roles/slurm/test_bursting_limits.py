"""Real Slurm with a database and the planned files: reservations of a Capacity Block, GPU minutes of a hard budget."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import environment

pytestmark = [pytest.mark.lab]

ONPREM, CLOUD, ADDRESS = IPv4Network("10.48.0.0/16"), IPv4Network("10.88.0.0/16"), "10.48.0.11"
SERVICES = ("controller", "login", "database", "storage", "gateway", "mlops")
#: No program starts cloud nodes here: jobs for them stay pending, with a reason.
ABSENT = ("ResumeProgram", "SuspendProgram", "ResumeFailProgram", "PrologSlurmctld", "HealthCheckProgram")
OPENS = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4", "count": 4}
NAME = "landbridge-block-p5-1"


def chosen(release: str, **window: str) -> Environment:
    pool = {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 4, "min_nodes": 4, "capacity": [{**BLOCK, **window}]}
    second_pool = {"name": "more", "instance": "p5.48xlarge", "max_nodes": 4}
    changes: dict[DataPath, Any] = {
        ("onprem",): {
            "cidr": str(ONPREM),
            "services": {service: ["ctl01"] if service in ("controller", "login") else "ctl01" for service in SERVICES},
            "addresses": {"ctl01": ADDRESS},
        },
        ("aws", "cidr"): str(CLOUD),
        ("aws", "pools"): [pool, second_pool],
        ("scheduler", "slurm"): {"version": release, "packages_mirror": None},
        ("scheduler", "cgroup"): "v1",
        ("scheduler", "overrides", "slurm_conf"): dict.fromkeys(ABSENT),
        # 1000 USD pay for an hour of one node, but not for a day.
        ("budget",): {"accounts": {"vision": {"monthly_usd": 1000, "hard": True}}},
    }
    return environment({**changes})


@dataclass(frozen=True)
class Site:
    """The lab with one host: controller and database."""

    lab: Layout
    release: str
    folder: Path

    def converge(self, *before: str, check_only: bool = False, **window: str) -> Played:
        """Run the roles `before` and the controller's, with the plan for this window of the block."""
        planned = inventory(chosen(self.release, **window))
        variables = {
            **planned["all"]["vars"],
            **planned["slurm_controller"]["vars"],
            **planned["slurm_database"]["vars"],
        }
        variables |= {"slurm_common_key": "k" * 64, "slurm_database_password": "p" * 32}
        book = [{"hosts": "ctl01", "gather_facts": False, "roles": [*before, "slurm_controller"]}]
        host = {"ansible_host": ADDRESS, **connection(self.lab), **variables}
        words = ("--check", "--diff") if check_only else ()
        return play(self.lab, self.folder, book, {"all": {"hosts": {"ctl01": host}}}, *words).good()

    def run(self, command: str, user: str = "root") -> str:
        done = nodes.exec(self.lab, "ctl01", [f"cd /tmp; runuser -u {user} -- {command}"], timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def reason(self, job: str) -> str:
        return self.run(f"squeue -h -o %r -j {job}")


def window() -> dict[str, str]:
    return {"starts": OPENS.isoformat(), "ends": (OPENS + timedelta(days=1)).isoformat()}


@pytest.fixture(scope="module", params=["26.05", pytest.param("24.11", marks=pytest.mark.long)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lab = layout("landbridge-test-limits")
    cleanup.down(lab)
    try:
        built = plan(ONPREM, CLOUD, None, (Machine("ctl01", ADDRESS),))
        whole.up(lab, built, lambda line: print(f"  {line}", file=sys.stderr))
        started = Site(lab, request.param, tmp_path_factory.mktemp("limits"))
        started.converge("base", "slurm_database", **window())
        yield started
    finally:
        cleanup.down(lab)


def test_a_check_and_a_second_run_change_nothing(site: Site) -> None:
    assert site.converge(check_only=True, **window()).changed == {"ctl01": 0}
    assert site.converge(**window()).changed == {"ctl01": 0}


def test_every_partition_in_aws_has_the_limit(site: Site) -> None:
    for partition, qos in (("p5", "landbridge-aws"), ("more", "landbridge-aws")):
        assert f"QoS={qos}" in site.run(f"scontrol show partition {partition}")
    shown = site.run("sacctmgr -nP show qos landbridge-aws format=grptresmins,flags")
    minutes, flags = shown.split("|")
    assert minutes.startswith("gres/gpu=") and int(minutes.partition("=")[2]) == int(1000 / (55.04 / 8 / 60))
    assert flags == "NoDecay"


def test_a_job_above_the_budget_is_pending_with_the_reason(site: Site) -> None:
    expensive, cheap = (
        site.run(f"sbatch --parsable -p more -N1 --gres=gpu:8 --mem=100 -t {limit} --wrap true", "alice")
        for limit in ("1-0", "1:00:00")
    )
    wait_for("the reason of the expensive job", lambda: site.reason(expensive), lambda reason: "Minutes" in reason)
    assert "Minutes" not in site.reason(cheap)
    site.run(f"scancel {expensive} {cheap}")


def test_before_a_block_starts_its_nodes_are_reserved(site: Site) -> None:
    (reservation,) = (
        shown
        for shown in json.loads(site.run("scontrol show reservation --json"))["reservations"]
        if shown["name"] == NAME
    )
    assert reservation["node_list"] == "p5-[1-4]" and reservation["end_time"]["number"] == int(OPENS.timestamp())
    assert {"IGNORE_JOBS", "OVERLAP"} <= set(reservation["flags"]) and "MAINT" not in reservation["flags"]
    job = site.run("sbatch --parsable -p p5 -N1 --gres=gpu:8 --mem=100 -t 30 --wrap true", "alice")
    wait_for("the job's reason", lambda: site.reason(job), lambda reason: "eserv" in reason)
    site.run(f"scancel {job}")


def test_the_monthly_timer_resets_the_usage(site: Site) -> None:
    assert site.run("systemctl is-enabled landbridge-month.timer") == "enabled"
    site.run("systemctl start landbridge-month.service")
    assert "GrpTRESMins" in site.run("scontrol show assoc_mgr flags=qos qos=landbridge-aws")


def test_a_reservation_follows_a_new_block_and_is_deleted_without_a_block(site: Site) -> None:
    later = OPENS + timedelta(days=1)
    site.converge(starts=later.isoformat(), ends=(later + timedelta(days=2)).isoformat())
    assert site.converge(starts=later.isoformat(), ends=(later + timedelta(days=2)).isoformat()).changed == {"ctl01": 0}
    shown = json.loads(site.run("scontrol show reservation --json"))["reservations"]
    assert [reservation["end_time"]["number"] for reservation in shown if reservation["name"] == NAME] == [
        int(later.timestamp())
    ]
    site.converge()
    assert "landbridge-block" not in site.run("scontrol show reservation")
