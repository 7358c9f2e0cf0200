"""Runners of rungs: as Slurm jobs started from a host of the site, or from the recorded output of an earlier run."""

import io
import shlex
import subprocess
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from landbridge import hostlist
from landbridge.acceptance.climb import Ran, Runner
from landbridge.acceptance.rungs import AcceptanceSettings, Rung, job
from landbridge.environment import Environment
from landbridge.ops.scontrol import ssh
from landbridge.plan.network.hosts import service_hosts

EXAMPLE = Path("examples/digits")
#: Seconds that ssh and Slurm may need beside the program's own time.
_SLACK = 60


@dataclass(frozen=True, slots=True)
class NodeRunner:
    """Host from which srun is called by ssh. `gpus`: GPUs of each node; `wait`: seconds to wait for other jobs on the
    nodes.
    """

    environment: Environment
    host: str
    gpus: Mapping[str, int]
    settings: AcceptanceSettings
    example: Path | None = None
    wait: int = 600
    reservation: str = ""


def through(site: NodeRunner) -> Runner:
    """Return a runner that starts each rung with srun on the site's host."""
    reach = ssh(site.environment, site.host)
    privileged = [] if service_hosts(site.environment).access.user == "root" else ["sudo", "--non-interactive"]

    def run(rung: Rung, nodes: Sequence[str]) -> Ran:
        gpus = max(site.gpus[node] for node in nodes)
        words = job(rung, nodes, gpus, site.settings, wait=site.wait, reservation=site.reservation)
        sent = None
        if rung.name == "training":
            if site.example is None:
                return Ran(None, "", f"there is no {EXAMPLE} here: run it from a Landbridge checkout")
            sent = packed(site.example)
        return _ran([*reach, shlex.join([*privileged, *words])], sent, rung.minutes * 60 + site.wait + _SLACK)

    return run


def packed(folder: Path) -> bytes:
    """Return the programs of a folder as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(folder.glob("*.py")):
            archive.add(path, arcname=path.name)
    return buffer.getvalue()


def keeping(run: Runner, folder: Path) -> Runner:
    """Return a runner that also writes each program's output to a folder, for `recorded` and for reading by hand."""
    folder.mkdir(parents=True, exist_ok=True)

    def kept(rung: Rung, nodes: Sequence[str]) -> Ran:
        output = run(rung, nodes)
        path = folder / _name(rung, nodes)
        path.write_text(output.text)
        if output.code != 0:
            path.with_suffix(".err").write_text(f"{output.code}\n{output.said}")
        return output

    return kept


def recorded(folder: Path) -> Runner:
    """Return a runner that starts no program: it reads recorded output, and reports a rung without a record as not run."""

    def read(rung: Rung, nodes: Sequence[str]) -> Ran:
        path = folder / _name(rung, nodes)
        if not path.exists():
            return Ran(None, "", f"{path} is not there")
        errors = path.with_suffix(".err")
        code, _, message = errors.read_text().partition("\n") if errors.exists() else ("0", "", "")
        return Ran(int(code) if code.lstrip("-").isdigit() else None, path.read_text(), message)

    return read


def _name(rung: Rung, nodes: Sequence[str]) -> str:
    return f"{rung.name}.{hostlist.compress(nodes)}.out"


def _ran(command: Sequence[str], sent: bytes | None, seconds: float) -> Ran:
    started = time.monotonic()
    took: Callable[[], float] = lambda: round(time.monotonic() - started, 1)  # noqa: E731 (a word for three places)
    try:
        done = subprocess.run(command, input=sent or b"", capture_output=True, timeout=seconds, check=False)
    except FileNotFoundError:
        return Ran(None, "", f"{command[0]} is not on this machine")
    except subprocess.TimeoutExpired as error:
        return Ran(
            None, (error.stdout or b"").decode(errors="replace"), f"it did not end within {seconds:.0f} s", took()
        )
    texts = (done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    return Ran(done.returncode, *texts, took())
