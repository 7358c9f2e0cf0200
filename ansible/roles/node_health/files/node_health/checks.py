"""All checks of a node, and their result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from node_health import gpus, host, kernel, recovery
from node_health.problem import Problem, Result, save
from node_health.query import Values
from node_health.run import OutOfTimeError


def check(config: Mapping[str, Any], folder: Path, values: Values | None = None) -> Result:
    """Run all checks and save the result. Checks that do not end in time are a problem: the state is not known."""
    problems: list[Problem] = []
    warnings: list[str] = []
    try:
        _run(config, folder, values or Values(), problems, warnings)
    except OutOfTimeError as error:
        problems.append(Problem("stale", f"the checks did not end in time, at {error}", "inspect"))
    skipped = set(config.get("skip", []))
    remaining = tuple(problem for problem in problems if problem.check not in skipped)
    result = Result(time.time(), remaining, tuple(warnings))
    save(folder / "result.json", result)
    return result


def _run(config: Mapping[str, Any], folder: Path, values: Values, problems: list[Problem], warnings: list[str]) -> None:
    """Run the checks one after the other; `problems` and `warnings` have those before an interruption."""
    expected = config["expected"]
    has_recovery = False
    if expected.get("gpus"):
        wanted = {**expected["gpus"], "driver_branch": config.get("driver_branch", "")}
        gpu_problems, gpu_warnings = gpus.check(wanted, folder / "fabric.json", values)
        problems += gpu_problems
        warnings += gpu_warnings
        recovery_problems, has_recovery = recovery.check(values) if not _no_answer(gpu_problems) else ([], False)
        problems += recovery_problems
        problems += host.device_files()
    # Xid 154 announces the state that nvidia-smi has; the line stays in the log when the GPU is recovered.
    announced = f"{kernel.RECOVERY} at "
    events = kernel.check(config["xids"], folder / "events.json")
    problems += [event for event in events if not (has_recovery and event.detail.startswith(announced))]
    problems += host.services(expected.get("services", []))
    problems += host.mounts(expected.get("mounts", []))
    problems += host.disks(config.get("disks", {}))
    if any(expected.get(key) for key in ("ports", "ethernet_ports", "devices")):
        problems += host.ports(expected)
    bond_problems, bond_warnings = host.bonds(expected.get("bonds", {}))
    problems += bond_problems
    warnings += bond_warnings
    if expected.get("efa"):
        problems += host.efa(int(expected["efa"]))


def _no_answer(problems: list[Problem]) -> bool:
    """Return whether nvidia-smi did not answer: a further call would wait as long."""
    return any(problem.check in ("gpu", "driver") and "nvidia-smi" in problem.detail for problem in problems)
