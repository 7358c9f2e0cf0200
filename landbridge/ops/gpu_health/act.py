"""Execution of the machine's actions: drains and reservations by scontrol; resets, restarts and retests by given functions."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from landbridge.ops.gpu_health.values import PREFIX, HealthAction, HealthStep, RepairResult
from landbridge.ops.scontrol import Scontrol, ScontrolError, show_nodes

#: Start of the names of reservations for retests.
RESERVATION = "landbridge-health-"


@dataclass(frozen=True, slots=True)
class Repairs:
    """Functions that reset, restart and retest a node; each returns whether it succeeded, None if it did not run, and a
    detail. `play` returns None for a restart that has begun: the node's start is observed by a later pass.
    """

    play: Callable[[HealthAction], tuple[bool | None, str] | None]
    retest: Callable[[HealthAction, str], tuple[bool | None, str]]


def carry_out(actions: Iterable[HealthAction], scontrol: Scontrol, repairs: Repairs) -> tuple[RepairResult, ...]:
    """Carry out actions one after the other and return the results of steps. A refused command is a step not run."""
    results = []
    for action in actions:
        try:
            result = _carry_out(action, scontrol, repairs)
        except ScontrolError as error:
            result = (None, f"scontrol: {error.args[0]}")
        if result is not None and action.step.is_disruptive:
            ok, detail = result
            results.append(RepairResult(action.node, str(action.step), action.started, time.time(), ok, detail))
    return tuple(results)


def _carry_out(action: HealthAction, scontrol: Scontrol, repairs: Repairs) -> tuple[bool | None, str] | None:
    reservation = RESERVATION + action.node
    if action.step is HealthStep.RELEASE:
        _delete(scontrol, reservation)
        return None
    drained, reason = _drain(scontrol, action.node)
    if drained and not reason.startswith("landbridge:"):
        # A person or Slurm has drained the node since the observation.
        return None, f"{action.node} is drained by another: {reason}"
    if drained and reason.startswith("landbridge: ") and not reason.startswith(PREFIX):
        return None, f"{action.node} is drained for a restart: {reason}"
    match action.step:
        case HealthStep.RESET | HealthStep.REBOOT:
            return repairs.play(action)
        case HealthStep.RETEST:
            _reserve(scontrol, reservation, action.node)
            # Not `undrain`: a restart that Slurm did not request leaves the node DOWN.
            scontrol(["update", f"nodename={action.node}", "state=resume"])
            return repairs.retest(action, reservation)
        case HealthStep.RETURN:
            if drained and reason.startswith(PREFIX):
                scontrol(["update", f"nodename={action.node}", "state=undrain"])
            _delete(scontrol, reservation)
        case _:
            scontrol(["update", f"nodename={action.node}", "state=drain", f"reason={action.reason}"])
            _delete(scontrol, reservation)
    return None


def _drain(scontrol: Scontrol, node: str) -> tuple[bool, str]:
    row: dict[str, Any] = show_nodes(scontrol, node)["nodes"][0]
    flags = row.get("state", [])
    return "DRAIN" in flags, str(row.get("reason") or "")


def _reserve(scontrol: Scontrol, name: str, node: str) -> None:
    """Reserve the node for root, whose jobs the retest starts; an existing reservation of the name is kept."""
    if name in _reservations(scontrol):
        return
    words = ["users=root", f"nodes={node}", "starttime=now", "duration=UNLIMITED", "flags=MAINT,IGNORE_JOBS"]
    scontrol(["create", "reservation", f"reservationname={name}", *words])


def _delete(scontrol: Scontrol, name: str) -> None:
    if name in _reservations(scontrol):
        scontrol(["delete", f"reservationname={name}"])


def _reservations(scontrol: Scontrol) -> set[str]:
    words = scontrol(["--oneliner", "show", "reservation"]).split()
    return {word.partition("=")[2] for word in words if word.startswith("ReservationName=")}
