"""Benchmark of the idle burst controller, of a reading of a large Slurm, and of a decision about 10,000 nodes.

python -m bench.burst.daemon
"""

import sys
import tempfile
import time
from pathlib import Path

from bench import calibration
from bench.burst.process import Process, run
from bench.burst.site import MAX_NODES, POOL, Slurm, build
from bench.limits import read_limits, show_limits
from bench.measure import Contender, take_turns
from sandbox.aws_emulator.process import running

IDLE_SECONDS = 30.0
MB_IN_MIB = 2**20 / 10**6
ROOT = Path(__file__).resolve().parents[2]


def resume_program(folder: Path, runs: int = 15) -> dict[str, float]:
    """Return the processor seconds of ResumeProgram for 1,000 nodes and of Python alone; print their times."""
    environ = {**Slurm(folder).environ, "SLURM_RESUME_FILE": str(folder / "now" / "resume.json")}
    program = (sys.executable, "-m", "landbridge.burst.hooks.programs", "resume", f"{POOL}-[1-{MAX_NODES}]")
    ours, baseline = Contender("resume", program, environ), Contender("python", (sys.executable, "-c", "pass"))
    figures = take_turns([baseline, ours], runs, ROOT)
    mib = run(program, environ).mib
    resume = figures["resume"]
    print(
        f"ResumeProgram of {MAX_NODES} nodes: {resume.median * 1000:.0f} ms (most {max(resume.seconds) * 1000:.0f}),"
        f" {mib:.0f} MiB; Python alone {figures['python'].median * 1000:.0f} ms"
    )
    return {
        f"ResumeProgram of {MAX_NODES:,} nodes: CPU s": resume.processor_median,
        "python: CPU s": figures["python"].processor_median,
    }


def idle(slurm: Slurm) -> dict[str, float]:
    """Return the processor seconds of `IDLE_SECONDS` and the memory of a daemon with `MAX_NODES` powered-down nodes."""
    slurm.prepare(0, 1)
    slurm.activate()
    with Process((sys.executable, "-m", "landbridge.burst.daemon.daemon"), slurm.environ) as daemon:
        daemon.wait_for("acting")
        time.sleep(3)
        cpu_before, total_cpu_before = daemon.own_cpu, daemon.cpu
        time.sleep(IDLE_SECONDS)
        share, with_slurm = (daemon.own_cpu - cpu_before) / IDLE_SECONDS, (daemon.cpu - total_cpu_before) / IDLE_SECONDS
        mib = daemon.mib
        print(
            f"daemon with nothing to do: {share:.2%} of a core over {IDLE_SECONDS:.0f} s"
            f" ({with_slurm:.2%} with its commands), {mib:.0f} MiB (most {daemon.peak_mib:.0f})"
        )
    name = "daemon with nothing to do"
    return {f"{name}, {IDLE_SECONDS:.0f} s: CPU s": share * IDLE_SECONDS, f"{name}: MB": mib * MB_IN_MIB}


def decision() -> dict[str, float]:
    """Return the processor seconds of the longest decision about 10,000 nodes."""
    result = run((sys.executable, "-m", "bench.burst.reconcile"), {"PYTHONPATH": str(ROOT)})
    worst = 0.0
    for line in result.output.splitlines():
        number, situation = line.split(" ", 1)
        seconds = float(number)
        worst = max(worst, seconds)
        print(f"decision about 10,000 nodes, {situation}: {seconds:.2f} s")
    print(f"its process: {result.mib:.0f} MiB")
    return {"decision about 10,000 nodes: CPU s": worst}


def read() -> dict[str, float]:
    """Return the processor seconds of the longest reading of Slurm, and the memory of its process."""
    result = run((sys.executable, "-m", "bench.burst.read"), {"PYTHONPATH": str(ROOT)})
    worst = 0.0
    for line in result.output.splitlines():
        number, situation = line.split(" ", 1)
        worst = max(worst, float(number))
        print(f"reading of 10,000 nodes, {situation}: {number} s")
    print(f"its process: {result.mib:.0f} MiB")
    return {"reading of 10,000 nodes: CPU s": worst, "reading of 10,000 nodes: MB": result.mb}


def values() -> dict[str, float]:
    """Measure all; print a line for each."""
    with tempfile.TemporaryDirectory(prefix="landbridge-burst-") as name:
        folder = Path(name)
        with running(folder / "cloud", "--launcher", "none", "--boot-delay", "0") as cloud:
            slurm = Slurm(folder / "slurm")
            slurm.write(cloud, build(cloud))
            slurm.prepare(MAX_NODES, 50)
            slurm.activate()
            measured = resume_program(slurm.folder)
            for path in slurm.folder.glob("burst.db*"):
                path.unlink()
            measured |= idle(slurm)
    return measured | read() | decision()


def main() -> int:
    """Return 0 when all measurements are within their limits."""
    return 0 if show_limits(read_limits({"idle"}), calibration.values_with([values])) else 1


if __name__ == "__main__":
    sys.exit(main())
