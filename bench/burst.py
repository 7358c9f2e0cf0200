"""Benchmark of node starts: our controller, ParallelCluster's resume program and the calls of aws-plugin-for-slurm.

    python -m bench.burst [--sizes 16,128,512,1000] [--latency 0,0.1] [--no-peers]

The emulated AWS answers; its own time is not part of a program's time and is taken off ("net").
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import burst_daemon, burst_peer
from bench.burst_process import Ended, Process, run
from bench.burst_site import POOL, Made, Slurm, build, peer_settings
from landbridge.hostlist import compress
from sandbox.aws_emulator.process import EmulatorProcess, running

SIZES, JOBS, LATENCIES = (16, 128, 512, 1000), (1, 50), (0.0, 0.1)
OURS, COLD = "landbridge", "landbridge, daemon not running"
#: Names in one `scontrol update` of ours.
GROUP = 500
# Limits for 1,000 nodes of one job at 100 ms a call.
SECONDS, CALLS, MIB = 3.0, 15, 80


@dataclass(frozen=True)
class Shot:
    """One resume: from the program's start until Slurm has the last address."""

    name: str
    nodes: int
    jobs: int
    latency: float
    seconds: float
    busy: float
    ec2: int
    calls: int
    updates: int
    mib: float
    cpu: float

    @property
    def net(self) -> float:
        """Time without the emulator's own share."""
        return self.seconds - self.busy


