"""Node health program. Slurm runs `apply`, which applies the result of the last `check` and takes milliseconds."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from node_health import checks, cloud, counters, facts, kernel, run, samples, slurm
from node_health.problem import Result, is_ours, load, plain, read, reason, write
from node_health.query import Values

CONFIG = Path("/etc/landbridge/node-health.json")
# Under /run: removed by a reboot, as intended.
STATE = Path("/run/landbridge-node-health")
# Samples of the GPUs' use, in STATE.
SAMPLES = "samples.jsonl"
# Readings of error counters, in STATE.
COUNTERS = "counters.jsonl"
# Survives a reboot, because the drain does.
MARK = Path("/var/lib/landbridge-node-health/drained.json")
# Comment of a node whose drain has a reason of this program and no mark: landbridge node why explains it.
UNRECORDED = "landbridge:record:the node has no record of this drain; do: inspect"
# Error of a job's Prolog or Epilog (landbridge-job), until the next job has started.
JOB_FAILED = Path("/run/landbridge/job.failed")
_JOB_ERROR = re.compile(r"landbridge:prolog:|landbridge:epilog:")
# Seconds. An older result is not used: the timer that should have renewed it does not run.
STALE = 150
# Seconds for all programs of `apply` together, and for checks in it: Slurm ends it after HealthCheckTimeout (30).
APPLY_SECONDS = 25
INLINE_SECONDS = 12
# Seconds for all checks of the timer, which end before its service's TimeoutStartSec (120) and before a result is stale.
CHECK_SECONDS = 90


def apply(node: str, result: Result, folder: Path, mark: Path, budget: int = 0) -> None:
    """Drain or resume the node in Slurm according to the result. Raises SlurmError.

    It only removes or rewords drains of its own. `mark` is a file that records them: Slurm keeps our reason at the node
    after the drain has ended, and does not replace it when it drains the node itself. `budget`: the number of nodes that
    health checks may drain at the same time; 0: any number.
    """
    present, problems = slurm.state(node), result.problems
    marked = read(mark)
    if present.drained and not (marked and is_ours(present.reason)):
        # A drain by an operator or by Slurm: only they remove it.
        if (
            is_ours(present.reason)
            and present.comment != UNRECORDED
            and (not present.comment or is_ours(present.comment))
        ):
            slurm.comment(node, UNRECORDED)
        return
    if not present.drained and problems and marked and marked.get("done"):
        # We drained the node and an operator resumed it, which acknowledges log events but not problems that still exist.
        kernel.acknowledge(folder / "events.json")
        problems = tuple(problem for problem in problems if not problem.event)
    new_reason = reason(problems)
    if not new_reason:
        if present.drained:
            _end(node, marked)
        mark.unlink(missing_ok=True)
    elif not slurm.permits(budget, node):
        _withhold(node, new_reason, present, mark, budget)
        return
    elif present.drained and present.reason == new_reason:
        # An interruption after the drain: without the record an operator's resume would not be recognised.
        if not marked.get("done"):
            write(mark, {**marked, "done": True})
    else:
        # The mark is written first: a drain without a mark would never be removed. `done` follows: Slurm may reject it.
        marked = {"reason": new_reason, "at": marked.get("at", 0) if present.drained else time.time()}
        write(mark, {**marked, "done": False})
        slurm.drain(node, new_reason)
        write(mark, {**marked, "done": True})
        if not slurm.permits(budget, node):
            # Another node was drained at the same time.
            _withhold(node, new_reason, slurm.state(node), mark, budget)
            return
    if is_ours(present.comment):
        slurm.comment(node, "")


def _end(node: str, marked: Mapping[str, Any]) -> bool:
    """Resume the node, or leave it drained with the error of a job's Prolog or Epilog during this drain; return whether
    it is resumed.

    Slurm drains no node that is drained already, and then writes no reason (node_mgr.c, _drain_node).
    """
    try:
        # Slurm may drain the node some seconds after the error.
        is_earlier = JOB_FAILED.stat().st_mtime < float(marked.get("at", 0)) - APPLY_SECONDS
        text = "" if is_earlier else JOB_FAILED.read_text(errors="replace").strip()
    except OSError:
        is_earlier, text = True, ""
    if is_earlier:
        slurm.resume(node)
    else:
        kind = "Prolog" if text.startswith("landbridge:prolog:") else "Epilog"
        slurm.drain(node, plain(f"{kind} error: {_JOB_ERROR.sub('', text)}".rstrip(": ")))
    return is_earlier


def _withhold(node: str, new_reason: str, present: slurm.State, mark: Path, budget: int) -> None:
    """Leave the node in service, with the problem as its comment in Slurm. An operator's comment is kept."""
    is_resumed = not present.drained or _end(node, read(mark) or {})
    mark.unlink(missing_ok=True)
    if not is_resumed:
        return
    text = f"{new_reason} (not drained: health checks have drained {budget} nodes, the failure budget)"
    print(f"landbridge-node-health: {text}", file=sys.stderr)
    if present.comment != text and (not present.comment or is_ours(present.comment)):
        slurm.comment(node, text)


