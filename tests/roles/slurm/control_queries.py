"""Queries of a lab with a controller pair: slurmctld, slurmrestd and accounting."""

import json
from typing import Any

from sandbox.demo.cluster import wait_for
from sandbox.nspawn.machine import nodes
from tests.roles.slurm.controller_pair_lab import Jobs

ASK = """
import json, sys, urllib.request
request = urllib.request.Request("http://127.0.0.1:6820/" + sys.argv[1], headers=json.loads(sys.argv[2]))
try:
    with urllib.request.urlopen(request, timeout=20) as response:
        print(response.status, response.read().decode())
except urllib.error.HTTPError as error:
    print(error.code)
"""


def ask(jobs: Jobs, path: str, **headers: str) -> tuple[int, Any]:
    """Return the answer of slurmrestd on its own host."""
    code, _, body = jobs.run("dgx01", "python3", "-c", ASK, path, json.dumps(headers)).partition(" ")
    return int(code), json.loads(body) if body else None


def token(jobs: Jobs) -> dict[str, str]:
    """Return the request headers with a new token of alice."""
    shown = jobs.run("ctl01", "scontrol", "token", "username=alice", "lifespan=600")
    return {"X-SLURM-USER-TOKEN": shown.strip().partition("=")[2]}


def written(jobs: Jobs) -> None:
    """Wait until the present queue is on disk: Slurm writes it every 5 s, and a crash loses later changes."""
    file = f"{setting(jobs, 'StateSaveLocation')}/job_state"
    now = float(jobs.run("ctl01", "date", "+%s.%N"))
    jobs.submit(0, "--hold", "--job-name=mark")

    def modified() -> float:
        # As slurm: the NFS server maps root to nobody.
        return float(jobs.run("ctl01", "runuser", "-u", "slurm", "--", "stat", "-c", "%.Y", file))

    wait_for(f"{file} newer than {now}", modified, lambda at: at > now)


def accounted(jobs: Jobs, *numbers: int) -> list[str]:
    """Wait until the database has the ends of the jobs, and return its states."""

    def states() -> list[str]:
        listed = ",".join(str(number) for number in numbers)
        return jobs.run("dgx01", "sacct", "-nXPj", listed, "-o", "state").split()

    return wait_for("accounting", states, lambda shown: shown == ["COMPLETED"] * len(numbers))


def answers(jobs: Jobs) -> bool:
    """Return whether a controller is active: a standby rejects this query."""
    return nodes.exec(jobs.lab, "dgx01", ["timeout 30 squeue -h"], timeout=120).returncode == 0


def acts(jobs: Jobs, name: str) -> bool:
    """Return whether this controller is active, by its log: its last message is not that it is a standby."""
    last_line = nodes.exec(
        jobs.lab, name, ["grep -E 'Running as primary|background mode' /var/log/slurm/slurmctld.log | tail -1"]
    )
    return "Running as primary" in last_line.stdout


def setting(jobs: Jobs, key: str) -> str:
    """Return a setting of the active controller."""
    lines = jobs.run("dgx01", "scontrol", "show", "config").splitlines()
    return next(line.partition("=")[2].strip() for line in lines if line.split("=")[0].strip() == key)


def boot_time(jobs: Jobs) -> str:
    """Return the start of the active slurmctld; empty if none is active."""
    shown = nodes.exec(jobs.lab, "ctl01", ["timeout 30 scontrol show config"], timeout=120).stdout
    return next((line.partition("=")[2].strip() for line in shown.splitlines() if line.startswith("BOOT_TIME")), "")


def reason(jobs: Jobs, number: int) -> str:
    """Return why a job waits."""
    return jobs.run("ctl01", "squeue", "--noheader", f"--jobs={number}", "--format=%r").strip()


def restarts(jobs: Jobs, number: int) -> int:
    """Return how often a job was requeued."""
    shown = jobs.json("ctl01", "scontrol", "show", "job", str(number), "--json")
    return int(shown["jobs"][0]["restart_cnt"])
