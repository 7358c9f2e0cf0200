"""Benchmark of the controller's calls of a real slurmctld with 10,000 cloud nodes and 15,000 pending jobs.

    python -m bench.burst.real_slurmctld [--nodes 10000] [--jobs 15000] [--runs 5]

slurmctld runs as an unprivileged process in its own folder, on a loopback port; nothing is installed. Its packages, and
the C library that they need, are those of the lab (`make test` or `make demo` fetch them). Without them nothing is measured.
"""

import argparse
import os
import pwd
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.burst.process import TICKS, memory
from landbridge.burst.model import AccountPolicy, BurstPolicy, PoolPolicy
from landbridge.burst.slurm import slurm
from landbridge.paths import cache_dir

NODES, JOBS = 10_000, 15_000
VERSION = "24.11"
PACKAGES = ("slurmctld", "slurm-client", "slurm-wlm-basic-plugins")
LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
LOADER = "ld-linux-x86-64.so.2"
#: Libraries of the programs and of the plugins that are loaded.
NEEDED = ("libc.so.6", "libm.so.6", "libresolv.so.2", "libpthread.so.0", "libdl.so.2")
COMMANDS = ("sinfo", "squeue", "scontrol", "sbatch")
UNPRIVILEGED = "nobody"
CONF = """ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
# Listen on the controller's own address only.
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
PluginDir={plugins}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
MaxJobCount=40000
MaxArraySize=40001
ResumeProgram=/bin/true
SuspendProgram=/bin/true
SuspendTime=600
ResumeTimeout=600
TreeWidth=65533
NodeName=p5-[1-{nodes}] CPUs=192 RealMemory=2000000 State=CLOUD
PartitionName=p5 Nodes=ALL MaxTime=INFINITE State=UP Default=YES
"""


class Unavailable(Exception):
    """slurmctld that cannot run on this machine; the message is the reason in one line."""