def latest(last: Result | None, now: float) -> Result:
    """Return the last result if it is recent, else the result of checks that run now, with a warning about the timer.

    A result from the future was stored before the clock was set.
    """
    if last is not None and 0 <= now - last.at < STALE:
        return last
    run.limit(INLINE_SECONDS)
    result = checks.check(settings(), STATE)
    if last is None:
        return result
    text = f"the last result was {abs(now - last.at):.0f} s old: does landbridge-node-health.timer run?"
    print(f"landbridge-node-health: {text}", file=sys.stderr)
    return replace(result, warnings=(*result.warnings, text))


def settings() -> dict[str, Any]:
    """Return the configuration of the role, with the expectations of a cloud node's pool."""
    return cloud.config(json.loads(CONFIG.read_text()), STATE)


def main(words: list[str] | None = None) -> int:
    """Return 0, with or without problems, and 1 if Slurm could not be updated."""
    parser = argparse.ArgumentParser(prog="landbridge-node-health", description=__doc__)
    parser.add_argument("do", nargs="?", default="apply", choices=["apply", "check", "show", "facts", "samples"])
    action = parser.parse_args(words).do
    last = load(STATE / "result.json")
    if action == "show":
        print(json.dumps(_shown(last), indent=1))
        return 0
    if action == "facts":
        present = {**facts.facts(), "counters": counters.readings(STATE / COUNTERS)}
        print(json.dumps({"result": _shown(last), **present}, indent=1))
        return 0
    if action == "samples":
        sys.stdout.write(samples.text(STATE / SAMPLES))
        return 0
    try:
        return _check_and_apply(action, last)
    finally:
        run.limit(None)


def _check_and_apply(action: str, last: Result | None) -> int:
    start = time.monotonic()
    if action == "apply":
        result = latest(last, time.time())
    else:
        run.limit(CHECK_SECONDS)
        config, values = settings(), Values()
        result = checks.check(config, STATE, values)
        _sample(config, result, values)
        if last is not None and last.problems == result.problems:
            # No change: Slurm's next health check applies the result again.
            return 0
        start = time.monotonic()
    run.limit(APPLY_SECONDS - (time.monotonic() - start))
    node = os.environ.get("SLURMD_NODENAME") or os.uname().nodename.partition(".")[0]
    try:
        apply(node, result, STATE, MARK, int((read(CONFIG) or {}).get("budget", 0)))
    except (slurm.SlurmError, ValueError, KeyError) as error:
        print(f"landbridge-node-health: {error}", file=sys.stderr)
        # During the first converge of a node, Slurm does not run yet.
        return 1 if action == "apply" else 0
    return 0


def _sample(config: dict[str, Any], result: Result, values: Values) -> None:
    """Add a sample of the GPUs' use, and a reading of counters, unless nvidia-smi did not answer the checks."""
    if not config["expected"].get("gpus") or any(
        problem.check in ("gpu", "driver", "stale") for problem in result.problems
    ):
        return
    try:
        samples.append(STATE / SAMPLES, samples.sample(result.at, values))
        counters.append(STATE / COUNTERS, result.at)
    except (OSError, run.OutOfTimeError) as error:
        print(f"landbridge-node-health: no sample of the GPUs: {error}", file=sys.stderr)


def _shown(last: Result | None) -> dict[str, Any] | None:
    """Return the last result as plain data, with its age, and the changes that the environment makes to the checks."""
    if last is None:
        return None
    changes = (read(CONFIG) or {}).get("changes", [])
    return {**asdict(last), "age_seconds": round(time.time() - last.at), "changes": changes}


if __name__ == "__main__":
    sys.exit(main())
