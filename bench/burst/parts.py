"""Benchmark of the burst controller, in parts; all parts are measured if none is named.

    python -m bench.burst [PART ...] [--sizes 16,128,512,1000] [--latency 0,0.1] [--no-peers]

launches: node starts by our controller and ParallelCluster's resume program; the emulated AWS answers, and "net" is the
time without its own processing time. idle: the daemon without work, and decisions.
pass: whole passes over 10,000 nodes. comments: 4,000 refused jobs. starts: PrologSlurmctld of 1,000 booting jobs.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import calibration
from bench.burst import comments as burst_comments
from bench.burst import daemon as burst_daemon
from bench.burst import job_starts
from bench.burst import passes as burst_pass
from bench.burst import peer as burst_peer
from bench.burst.process import Process, ProcessResult, run
from bench.burst.site import MAX_NODES, POOL, AwsResources, Slurm, build, peer_settings
from bench.limits import PEER, read_limits, show_limits
from landbridge.hostlist import compress
from sandbox.aws_emulator.process import EmulatorProcess, running

SIZES, JOBS, LATENCIES = (16, 128, 512, 1000), (1, 50), (0.0, 0.1)
OURS, COLD = "landbridge", "landbridge, daemon not running"
#: Node names in one `scontrol update` of our controller.
UPDATE_BATCH = 500
PARTS = ("launches", "idle", "pass", "comments", "starts")
#: Nodes of the launch, as one job, that has limits.
LARGEST = 1000


@dataclass(frozen=True)
class Measurement:
    """Measurement of one resume, from the program's start until Slurm has the last address."""

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
        """Return the seconds without the emulator's own processing time."""
        return self.seconds - self.busy


