"""Program of node health. Slurm runs `apply`: it applies the result of the last `check`, and takes milliseconds."""

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

from node_health import gpus, host, kernel, slurm
from node_health.problem import Problem, Result, is_ours, load, read, reason, save, write

CONFIG = Path("/etc/landbridge/node-health.json")
# Removed by a restart, as intended.
STATE = Path("/run/landbridge-node-health")
# Outlives a restart, because the drain does.
MARK = Path("/var/lib/landbridge-node-health/drained.json")
# Seconds. An older result is none: whatever should have renewed it does not run.
STALE = 150


def check(config: Mapping[str, Any], folder: Path) -> Result:
    """Run all checks and save the result."""
    expected = config["expected"]
    problems: list[Problem] = []
    warnings: list[str] = []
    if expected.get("gpus"):
        found, said = gpus.check({**expected["gpus"], "driver_branch": config.get("driver_branch", "")})
        problems += found
        warnings += said
    problems += kernel.check(config["xids"], folder / "events.json")
    problems += host.services(expected.get("services", []))
    problems += host.mounts(expected.get("mounts", []))
    problems += host.disks(config.get("disks", {}))
    if expected.get("ports"):
        problems += host.ports(expected["ports"])
    skipped = set(config.get("skip", []))
    result = Result(time.time(), tuple(one for one in problems if one.check not in skipped), tuple(warnings))
    save(folder / "result.json", result)
    return result


def apply(node: str, result: Result, folder: Path, mark: Path) -> None:
    """Make Slurm's view follow. Only what we drained ourselves is taken back or reworded. Raises SlurmError.

    `mark` is a file that says so: Slurm leaves a reason of ours at the node after its drain has ended, and does not write
    another over it when it drains the node by itself.
    """
    present, problems = slurm.state(node), result.problems
    marked = read(mark)
    if present.drained and not (marked and is_ours(present.reason)):
        # A person's, or Slurm's own: theirs to end, whatever we find.
        return
    if not present.drained and problems and marked and marked.get("done"):
        # We drained the node and an operator resumed it, which acknowledges log events but not problems that still exist.
        kernel.acknowledge(folder / "events.json")
        problems = tuple(one for one in problems if not one.event)
    wanted = reason(problems)
    if not wanted:
        if present.drained:
            slurm.resume(node)
        mark.unlink(missing_ok=True)
    elif not (present.drained and present.reason == wanted):
        # The mark is written first: a drain without a mark would never be removed. `done` follows: Slurm may reject it.
        write(mark, {"reason": wanted, "done": False})
        slurm.drain(node, wanted)
        write(mark, {"reason": wanted, "done": True})


def main(words: list[str] | None = None) -> int:
    """Return 0, with or without problems, and 1 if Slurm could not be updated."""
    parser = argparse.ArgumentParser(prog="landbridge-node-health", description=__doc__)
    parser.add_argument("do", nargs="?", default="apply", choices=["apply", "check", "show"])
    chosen = parser.parse_args(words).do
    config, last = json.loads(CONFIG.read_text()), load(STATE / "result.json")
    if chosen == "show":
        print(json.dumps(asdict(last) if last else None, indent=1))
        return 0
    fresh = last is not None and time.time() - last.at < STALE
    result = last if last is not None and fresh and chosen == "apply" else check(config, STATE)
    if chosen == "check" and last is not None and last.problems == result.problems:
        # No change: Slurm's next round applies the result again.
        return 0
    node = os.environ.get("SLURMD_NODENAME") or socket.gethostname().partition(".")[0]
    try:
        apply(node, result, STATE, MARK)
    except (slurm.SlurmError, ValueError, KeyError) as error:
        print(f"landbridge-node-health: {error}", file=sys.stderr)
        # While a node is set up, Slurm does not run yet.
        return 1 if chosen == "apply" else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
