"""Server of PrologSlurmctld with the real program: settings, states of nodes, and started programs."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config.config import BurstConfig, parse
from landbridge.burst.daemon.job_starts import JobStarts
from landbridge.burst.model import State
from landbridge.burst.slurm.slurm import SlurmError

ROOT = Path(__file__).parents[4]
UP, BOOTS = frozenset({"ALLOCATED", "CLOUD"}), frozenset({"ALLOCATED", "CLOUD", "POWERING_UP"})
LOST = frozenset({"DOWN", "CLOUD", "POWERING_DOWN"})
GIVEN_BACK = frozenset({"IDLE", "CLOUD", "POWERED_DOWN"})


class Site:
    """Daemon's server, the states of nodes in Slurm, and the programs that slurmctld has started."""

    def __init__(self, folder: Path, raw: dict[str, Any]) -> None:
        self.folder, self.states = folder, dict[str, frozenset[str] | None]()
        self.asked: list[tuple[str, ...]] = []
        self.woken = threading.Event()
        self.programs: list[subprocess.Popen[str]] = []
        self.server = JobStarts(self.query, self.woken.set)
        self.configure(raw)

    def configure(self, raw: dict[str, Any]) -> None:
        settings = {**raw, "state_dir": str(self.folder), "socket": str(self.folder / "burst.sock")}
        (self.folder / "burst.json").write_text(json.dumps(settings))
        self.config: BurstConfig = parse(settings)
        self.server.use(self.config.policy)
        self.server.saved(State(), time.monotonic())  # by the pass that follows

    def query(self, names: Sequence[str]) -> Mapping[str, frozenset[str]]:
        self.asked.append(tuple(names))
        states = {name: self.states[name] for name in names if name in self.states}
        if None in states.values():
            raise SlurmError("sinfo: no answer")
        return {name: state for name, state in states.items() if state is not None}

    def listen(self) -> None:
        self.server.listen(self.config.prolog_socket)

    def start(self, nodes: str = "p5-[1-2]", account: str = "vision") -> "subprocess.Popen[str]":
        environment = {
            "LANDBRIDGE_BURST_CONFIG": str(self.folder / "burst.json"),
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_ACCOUNT": account,
            "SLURM_JOB_NODELIST": nodes,
        }
        command = [sys.executable, "-m", "landbridge.burst.hooks.prolog_wait"]
        self.programs.append(
            subprocess.Popen(
                command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
        return self.programs[-1]

    def until(self, condition: Callable[[], bool], text: str) -> None:
        deadline = time.monotonic() + 300
        while not condition():
            assert time.monotonic() < deadline, text
            time.sleep(0.02)

    def until_asked(self, *names: str) -> None:
        """Wait for a query of these nodes that begins from now on, and for its answers."""
        count = len(self.asked)
        self.until(lambda: names in self.asked[count:-1], f"not asked for {names}: {self.asked}")


@pytest.fixture
def site(tmp_path: Path, burst: dict[str, Any]) -> Iterator[Site]:
    opened = Site(tmp_path, burst)
    opened.listen()
    yield opened
    for program in opened.programs:
        program.kill()
        program.wait()
        assert program.stderr is not None
        program.stderr.close()
    opened.server.close()


def end_of(program: "subprocess.Popen[str]") -> tuple[int, str]:
    _, errors = program.communicate()
    return program.returncode, errors
