"""A real slurmctld with the planned files: the jobs and the changes of jobs that it refuses."""

import json
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.staging.queue import data_format, jobs_of
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.staging.statement import HELD_PREFIX
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import image_builder, nodes
from sandbox.nspawn.site import Machine, plan
from tests.unit.core.samples import environment

pytestmark = [pytest.mark.lab]

NAME = "landbridge-test-changes"
ADDRESSES = {"ctl01": "10.42.0.11", "dgx01": "10.42.1.11"}
SERVICES = ("ctl01", "db01", "login01", "nfs01", "gw01", "mlops01")
# No database, and no program that starts cloud nodes: permitted jobs for them stay pending.
ABSENT = ("AccountingStorageType", "AccountingStorageHost", "AccountingStorageTRES", "AccountingStorageEnforce")
ABSENT += ("ResumeProgram", "SuspendProgram", "ResumeFailProgram", "PrologSlurmctld", "HealthCheckProgram")
CONF: DataPath = ("scheduler", "overrides", "slurm_conf")


@dataclass(frozen=True)
class Site:
    """The lab with one controller and one node, with one Slurm release."""

    lab: Layout
    release: str
    book: Path

    def configure(self, changes: Mapping[DataPath, Any] | None = None) -> str:
        """Run the roles with the plan for the environment and `changes`; return Ansible's last lines."""
        planned = inventory(chosen(self.release, changes or {}))
        variables = {**planned["all"]["vars"], **planned["slurm_controller"]["vars"], **planned["slurm_node"]["vars"]}
        variables |= {"slurm_controller_database_host": "", "slurm_common_key": "k" * 64}
        plays = [
            {"hosts": host, "gather_facts": False, "roles": roles}
            for host, roles in (("ctl01", ["base", "slurm_controller"]), ("dgx01", ["base", "slurm_node"]))
        ]
        self.book.write_text(json.dumps(plays))
        image_builder.run_playbook(self.lab, self.book, ADDRESSES, variables)
        return (self.lab.state / "ansible" / f"{self.book.stem}.log").read_text().rpartition("PLAY RECAP")[2]

    def ask(self, command: str, user: str = "root", host: str = "ctl01") -> tuple[int, str]:
        done = nodes.exec(self.lab, host, [f"cd /tmp; runuser -u {user} -- {command}"], timeout=300)
        return done.returncode, done.stdout + done.stderr

    def run(self, command: str, user: str = "root", host: str = "ctl01") -> str:
        code, output = self.ask(command, user, host)
        assert code == 0, f"{command}: {output}"
        return output.strip()


def chosen(release: str, changes: Mapping[DataPath, Any]) -> Environment:
    site_changes: dict[DataPath, Any] = {
        ("onprem", "cidr"): "10.42.0.0/16",
        ("onprem", "nodes"): [{"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"], "rack": "r1"}],
        ("onprem", "addresses"): {name: f"10.42.0.{11 + number}" for number, name in enumerate(SERVICES)},
        ("aws", "cidr"): "10.82.0.0/16",
        ("scheduler", "slurm"): {"version": release, "packages_mirror": None},
        ("scheduler", "cgroup"): "v1",
        ("scheduler", "accounts", "clinic"): {"users": ["bob"], "data_class": "restricted"},
        ("placement", "classes"): {
            "baseline": {"accounts": ["vision"], "names": ["train-*"], "comments": ["*steady*"]}
        },
        ("storage", "staging"): {"folder": "/export/home/datasets", "mount": "/home/datasets"},
        CONF: {**dict.fromkeys(ABSENT), "SlurmdParameters": "config_overrides"},
    }
    return environment({**site_changes, **changes})


