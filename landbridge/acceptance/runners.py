"""Runners of rungs: as Slurm jobs started on a host of the site, or from the recorded output of an earlier run."""

import io
import shlex
import subprocess
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from landbridge import hostlist
from landbridge.acceptance.climb import ProgramResult, Runner
from landbridge.acceptance.outputs import Unreadable
from landbridge.acceptance.programs import node_programs, plugins_line
from landbridge.acceptance.rungs import PROGRAMS, AcceptanceSettings, Rung, job

EXAMPLE = Path("examples/digits")
#: Additional time for ssh and Slurm.
_SLACK_SECONDS = 60


@dataclass(frozen=True, slots=True)
class NodeRunner:
    """Host that starts the jobs. `ssh`: ssh's command line to it, empty for this machine; `privileged`: the words that
    make a command run as root; `gpus`: GPUs of each node; `wait`: seconds to wait for other jobs on the nodes;
    `partition`: of the nodes.
    """

    ssh: Sequence[str]
    privileged: Sequence[str]
    gpus: Mapping[str, int]
    settings: AcceptanceSettings
    example: Path | None = None
    wait: int = 600
    reservation: str = ""
    partition: str = "onprem"

    def on_host(self, words: Sequence[str]) -> list[str]:
        """Return the command line that runs a command on the host, as root."""
        command = [*self.privileged, *words]
        return [*self.ssh, shlex.join(command)] if self.ssh else command


def srun_runner(site: NodeRunner) -> Runner:
    """Return a runner that starts each rung with srun on the site's host.

    The list of programs on the nodes decides on the launcher of MPI ranks, if the settings leave it open.
    """
    launchers: dict[str, str] = {}

    @cache
    def plugins() -> str:
        listed = _run(site.on_host(["srun", "--mpi=list"]), None, _SLACK_SECONDS)
        return plugins_line(f"{listed.text}\n{listed.errors}")

    def run(rung: Rung, nodes: Sequence[str]) -> ProgramResult:
        gpus = max(site.gpus[node] for node in nodes)
        settings = replace(site.settings, mpi=launchers.get(nodes[0]) or site.settings.mpi)
        words = job(rung, nodes, gpus, settings, wait=site.wait, reservation=site.reservation, partition=site.partition)
        archive = None
        if rung.name == "training":
            if site.example is None:
                return ProgramResult(None, "", f"there is no {EXAMPLE} here: run it from a Landbridge checkout")
            archive = packed(site.example)
        result = _run(site.on_host(words), archive, rung.minutes * 60 + site.wait + _SLACK_SECONDS)
        if rung is PROGRAMS and result.code == 0:
            result = replace(result, text=result.text + plugins())
            with suppress(Unreadable):
                launchers[nodes[0]] = node_programs(result.text).launcher(site.settings.mpi)
        return result

    return run


def packed(folder: Path) -> bytes:
    """Return the programs of a folder as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(folder.glob("*.py")):
            archive.add(path, arcname=path.name)
    return buffer.getvalue()


def saving(run: Runner, folder: Path) -> Runner:
    """Return a runner that also writes each program's output to a folder, for `recorded` and for the operator."""
    folder.mkdir(parents=True, exist_ok=True)

    def run_and_save(rung: Rung, nodes: Sequence[str]) -> ProgramResult:
        result = run(rung, nodes)
        path = folder / _name(rung, nodes)
        path.write_text(result.text)
        if result.code != 0:
            path.with_suffix(".err").write_text(f"{result.code}\n{result.errors}")
        return result

    return run_and_save


def recorded(folder: Path) -> Runner:
    """Return a runner that starts no program: it reads recorded output, and reports a rung without a record as not run."""

    def read(rung: Rung, nodes: Sequence[str]) -> ProgramResult:
        path = folder / _name(rung, nodes)
        if not path.exists():
            return ProgramResult(None, "", f"{path} does not exist")
        error_path = path.with_suffix(".err")
        code, _, message = error_path.read_text().partition("\n") if error_path.exists() else ("0", "", "")
        return ProgramResult(int(code) if code.lstrip("-").isdigit() else None, path.read_text(), message)

    return read


def _name(rung: Rung, nodes: Sequence[str]) -> str:
    return f"{rung.name}.{hostlist.compress(nodes)}.out"


def _run(command: Sequence[str], stdin: bytes | None, seconds: float) -> ProgramResult:
    started = time.monotonic()
    took: Callable[[], float] = lambda: round(time.monotonic() - started, 1)  # noqa: E731 (used three times)
    try:
        completed = subprocess.run(command, input=stdin or b"", capture_output=True, timeout=seconds, check=False)
    except FileNotFoundError:
        return ProgramResult(None, "", f"{command[0]} is not on this machine")
    except subprocess.TimeoutExpired as error:
        return ProgramResult(
            None, (error.stdout or b"").decode(errors="replace"), f"it did not end within {seconds:.0f} s", took()
        )
    texts = (completed.stdout.decode(errors="replace"), completed.stderr.decode(errors="replace"))
    return ProgramResult(completed.returncode, *texts, took())