@dataclass(frozen=True)
class Slurmctld:
    """Running slurmctld: its folder, with the commands in `bin`, and its process id."""

    folder: Path
    pid: int

    @property
    def cpu(self) -> float:
        """Return the processor seconds of slurmctld."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(field) for field in fields[11:13]) / TICKS


def unpack(folder: Path) -> None:
    """Unpack the lab's packages into `folder`, with wrappers that start each program with its own C library. Raises
    Unavailable."""
    archives = cache_dir("apt")
    loaders = sorted(cache_dir("images").glob(f"base-*/rootfs/{LIBRARIES}/{LOADER}"))
    packages = [sorted(archives.rglob(f"{name}_{VERSION}*_amd64.deb")) for name in PACKAGES]
    if not loaders or not all(packages) or shutil.which("dpkg-deb") is None:
        raise Unavailable(f"the lab's packages of Slurm {VERSION}, its base image or dpkg-deb is missing")
    libraries = folder / "lib"
    libraries.mkdir()
    for archives_of_package in packages:
        subprocess.run(["dpkg-deb", "-x", str(archives_of_package[-1]), str(folder)], check=True)
    for name in (LOADER, *NEEDED):
        if (source := loaders[-1].parent / name).exists():
            shutil.copy(source, libraries / name)
    (folder / "bin").mkdir()
    path = f"{libraries}:{folder / LIBRARIES / 'slurm-wlm'}"
    for name in COMMANDS:
        wrapper = folder / "bin" / name
        program = folder / "usr/bin" / name
        wrapper.write_text(f'#!/bin/sh\nexec {libraries}/{LOADER} --library-path {path} {program} "$@"\n')
        wrapper.chmod(0o755)
    _set_loader(folder / "usr/sbin/slurmctld-wlm", folder / "bin/slurmctld", libraries / LOADER)


def _set_loader(program: Path, target: Path, loader: Path) -> None:
    """Copy a program with another path of its loader: slurmctld starts itself again, so no other program can load it."""
    before = f"/lib64/{LOADER}\0".encode()
    link = loader.parent.parent / "l"
    link.symlink_to(loader)
    after = f"{link}\0".encode()
    content = program.read_bytes()
    if len(after) > len(before) or before not in content:
        raise Unavailable(f"{link} is longer than {len(before) - 1} characters: set TMPDIR to a shorter folder")
    target.write_bytes(content.replace(before, after.ljust(len(before), b"\0"), 1))
    target.chmod(0o755)


@contextmanager
def running(folder: Path, nodes: int) -> Iterator[Slurmctld]:
    """Run slurmctld for the block as the user `UNPRIVILEGED`, or as the present user if that is not root."""
    unpack(folder)
    user = UNPRIVILEGED if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    (folder / "state").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    conf = CONF.format(
        host=socket.gethostname().partition(".")[0],
        port=port,
        user=user,
        folder=folder,
        plugins=folder / LIBRARIES / "slurm-wlm",
        nodes=nodes,
    )
    (folder / "slurm.conf").write_text(conf)
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    os.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    entry = pwd.getpwnam(user)
    folder.chmod(0o755)
    for path in (folder / "state", folder / "slurm.conf", folder):
        os.chown(path, entry.pw_uid, entry.pw_gid)
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [str(folder / "bin/slurmctld"), "-D", "-i"],
            env={**os.environ, "LD_LIBRARY_PATH": f"{folder / 'lib'}:{folder / LIBRARIES / 'slurm-wlm'}"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            user=entry.pw_uid if os.geteuid() == 0 else None,
            group=entry.pw_gid if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
        )
    try:
        _wait(lambda: process.poll() is None and _pings(), process, folder)
        yield Slurmctld(folder, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(is_up: Callable[[], bool], process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + 120
    while not is_up():
        if process.poll() is not None or time.monotonic() > deadline:
            texts = [
                path.read_text(errors="replace")
                for path in (folder / "output", folder / "slurmctld.log")
                if path.exists()
            ]
            raise Unavailable(f"slurmctld does not answer: {' '.join(''.join(texts)[-600:].split())}")
        time.sleep(0.1)


def _pings() -> bool:
    with suppress(slurm.SlurmError):
        return slurm.active()
    return False


def submit(folder: Path, jobs: int) -> None:
    """Submit held jobs: one array, whose tasks an update with their numbers makes separate records."""
    script = folder / "job.sh"
    script.write_text("#!/bin/sh\nsleep 60\n")
    command = ["sbatch", "--parsable", "--hold", f"--array=1-{jobs + 1}", "--output=/dev/null", str(script)]
    array = slurm.run(command, 60).strip()
    for first in range(1, jobs + 1, 1000):
        last = min(first + 999, jobs)
        slurm.run(["scontrol", "update", f"jobid={array}_[{first}-{last}]", "comment=held"], 300)


def measure(ctld: Slurmctld, nodes: int, jobs: int, runs: int) -> None:
    """Print a row for each of the controller's calls: medians of wall time and of processor time, by process."""
    policy = BurstPolicy(
        "bench",
        "us-east-1",
        {"p5": PoolPolicy("p5", "p5-", nodes, ())},
        {"vision": AccountPolicy("vision", "internal", True)},
    )
    calls: dict[str, Callable[[], int]] = {
        "ping": lambda: int(slurm.active()),
        "states of all nodes": lambda: len(slurm.node_states(f"p5-[1-{nodes}]", 60)),
        "states of 300 nodes": lambda: len(slurm.node_states("p5-[1-300]", 60)),
        "view without pending jobs": lambda: len(slurm.view(policy).nodes),
        "view, 4,000 jobs by id": lambda: len(slurm.view(policy, slurm_ids).jobs),
        "view, all pending jobs": lambda: len(slurm.view(policy, all_pending=True).jobs),
    }
    # Without the first, which is the array's id and stands for all its tasks.
    slurm_ids = sorted(slurm.view(policy, all_pending=True).jobs)[1:4001]
    print(
        f"Slurm {slurm.run(['sinfo', '--version']).split()[1]}: {nodes:,} cloud nodes, {jobs:,} pending jobs; medians of {runs}"
    )
    print(f"{'':28} {'items':>7} {'wall s':>8} {'slurmctld CPU s':>16} {'commands CPU s':>15} {'own CPU s':>10}")
    for name, call in calls.items():
        call()
        rows = [_measured(ctld, call) for _ in range(runs)]
        count, wall, served, commands, own_seconds = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:28} {count:7.0f} {wall:8.2f} {served:16.2f} {commands:15.2f} {own_seconds:10.2f}", flush=True)
    print(f"slurmctld: {memory(ctld.pid, 'VmRSS'):.0f} MiB; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _measured(ctld: Slurmctld, call: Callable[[], int]) -> tuple[float, ...]:
    """Return the result of a call, its wall seconds, and the processor seconds of slurmctld, of commands and of this
    process."""
    served, own_seconds, wall = ctld.cpu, time.process_time(), time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    count = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    commands = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return count, time.perf_counter() - wall, ctld.cpu - served, commands, time.process_time() - own_seconds


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if slurmctld could be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.burst.real_slurmctld", description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory(prefix="s") as name, running(Path(name), options.nodes) as ctld:
            submit(Path(name), options.jobs)
            measure(ctld, options.nodes, options.jobs, options.runs)
    except (Unavailable, slurm.SlurmError) as error:
        print(f"slurmctld could NOT be measured here: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
