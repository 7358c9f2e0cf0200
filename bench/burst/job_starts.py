"""Benchmark of PrologSlurmctld while a thousand jobs boot: the programs' memory, and their calls of Slurm's commands.

    python -m bench.burst.job_starts [--jobs 1000] [--seconds 20]

The programs are those that the role burst installs, with a real daemon and its passes. Slurm's commands are scripts that
count their calls.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment

from bench import calibration
from bench.burst.process import Process, environment
from bench.burst.site import MAX_NODES, POOL, ROOT, Slurm, build
from bench.limits import read_limits, show_limits
from sandbox.aws_emulator.process import running

# `sinfo` makes two RPCs to slurmctld: partitions and nodes (sinfo.c, _query_server, Slurm 24.11); `scontrol show node` and
# `squeue` make no more.
RPCS_PER_COMMAND = 2
MB_IN_MIB = 2**20 / 10**6
SAMPLE_SECONDS = 0.5
TEMPLATE = ROOT / "ansible/roles/burst/templates/prolog-wait.j2"
ASK = """#!{python} -IS
import sys
sys.path.append("{root}")
from landbridge.burst.hooks.prolog_wait import main
sys.exit(main())
"""
#: Script that counts its calls, in front of the site's script, for which all nodes boot.
COUNTING = """#!/bin/sh
echo {name} >> {folder}/calls
exec {folder}/bin/.{name} "$@"
"""


@dataclass
class Load:
    """Load of programs that wait: memory of those alive, of the daemon, and commands of Slurm, by sample."""

    programs: list[float] = field(default_factory=list)
    daemon: list[float] = field(default_factory=list)
    alive: int = 0
    calls_per_second: float = 0.0

    @property
    def mib(self) -> float:
        """Return the memory of all after the start."""
        return self.programs[-1] + self.daemon[-1]

    @property
    def peak_mib(self) -> float:
        return max(map(sum, zip(self.programs, self.daemon, strict=True)))

    @property
    def rpcs_per_second(self) -> float:
        return RPCS_PER_COMMAND * self.calls_per_second


def pss_mib(pid: int) -> float:
    """Return the proportional set size of a process in MiB: shared pages count once among all; 0 if it has ended."""
    with suppress(OSError, StopIteration, ProcessLookupError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return 0.0


def install(folder: Path) -> Path:
    """Write PrologSlurmctld as the role does, and the counting scripts; return the program."""
    jinja = Environment(trim_blocks=True, keep_trailing_newline=True)
    jinja.filters["regex_replace"] = lambda text, pattern, new: re.sub(pattern, new, text)
    pools = {POOL: {"node_prefix": f"{POOL}-"}}
    text = jinja.from_string(TEMPLATE.read_text()).render(burst_config={"pools": pools}, burst_root=str(folder))
    files = {"landbridge-prolog-wait": text, "landbridge-prolog-ask": ASK.format(python=sys.executable, root=ROOT)}
    for name in ("scontrol", "sinfo", "squeue"):
        (folder / "bin" / name).rename(folder / "bin" / f".{name}")
        files[name] = COUNTING.format(name=name, folder=folder)
    for name, content in files.items():
        (folder / "bin" / name).write_text(content)
        (folder / "bin" / name).chmod(0o755)
    return folder / "bin" / "landbridge-prolog-wait"


@contextmanager
def programs(command: Sequence[str], environ: Mapping[str, str], count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start the programs of `count` jobs of one node each, as slurmctld does; kill those that wait at the end."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(1, count + 1):
            job = {"SLURM_JOB_ID": str(number), "SLURM_JOB_NODELIST": f"{POOL}-{number}", "SLURM_JOB_ACCOUNT": "vision"}
            started.append(
                subprocess.Popen(command, env={**environ, **job}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
        yield started
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def measure(
    command: Sequence[str], environ: Mapping[str, str], slurm: Slurm, count: int, seconds: float, daemon: int
) -> Load:
    """Sample the load until every program waits or has ended, then for `seconds`."""
    load, calls = Load(), slurm.folder / "calls"
    with programs(command, environ, count) as started:
        waits_since: float | None = None
        counted = 0
        while waits_since is None or time.monotonic() < waits_since + seconds:
            alive = [process.pid for process in started if process.poll() is None]
            load.programs.append(sum(map(pss_mib, alive)))
            load.daemon.append(pss_mib(daemon))
            if waits_since is None and all(map(_waits, alive)):
                waits_since, counted = time.monotonic(), len(calls.read_text().splitlines())
            time.sleep(SAMPLE_SECONDS)
        assert waits_since is not None
        load.calls_per_second = (len(calls.read_text().splitlines()) - counted) / (time.monotonic() - waits_since)
        load.alive = len([process for process in started if process.poll() is None])
    return load


def _waits(pid: int) -> bool:
    """Return whether the program is the shell that waits for the daemon's answer, or has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sh\0-c\0")
    return True


def show(jobs: int, load: Load) -> None:
    print(
        f"{jobs:5} {load.alive:7} {load.programs[-1]:12.1f} {load.daemon[-1]:10.1f} {load.mib:8.1f}"
        f" {load.peak_mib:9.1f} {load.calls_per_second:11.1f} {load.rpcs_per_second:7.1f}",
        flush=True,
    )


def values(jobs: int, seconds: float) -> dict[str, float]:
    """Measure the programs of `jobs` booting jobs; print a row."""
    with tempfile.TemporaryDirectory(prefix="landbridge-starts-") as name:
        folder = Path(name)
        with running(folder / "cloud", "--launcher", "none", "--boot-delay", "600") as cloud:
            slurm = Slurm(folder / "slurm")
            slurm.write(cloud, build(cloud))
            slurm.prepare(MAX_NODES, MAX_NODES)
            slurm.activate()
            program = install(slurm.folder)
            environ = environment(slurm.environ)
            (slurm.folder / "calls").touch()
            head = ("jobs", "waiting", "programs MiB", "daemon MiB", "in all", "peak MiB", "commands/s", "RPC/s")
            print("{:>5} {:>7} {:>12} {:>10} {:>8} {:>9} {:>11} {:>7}".format(*head), flush=True)
            with Process((sys.executable, "-m", "landbridge.burst.daemon.daemon"), slurm.environ) as daemon:
                daemon.wait_for("acting")
                load = measure([str(program)], environ, slurm, jobs, seconds, daemon.pid)
            show(jobs, load)
    return {
        "booting jobs": float(jobs),
        "booting jobs: RPCs a second": load.rpcs_per_second,
        "booting jobs, all waiting: MB": load.mib * MB_IN_MIB,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if the booting jobs are within the limits."""
    parser = argparse.ArgumentParser(prog="python -m bench.burst.job_starts", description=__doc__)
    parser.add_argument("--jobs", type=int, default=MAX_NODES)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args(argv)
    measured = calibration.values_with([lambda: values(options.jobs, options.seconds)])
    return 0 if show_limits(read_limits({"starts"}), measured) else 1


if __name__ == "__main__":
    sys.exit(main())
