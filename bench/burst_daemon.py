"""Benchmark of the idle burst controller, and of a decision about 10,000 nodes.

python -m bench.burst_daemon
"""

import sys
import tempfile
import time
from pathlib import Path

from bench.burst_process import Process, run
from bench.burst_site import MOST, POOL, Slurm, build
from bench.measure import Contender, take_turns
from sandbox.aws_emulator.process import running

IDLE_SECONDS = 30.0
# Limits.
SHIM_SECONDS, IDLE_SHARE, IDLE_MIB, THINK_SECONDS = 0.1, 0.01, 60, 1.0
ROOT = Path(__file__).resolve().parent.parent


def shim(folder: Path, runs: int = 15) -> float:
    """Seconds of ResumeProgram for 1,000 nodes, its floor beside it."""
    environ = {**Slurm(folder).environ, "SLURM_RESUME_FILE": str(folder / "now" / "resume.json")}
    program = (sys.executable, "-m", "landbridge.burst.hooks.programs", "resume", f"{POOL}-[1-{MOST}]")
    ours, floor = Contender("resume", program, environ), Contender("python", (sys.executable, "-c", "pass"))
    figures = take_turns([floor, ours], runs, ROOT)
    mib = run(program, environ).mib
    resume = figures["resume"]
    print(
        f"ResumeProgram of {MOST} nodes: {resume.median * 1000:.0f} ms (most {max(resume.seconds) * 1000:.0f}),"
        f" {mib:.0f} MiB; Python alone {figures['python'].median * 1000:.0f} ms: {_told(resume.median < SHIM_SECONDS)}"
    )
    return resume.median


def idle(slurm: Slurm) -> tuple[float, float]:
    """The share of a core, and MiB, of a daemon with `MOST` nodes that sleep."""
    slurm.ask(0, 1)
    slurm.decide()
    with Process((sys.executable, "-m", "landbridge.burst.daemon.daemon"), slurm.environ) as daemon:
        daemon.wait_for("acting")
        time.sleep(3)
        own, whole = daemon.own_cpu, daemon.cpu
        time.sleep(IDLE_SECONDS)
        share, with_slurm = (daemon.own_cpu - own) / IDLE_SECONDS, (daemon.cpu - whole) / IDLE_SECONDS
        mib = daemon.mib
        good = _told(share < IDLE_SHARE and mib < IDLE_MIB)
        print(
            f"daemon with nothing to do: {share:.2%} of a core over {IDLE_SECONDS:.0f} s"
            f" ({with_slurm:.2%} with its commands), {mib:.0f} MiB (most {daemon.peak_mib:.0f}): {good}"
        )
    return share, mib


def think() -> float:
    """Seconds of the longest decision about 10,000 nodes."""
    output = run((sys.executable, "-m", "bench.burst_reconcile"), {"PYTHONPATH": str(ROOT)})
    worst = 0.0
    for line in output.said.splitlines():
        seconds, what = line.split(" ", 1)
        worst = max(worst, float(seconds))
        print(f"decision about 10,000 nodes, {what}: {float(seconds):.2f} s: {_told(float(seconds) < THINK_SECONDS)}")
    print(f"its process: {output.mib:.0f} MiB")
    return worst


def main() -> int:
    """0 where everything is as promised."""
    print()
    with tempfile.TemporaryDirectory(prefix="landbridge-burst-") as name:
        folder = Path(name)
        with running(folder / "cloud", "--launcher", "none", "--boot-delay", "0") as cloud:
            slurm = Slurm(folder / "slurm")
            slurm.write(cloud, build(cloud))
            slurm.ask(MOST, 50)
            slurm.decide()
            took = shim(slurm.folder)
            for old in slurm.folder.glob("burst.db*"):
                old.unlink()
            share, mib = idle(slurm)
    worst = think()
    good = took < SHIM_SECONDS and share < IDLE_SHARE and mib < IDLE_MIB and worst < THINK_SECONDS
    return 0 if good else 1


def _told(good: bool) -> str:
    return "kept" if good else "BROKEN"


if __name__ == "__main__":
    sys.exit(main())