@pytest.fixture(scope="module", params=["26.05", pytest.param("24.11", marks=pytest.mark.long)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lab = layout(NAME)
    machines = (Machine("ctl01", ADDRESSES["ctl01"]), Machine("dgx01", ADDRESSES["dgx01"], gpus=8))
    cleanup.down(lab)
    try:
        built = plan(IPv4Network("10.42.0.0/16"), IPv4Network("10.82.0.0/16"), None, machines)
        whole.up(lab, built, lambda line: print(f"  {line}", file=sys.stderr))
        started = Site(lab, request.param, tmp_path_factory.mktemp("book") / "changes.yml")
        started.configure()
        wait_for(
            "the node in service",
            lambda: started.run("sinfo -h -n dgx01 -p onprem -o %T"),
            lambda state: state == "idle",
            details=lambda: started.run("scontrol show node dgx01"),
        )
        # An administrator has opened the partitions to all accounts: now only job_submit.lua refuses jobs.
        for partition in ("gpu", "p5"):
            started.run(f"scontrol update partitionname={partition} allowaccounts=ALL")
        yield started
    finally:
        cleanup.down(lab)


def submitted(site: Site, words: str, user: str = "alice") -> str:
    return site.run(f"sbatch --parsable --hold --mem=100 {words} --wrap true", user)


REFUSED = [
    "-A clinic",
    "-A clinic -p p5",
    "-A clinic -p onprem,p5",
    "-A clinic -p p5 --array=1-9",
    "-A clinic -p onprem -n1 : -A clinic -p p5 -n1",
    "-A vision -p p5 -n1 : -A clinic -p gpu -n1",
    "-A unknown -p p5",
]


@pytest.mark.parametrize("words", REFUSED)
def test_a_job_with_data_not_permitted_in_aws_is_refused_with_the_reason(site: Site, words: str) -> None:
    code, output = site.ask(f"sbatch --hold {words} --wrap true", "alice")
    assert code != 0 and "landbridge: account '" in output and "AWS" in output, output
    if words == "-A clinic -p p5":
        assert "data of class 'restricted', which may be on-prem only" in output and "Use: --partition=onprem" in output
    assert site.run("squeue -h -A clinic,unknown") == ""


def test_srun_of_such_a_job_is_refused_too(site: Site) -> None:
    code, output = site.ask("srun -A clinic -p p5 -t1 true", "alice")
    assert code != 0 and "landbridge: account 'clinic'" in output


def test_permitted_jobs_are_accepted(site: Site) -> None:
    jobs = [submitted(site, words) for words in ("-A vision", "-A vision -p p5 --array=1-3", "-A clinic -p onprem")]
    jobs.append(submitted(site, "-A clinic -p onprem -n1 : -A clinic -p onprem -n1"))
    waiting = site.run(f"squeue -h -o %F -j {','.join(jobs)}").split()
    assert set(jobs) <= set(waiting)
    site.run(f"scancel {' '.join(jobs)}")


BASELINE = "-A vision -J train-1 --comment=steady"


@pytest.mark.parametrize("words", ["-p p5", "-p onprem,p5", "-p p5 --array=1-9", "-p onprem -n1 : -p p5 -n1"])
def test_a_job_of_a_workload_class_is_refused_outside_the_sites_of_the_class(site: Site, words: str) -> None:
    parts = " : ".join(f"{BASELINE} {part}" for part in words.split(" : "))
    code, output = site.ask(f"sbatch --hold {parts} --wrap true", "alice")
    assert code != 0 and "jobs of class 'baseline' may be on-prem only; partition 'p5'" in output, output
    assert "Use: --partition=onprem" in output


def test_the_labels_of_a_job_select_its_workload_class(site: Site) -> None:
    at_home = submitted(site, f"{BASELINE} -p onprem")
    others = [submitted(site, f"-A vision -p p5 {words}") for words in ("-J train-1", "-J eval-1 --comment=steady")]
    code, output = update_job(site, f"jobid={at_home} partition=p5", "root")
    assert code != 0 and "jobs of class 'baseline' may be on-prem only" in output, output
    code, output = update_job(site, f"jobid={others[0]} partition=p5,gpu comment=steady", "root")
    assert code != 0 and "class 'baseline'" in output, output
    site.run(f"scancel {at_home} {' '.join(others)}")


def test_a_job_that_states_data_is_held_until_the_controller_releases_it(site: Site) -> None:
    words = "--parsable --mem=100 -A vision -p onprem --comment=data=corpus:1 --deadline=now+2hours -t 5"
    code, answer = site.ask(f"sbatch {words} --wrap true", "alice")
    assert code == 0 and "landbridge: the job is held until its data are where it runs: corpus:1" in answer
    (job,) = [line for line in answer.splitlines() if line.isdigit()]
    form = shlex.quote(f"--Format={data_format('|x|')}")
    queue = site.run(f"env SLURM_TIME_FORMAT=%s squeue --noheader --all --states=PENDING {form}")
    (stated,) = [each for each in jobs_of(queue, "|x|") if each.id == int(job)]
    assert (stated.data, stated.is_held, stated.partition, stated.account) == (("corpus:1",), True, "onprem", "vision")
    assert stated.deadline is not None and stated.minutes == 5 and stated.note.startswith(HELD_PREFIX)
    for command in (f"release {job}", f"update jobid={job} comment=data=other:1", f"update jobid={job} partition=p5"):
        code, answer = site.ask(f"scontrol {command}", "alice")
        assert code != 0 and "landbridge: " in answer, f"{command}: {answer}"
    # As the burst controller: by the account of slurmctld.
    site.run(f"scontrol update jobid={job} admincomment='{HELD_PREFIX}text'", "slurm")
    site.run(f"scontrol release {job}", "slurm")
    wait_for(
        "the end of the job", lambda: site.run(f"scontrol show job {job}"), lambda shown: "JobState=COMPLETED" in shown
    )
    code, answer = site.ask("sbatch -A vision -p onprem --comment=data=corpus --wrap true", "alice")
    assert code != 0 and "'corpus' is not NAME:VERSION" in answer


def update_job(site: Site, change: str, user: str) -> tuple[int, str]:
    """Change a job; repeat while slurmctld is scheduling that job and reports so. Return exit status and output."""
    for _ in range(300):
        code, output = site.ask(f"scontrol update {change}", user)
        if "temporarily unavailable" not in output:
            break
        time.sleep(1)
    return code, output


@pytest.mark.parametrize("user", ["root"])
def test_no_change_of_a_job_moves_it_to_aws(site: Site, user: str) -> None:
    onprem_job, aws_job = submitted(site, "-A clinic -p onprem"), submitted(site, "-A vision -p p5")
    array = submitted(site, "-A clinic -p onprem --array=1-3")
    for change in (
        f"jobid={onprem_job} partition=p5",
        f"jobid={onprem_job} partition=onprem,gpu",
        f"jobid={array} partition=p5",
        f"jobid={array}_2 partition=p5",
        f"jobid={aws_job} account=clinic",
        f"jobid={onprem_job} partition=p5 account=unknown",
    ):
        code, output = update_job(site, change, user)
        assert code != 0 and "landbridge: account '" in output, f"{change}: {output}"
    assert site.run(f"squeue -h -r -j {onprem_job},{array} -o %P").split() == ["onprem"] * 4
    assert site.run(f"squeue -h -j {aws_job} -o %a") == "vision"
    # Other changes of the job are permitted, and changes of another job's partition too.
    assert update_job(site, f"jobid={onprem_job} comment=mine timelimit=1", user)[0] == 0
    assert update_job(site, f"jobid={aws_job} partition=onprem", user)[0] == 0
    site.run(f"scancel {onprem_job} {aws_job} {array}")