@dataclass
class Bench:
    """One emulated AWS and one Slurm, emptied for every shot."""

    cloud: EmulatorProcess
    slurm: Slurm
    made: Made
    peer: burst_peer.Peer | None

    def fresh(self, nodes: int, jobs: int, latency: float) -> None:
        self.created_at = build(self.cloud)
        for name in ("burst.db", "burst.db-wal", "burst.db-shm"):
            (self.slurm.folder / name).unlink(missing_ok=True)
        self.slurm.write(self.cloud, self.created_at)
        self.slurm.ask(nodes, jobs)
        self.slurm.decide()
        self.cloud.control(reset=True)
        self.cloud.control(latency=latency)

    def counted(self, name: str, nodes: int, jobs: int, latency: float, ended: Ended) -> Shot:
        seen = self.cloud.control()
        alive = [instance for instance in seen["instances"] if instance["state"] in ("pending", "running")]
        if len(alive) != nodes:
            raise RuntimeError(f"{name}: {len(alive)} instances for {nodes} nodes: {ended.said[-600:]}")
        ec2 = sum(count for asked, count in seen["asked"].items() if asked.startswith("ec2:"))
        updates = len(self.slurm.updates)
        return Shot(
            name, nodes, jobs, latency, ended.seconds, seen["busy"], ec2, seen["total"], updates, ended.mib, ended.cpu
        )

    def resume(self, nodes: int) -> Ended:
        """ResumeProgram of ours."""
        environ = {**self.slurm.environ, "SLURM_RESUME_FILE": str(self.slurm.folder / "now" / "resume.json")}
        names = compress(f"{POOL}-{number}" for number in range(1, nodes + 1))
        return run((sys.executable, "-m", "landbridge.burst.hooks.programs", "resume", names), environ)

    def cold(self, nodes: int, jobs: int, latency: float) -> Shot:
        """The program, then a daemon that starts, makes one pass and ends."""
        self.fresh(nodes, jobs, latency)
        first = self.resume(nodes)
        second = run((sys.executable, "-m", "landbridge.burst.daemon.daemon", "--once"), self.slurm.environ)
        return self.counted(COLD, nodes, jobs, latency, first.then(second))

    def ours(self, nodes: int, jobs: int, latency: float) -> Shot:
        """As in service: a daemon that has nothing to do, and then the program."""
        self.fresh(0, 1, 0.0)
        with Process((sys.executable, "-m", "landbridge.burst.daemon.daemon"), self.slurm.environ) as daemon:
            daemon.wait_for("acting")
            self.slurm.ask(nodes, jobs)
            time.sleep(1)  # what its first pass still does
            self.cloud.control(reset=True)
            self.cloud.control(latency=latency)
            before, began = daemon.cpu, time.perf_counter()
            self.slurm.decide()
            first = self.resume(nodes)
            while len([update for update in self.slurm.updates if "nodeaddr=" in update]) < -(-nodes // GROUP):
                if time.perf_counter() - began > 300:
                    raise RuntimeError(f"{nodes} nodes are not up: {daemon.said[-600:]}")
                time.sleep(0.005)
            seconds = time.perf_counter() - began
            ended = Ended(seconds, max(daemon.peak_mib, first.mib), first.cpu + daemon.cpu - before, daemon.said)
            return self.counted(OURS, nodes, jobs, latency, ended)

    def theirs(self, nodes: int, jobs: int, latency: float) -> Iterator[Shot]:
        if self.peer is None:
            return
        self.fresh(nodes, jobs, latency)
        environ = {**self.slurm.environ, **self.peer.environ(self.cloud), **peer_settings(self.slurm, self.created_at)}
        yield self.counted(
            burst_peer.NAME, nodes, jobs, latency, run(self.peer.resume(self.slurm.folder, nodes), environ)
        )
        if jobs == 1:
            # It knows of no jobs: fifty are to it what one is.
            self.fresh(nodes, jobs, latency)
            ended = run(self.peer.plugin(self.created_at.subnet, nodes), environ)
            yield self.counted(burst_peer.PLUGIN, nodes, jobs, latency, ended)


@contextmanager
def bench(peers: bool) -> Iterator[Bench]:
    """An emulated AWS for the block."""
    peer = None
    if peers:
        try:
            peer = burst_peer.install()
        except burst_peer.Unavailable as error:
            print(f"{burst_peer.NAME} could NOT be measured here: {error}")
    with tempfile.TemporaryDirectory(prefix="landbridge-burst-") as name:
        folder = Path(name)
        with running(folder / "cloud", "--launcher", "none", "--boot-delay", "0") as cloud:
            yield Bench(cloud, Slurm(folder / "slurm"), Made("", "", "", ""), peer)


def show(one: Shot) -> None:
    print(
        f"{one.nodes:5} {one.jobs:4} {one.latency * 1000:6.0f} {one.name:31} {one.seconds:8.2f} {one.net:8.2f} {one.cpu:7.2f}"
        f" {one.ec2:6} {one.calls:6} {one.updates:9} {one.mib:8.1f}",
        flush=True,
    )


def measure(sizes: Sequence[int], latencies: Sequence[float], peers: bool) -> list[Shot]:
    """Every size, as one job and as many, with every latency; a row each."""
    shots: list[Shot] = []
    head = ("nodes", "jobs", "ms/call", "", "wall s", "net s", "CPU s", "EC2", "calls", "scontrol", "peak MiB")
    print("{:>5} {:>4} {:>6} {:31} {:>8} {:>8} {:>7} {:>6} {:>6} {:>9} {:>8}".format(*head))
    with bench(peers) as one:
        for latency in latencies:
            for nodes in sizes:
                for jobs in sorted({min(wanted, nodes) for wanted in JOBS}):
                    for found in (one.ours, one.cold):
                        shots.append(found(nodes, jobs, latency))
                        show(shots[-1])
                    for other in one.theirs(nodes, jobs, latency):
                        shots.append(other)
                        show(other)
    return shots


def kept(shots: Sequence[Shot]) -> bool:
    """Print whether the largest resume is within the limits."""
    good = True
    for shot in shots:
        if (shot.name, shot.nodes, shot.jobs, shot.latency) == (OURS, 1000, 1, 0.1):
            good = shot.net < SECONDS and shot.calls < CALLS and shot.mib < MIB
            told = f"{shot.net:.2f} s of {SECONDS:g}, {shot.calls} calls of {CALLS}, {shot.mib:.0f} MiB of {MIB}"
            print(f"\n1,000 nodes at 100 ms a call: {told}: {'kept' if good else 'BROKEN'}")
    return good


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when the limits are kept."""
    parser = argparse.ArgumentParser(prog="python -m bench.burst", description=__doc__)
    parser.add_argument("--sizes", type=lambda text: [int(word) for word in text.split(",")], default=SIZES)
    parser.add_argument("--latency", type=lambda text: [float(word) for word in text.split(",")], default=LATENCIES)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args(argv)
    good = kept(measure(options.sizes, options.latency, not options.no_peers))
    return 0 if burst_daemon.main() == 0 and good else 1


if __name__ == "__main__":
    sys.exit(main())
