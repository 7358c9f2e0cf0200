"""Benchmark of the replay: its queue, one run, and the files for the peer."""

import json
import subprocess
import sys
from pathlib import Path

from bench.replay import generated
from tests.unit.core.samples import ROOT


def run(*words: str) -> list[str]:
    command = [sys.executable, "-m", "bench.replay_once", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def test_a_run_replays_the_generated_queue_and_the_peer_gets_the_same_jobs(tmp_path: Path) -> None:
    queue = tmp_path / "queue.csv"
    generated(60, queue)
    jobs, wait = run("plain", str(queue))
    assert jobs == "60" and float(wait) >= 0
    assert run("hard", str(queue))[0] == "60"
    assert run("files", str(queue), str(tmp_path / "peer")) == ["60"]
    lines = (tmp_path / "peer" / "jobs.swf").read_text().splitlines()
    rows = queue.read_text().splitlines()[1:]
    assert [line.split()[4] for line in lines] == [row.split(",")[2] for row in rows]
    assert json.loads((tmp_path / "peer" / "system.json").read_text())["resources"] == {"g0": 8}