@dataclass
class Bench:
    """Benchmark with one emulated AWS and one Slurm, emptied for every measurement."""

    cloud: EmulatorProcess
    slurm: Slurm
    resources: AwsResources
    peer: burst_peer.Peer | None

    def reset(self, nodes: int, jobs: int, latency: float) -> None:
        self.resources = build(self.cloud)
        for name in ("burst.db", "burst.db-wal", "burst.db-shm"):
            (self.slurm.folder / name).unlink(missing_ok=True)
        self.slurm.write(self.cloud, self.resources)
        self.slurm.prepare(nodes, jobs)
        self.slurm.activate()
        self.cloud.control(reset=True)
        self.cloud.control(latency=latency)

    def measurement_of(self, name: str, nodes: int, jobs: int, latency: float, ended: ProcessResult) -> Measurement:
        counters = self.cloud.control()
        alive = [instance for instance in counters["instances"] if instance["state"] in ("pending", "running")]
        if len(alive) != nodes:
            raise RuntimeError(f"{name}: {len(alive)} instances for {nodes} nodes: {ended.output[-600:]}")
        ec2 = sum(count for operation, count in counters["asked"].items() if operation.startswith("ec2:"))
        updates = len(self.slurm.updates)
        return Measurement(
            name,
            nodes,
            jobs,
            latency,
            ended.seconds,
            counters["busy"],
            ec2,
            counters["total"],
            updates,
            ended.mib,
            ended.cpu,
        )

    def resume(self, nodes: int) -> ProcessResult:
        """Run our ResumeProgram."""
        environ = {**self.slurm.environ, "SLURM_RESUME_FILE": str(self.slurm.folder / "now" / "resume.json")}
        names = compress(f"{POOL}-{number}" for number in range(1, nodes + 1))
        return run((sys.executable, "-m", "landbridge.burst.hooks.programs", "resume", names), environ)

    def cold(self, nodes: int, jobs: int, latency: float) -> Measurement:
        """Measure the program, then a daemon that starts, makes one pass and stops."""
        self.reset(nodes, jobs, latency)
        first = self.resume(nodes)
        second = run((sys.executable, "-m", "landbridge.burst.daemon.daemon", "--once"), self.slurm.environ)
        return self.measurement_of(COLD, nodes, jobs, latency, first.then(second))

    def ours(self, nodes: int, jobs: int, latency: float) -> Measurement:
        """Measure the program while an idle daemon runs, as in service."""
        self.reset(0, 1, 0.0)
        with Process((sys.executable, "-m", "landbridge.burst.daemon.daemon"), self.slurm.environ) as daemon:
            daemon.wait_for("acting")
            self.slurm.prepare(nodes, jobs)
            time.sleep(1)  # the end of its first pass
            self.cloud.control(reset=True)
            self.cloud.control(latency=latency)
            before, began = daemon.cpu, time.perf_counter()
            self.slurm.activate()
            first = self.resume(nodes)
            while len([update for update in self.slurm.updates if "nodeaddr=" in update]) < -(-nodes // UPDATE_BATCH):
                if time.perf_counter() - began > 300:
                    raise RuntimeError(f"{nodes} nodes are not up: {daemon.output[-600:]}")
                time.sleep(0.005)
            seconds = time.perf_counter() - began
            ended = ProcessResult(
                seconds, max(daemon.peak_mib, first.mib), first.cpu + daemon.cpu - before, daemon.output
            )
            return self.measurement_of(OURS, nodes, jobs, latency, ended)

    def theirs(self, nodes: int, jobs: int, latency: float) -> Measurement | None:
        """Measure the peer's resume program; None if there is no peer."""
        if self.peer is None:
            return None
        self.reset(nodes, jobs, latency)
        environ = {**self.slurm.environ, **self.peer.environ(self.cloud), **peer_settings(self.slurm, self.resources)}
        ended = run(self.peer.resume(self.slurm.folder, nodes), environ)
        return self.measurement_of(burst_peer.NAME, nodes, jobs, latency, ended)


@contextmanager
def bench(peers: bool) -> Iterator[Bench]:
    """Yield a benchmark with an emulated AWS that runs for the block."""
    peer = None
    if peers:
        try:
            peer = burst_peer.install()
        except burst_peer.Unavailable as error:
            print(f"{burst_peer.NAME} could NOT be measured here: {error}")
    with tempfile.TemporaryDirectory(prefix="landbridge-burst-") as name:
        folder = Path(name)
        with running(folder / "cloud", "--launcher", "none", "--boot-delay", "0") as cloud:
            yield Bench(cloud, Slurm(folder / "slurm"), AwsResources("", "", "", ""), peer)


def show(row: Measurement) -> None:
    print(
        f"{row.nodes:5} {row.jobs:4} {row.latency * 1000:6.0f} {row.name:31} {row.seconds:8.2f} {row.net:8.2f} {row.cpu:7.2f}"
        f" {row.ec2:6} {row.calls:6} {row.updates:9} {row.mib:8.1f}",
        flush=True,
    )


def measure(sizes: Sequence[int], latencies: Sequence[float], peers: bool) -> list[Measurement]:
    """Measure every size, as one job and as many jobs, with every latency; print a row for each."""
    measurements: list[Measurement] = []
    head = ("nodes", "jobs", "ms/call", "", "wall s", "net s", "CPU s", "EC2", "calls", "scontrol", "peak MiB")
    print("{:>5} {:>4} {:>6} {:31} {:>8} {:>8} {:>7} {:>6} {:>6} {:>9} {:>8}".format(*head))
    with bench(peers) as benchmark:
        for latency in latencies:
            for nodes in sizes:
                for jobs in sorted({min(count, nodes) for count in JOBS}):
                    for measure_resume in (benchmark.ours, benchmark.cold, benchmark.theirs):
                        if measurement := measure_resume(nodes, jobs, latency):
                            measurements.append(measurement)
                            show(measurement)
    return measurements


def launch_values(measurements: Sequence[Measurement]) -> dict[str, float]:
    """Return the values of the largest launch as one job, of our controller with a running daemon and of the peer."""
    values: dict[str, float] = {}
    begins = {OURS: "", burst_peer.NAME: f"{PEER}, "}
    for row in measurements:
        if row.name in begins and (row.nodes, row.jobs) == (LARGEST, 1):
            name = f"{begins[row.name]}launch of {row.nodes:,} nodes, {row.latency * 1000:.0f} ms a call"
            values |= {
                f"{name}: nodes": row.nodes,
                f"{name}: net s": row.net,
                f"{name}: CPU s": row.cpu,
                f"{name}: calls": row.calls,
                f"{name}: MB": row.mib * 2**20 / 10**6,
            }
    return values


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when all measurements are within the limits."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.burst", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--sizes", type=lambda text: [int(word) for word in text.split(",")], default=SIZES)
    parser.add_argument("--latency", type=lambda text: [float(word) for word in text.split(",")], default=LATENCIES)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args(argv)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    measured: dict[str, Callable[[], dict[str, float]]] = {
        "launches": lambda: launch_values(measure(options.sizes, options.latency, not options.no_peers)),
        "idle": burst_daemon.values,
        "pass": lambda: burst_pass.values(burst_pass.NODES, burst_pass.PENDING_JOBS, 1),
        "comments": burst_comments.values,
        "starts": lambda: job_starts.values(MAX_NODES, 20.0),
    }
    parts = options.parts or PARTS

    def measured_part(part: str) -> dict[str, float]:
        print(f"\n{part}\n", flush=True)
        return measured[part]()

    values = calibration.values_with([partial(measured_part, part) for part in parts])
    return 0 if show_limits(read_limits(parts), values) else 1
