"""The service as a process that is killed with kill -9, against programs that print as Slurm's: no step has two jobs."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.pipelines.service import queue
from tests.unit.pipelines.pipeline_world import request

ROOT = Path(__file__).parents[3]
#: sbatch, squeue, sacct and scancel with one file of jobs. They refuse what Slurm's programs refuse.
PROGRAM = """#!{python}
import fcntl, json, os, pathlib, sys, time
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
state = pathlib.Path({state!r})
options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
with open(state, "r+") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    jobs = json.load(file)
    kill = state.with_name("kill")
    deadly = kill.read_text().split() if kill.exists() else []
    def end_service(moment):
        if deadly == [name, moment]:
            state.with_name("reached").touch()
            while kill.exists():
                time.sleep(0.01)
            sys.exit(1)
    end_service("before")
    if name == "sbatch":
        if "--parsable" not in words or not sys.stdin.read().startswith("#!"):
            sys.exit("sbatch: error: This does not look like a batch script")
        if "account" not in options or os.getuid() != {uid}:
            sys.exit("sbatch: error: Batch job submission failed: Invalid account")
        environment = {{key: value for key, value in os.environ.items() if key.startswith("LANDBRIDGE_")}}
        jobs.append({{"name": options["job-name"], "comment": options["comment"], "environment": environment}})
        file.seek(0); json.dump(jobs, file); file.truncate(); file.flush()
        end_service("after")
        print(100 + len(jobs))
    elif name == "squeue":
        separator = options["Format"].split(",")[0].partition(":0")[2]
        rows = [("JobID", 101 + i, j) for i, j in enumerate(jobs) if j["name"] in options["name"].split(",")]
        for _, number, job in rows:
            print("".join(f"{{field}}{{separator}}" for field in (number, job["name"], {user!r}, "COMPLETED", "None")))
        end_service("after")
    elif name == "sacct":
        assert options["format"] == "JobIDRaw,JobName,User,State,ElapsedRaw,NodeList,AllocTRES", options
        time.strptime(options["starttime"], "%Y-%m-%dT%H:%M:%S")
"""


@pytest.fixture
def site() -> Iterator[tuple[Path, str]]:
    """Folder that the owner reaches, and the owner: another user if this process is root's."""
    owner = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="landbridge-pipelines-"))
    folder.chmod(0o755)
    try:
        yield folder, owner
    finally:
        shutil.rmtree(folder)


def install(folder: Path, owner: str) -> Path:
    """Install the programs, the owner's home and the configuration; return the home."""
    account = pwd.getpwnam(owner)
    home, programs, state = folder / "home", folder / "bin", folder / "slurm" / "jobs.json"
    for path in (home, programs, state.parent):
        path.mkdir()
    state.write_text("[]")
    for path in (home, state.parent, state):
        os.chown(path, account.pw_uid, account.pw_gid)
    for name in ("sbatch", "squeue", "sacct", "scancel"):
        program = programs / name
        text = PROGRAM.format(python="/usr/bin/python3", state=str(state), uid=account.pw_uid, user=owner)
        program.write_text(text)
        program.chmod(0o755)
    config = {
        "accounts": {"lab": "internal"},
        "owners": [owner],
        "homes": {owner: str(home)},
        "settle_seconds": 0.2,
        "sbatch_seconds": 20,
        "unknown_results": [],
        "state": str(folder / "state"),
        "metrics": str(folder / "pipelines.prom"),
    }
    (folder / "pipelines.json").write_text(json.dumps(config))
    return home


def one_pass(folder: Path) -> int:
    """Run the service for one pass; return its exit status."""
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "landbridge.pipelines.service.daemon", "--config", str(folder / "pipelines.json")]
    process = subprocess.Popen([*words, "--once"], env=environment, stderr=subprocess.PIPE, text=True)
    reached, kill = folder / "slurm" / "reached", folder / "slurm" / "kill"
    while process.poll() is None and not reached.exists():
        time.sleep(0.01)
    if reached.exists() and kill.exists():
        process.kill()
        process.wait()
        kill.unlink()
    _, error = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), error
    return process.returncode


@pytest.mark.parametrize(
    ("deadly", "lost"),
    [
        ("sbatch before", True),
        ("sbatch after", False),
        ("sbatch after", True),
        ("squeue after", False),
        pytest.param("sbatch before", False, marks=pytest.mark.long),
        pytest.param("squeue after", True, marks=pytest.mark.long),
        pytest.param("sacct before", False, marks=pytest.mark.long),
        pytest.param("sacct before", True, marks=pytest.mark.long),
    ],
)
def test_no_step_has_two_jobs_wherever_the_service_is_killed(site: tuple[Path, str], deadly: str, lost: bool) -> None:
    folder, owner = site
    home = install(folder, owner)
    steps = [{"name": "train"}, {"name": "evaluate", "needs": ["train"]}]
    wanted = request(steps, owner=owner, data_class="internal")
    queue.write_json(home / queue.FOLDER / queue.REQUESTS / f"{wanted.name}.json", wanted.to_json())
    subprocess.run(["chown", "-R", owner, str(home)], check=True)
    (folder / "slurm" / "kill").write_text(deadly)
    has_died = False
    for _ in range(30):
        if one_pass(folder) != 0:
            has_died = True
            if lost:
                shutil.rmtree(folder / "state")
        ended = home / queue.FOLDER / queue.ENDED / f"{wanted.name}.json"
        if ended.exists():
            break
    assert has_died
    record = json.loads(ended.read_text())
    jobs = json.loads((folder / "slurm" / "jobs.json").read_text())
    assert record["outcome"] == "succeeded"
    assert [job["name"] for job in jobs] == [f"{wanted.name}.train", f"{wanted.name}.evaluate"]
    assert jobs[0]["comment"] == f"pipeline={wanted.name}/train"
    assert jobs[0]["environment"]["LANDBRIDGE_PIPELINE_STEP"] == "train"
    assert ended.stat().st_uid == pwd.getpwnam(owner).pw_uid
    assert not (home / queue.FOLDER / queue.REQUESTS / f"{wanted.name}.json").exists()
    metrics = (folder / "pipelines.prom").read_text()
    assert 'ended_runs_total{account="lab",outcome="succeeded"} 1' in metrics
    assert 'ended_runs_total{account="lab",outcome="failed"} 0' in metrics
