"""Node health program. Slurm runs `apply`, which applies the result of the last `check` and takes milliseconds."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from node_health import cloud, gpus, host, kernel, slurm
from node_health.problem import Problem, Result, is_ours, load, read, reason, save, write

CONFIG = Path("/etc/landbridge/node-health.json")
# Under /run: removed by a reboot, as intended.
STATE = Path("/run/landbridge-node-health")
# Survives a reboot, because the drain does.
MARK = Path("/var/lib/landbridge-node-health/drained.json")
# Seconds. An older result is ignored: the timer that should have renewed it does not run.
STALE = 150


def check(config: Mapping[str, Any], folder: Path) -> Result:
    """Run all checks and save the result."""
    expected = config["expected"]
    problems: list[Problem] = []
    warnings: list[str] = []
    if expected.get("gpus"):
        gpu_problems, gpu_warnings = gpus.check({**expected["gpus"], "driver_branch": config.get("driver_branch", "")})
        problems += gpu_problems
        warnings += gpu_warnings
    problems += kernel.check(config["xids"], folder / "events.json")
    problems += host.services(expected.get("services", []))
    problems += host.mounts(expected.get("mounts", []))
    problems += host.disks(config.get("disks", {}))
    if expected.get("ports"):
        problems += host.ports(expected["ports"])
    if expected.get("efa"):
        problems += host.efa(int(expected["efa"]))
    skipped = set(config.get("skip", []))
    result = Result(
        time.time(), tuple(problem for problem in problems if problem.check not in skipped), tuple(warnings)
    )
    save(folder / "result.json", result)
    return result


def apply(node: str, result: Result, folder: Path, mark: Path) -> None:
    """Drain or resume the node in Slurm according to the result. Raises SlurmError.

    It only removes or rewords drains of its own. `mark` is a file that records them: Slurm keeps our reason at the node
    after the drain has ended, and does not replace it when it drains the node itself.
    """
    present, problems = slurm.state(node), result.problems
    marked = read(mark)
    if present.drained and not (marked and is_ours(present.reason)):
        # A drain by an operator or by Slurm: only they remove it.
        return
    if not present.drained and problems and marked and marked.get("done"):
        # We drained the node and an operator resumed it, which acknowledges log events but not problems that still exist.
        kernel.acknowledge(folder / "events.json")
        problems = tuple(problem for problem in problems if not problem.event)
    new_reason = reason(problems)
    if not new_reason:
        if present.drained:
            slurm.resume(node)
        mark.unlink(missing_ok=True)
    elif not (present.drained and present.reason == new_reason):
        # The mark is written first: a drain without a mark would never be removed. `done` follows: Slurm may reject it.
        write(mark, {"reason": new_reason, "done": False})
        slurm.drain(node, new_reason)
        write(mark, {"reason": new_reason, "done": True})


def main(words: list[str] | None = None) -> int:
    """Return 0, with or without problems, and 1 if Slurm could not be updated."""
    parser = argparse.ArgumentParser(prog="landbridge-node-health", description=__doc__)
    parser.add_argument("do", nargs="?", default="apply", choices=["apply", "check", "show"])
    action = parser.parse_args(words).do
    last = load(STATE / "result.json")
    if action == "show":
        print(json.dumps(asdict(last) if last else None, indent=1))
        return 0
    fresh = last is not None and time.time() - last.at < STALE
    if last is not None and fresh and action == "apply":
        result = last
    else:
        result = check(cloud.config(json.loads(CONFIG.read_text()), STATE), STATE)
    if action == "check" and last is not None and last.problems == result.problems:
        # No change: Slurm's next health check applies the result again.
        return 0
    node = os.environ.get("SLURMD_NODENAME") or socket.gethostname().partition(".")[0]
    try:
        apply(node, result, STATE, MARK)
    except (slurm.SlurmError, ValueError, KeyError) as error:
        print(f"landbridge-node-health: {error}", file=sys.stderr)
        # During the first converge of a node, Slurm does not run yet.
        return 1 if action == "apply" else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
