"""Execution of decisions on idle jobs by scontrol and scancel, with the journal of notices and the ledger of savings."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from landbridge import timestamps
from landbridge.ops.idle_gpus.policy import IdleDecision, IdleJournal
from landbridge.ops.scontrol import Scontrol, ScontrolError

JOURNAL = "idle-gpus.json"
LEDGER = "idle-gpus.ledger"


def carry_out(decisions: Iterable[IdleDecision], scontrol: Scontrol, scancel: Scontrol) -> dict[str, str]:
    """Carry out the decisions; return the errors by job id. A job that has ended in the meantime is an error too."""
    errors = {}
    for decision in decisions:
        if decision.action == "nothing":
            continue
        try:
            _carry_out(decision, scontrol, scancel)
        except ScontrolError as error:
            errors[decision.idle.job.id] = str(error.args[0])
    return errors


def _carry_out(decision: IdleDecision, scontrol: Scontrol, scancel: Scontrol) -> None:
    job = decision.idle.job
    # Before the action: accounting keeps it, and the user reads why the job ended.
    scontrol(["update", f"jobid={job.id}", f"admincomment={decision.text}"])
    match decision.action:
        case "notice":
            if not job.is_batch:
                scontrol(["notify", job.id, decision.text])
        case "requeue" | "suspend":
            scontrol([decision.action, job.id])
        case "cancel":
            scancel([job.id])


def load_notices(folder: Path) -> IdleJournal:
    """Return the journal of notices; an unreadable one is empty, which only delays actions by a grace time."""
    try:
        data = json.loads((folder / JOURNAL).read_text())
        return IdleJournal({str(key): float(at) for key, at in data["noticed"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return IdleJournal()


def save_notices(folder: Path, journal: IdleJournal) -> None:
    """Replace the journal in one rename."""
    temporary = folder / f".{JOURNAL}.new"
    temporary.write_text(json.dumps(asdict(journal), indent=1, sort_keys=True) + "\n")
    temporary.chmod(0o600)
    temporary.replace(folder / JOURNAL)


def ledger_line(decision: IdleDecision, now: float, usd_per_gpu_hour: float | None) -> dict[str, Any]:
    """Return the saving of an action: GPU-hours that the job would have kept until its time limit, and their price."""
    job, idle = decision.idle.job, decision.idle
    usd = None if usd_per_gpu_hour is None else round(decision.freed * usd_per_gpu_hour, 2)
    return {
        "time": timestamps.iso(now),
        "action": decision.action,
        "job": job.id,
        "user": job.user,
        "account": job.account,
        "partition": job.partition,
        "kind": str(idle.kind),
        "gpus": len(job.gpus),
        "gpu_hours_freed": round(decision.freed, 2),
        "usd": usd,
    }


def append_ledger(
    folder: Path, decisions: Iterable[IdleDecision], errors: dict[str, str], now: float, rate: float | None
) -> None:
    """Append a line for each job that was ended or suspended."""
    lines = [
        json.dumps(ledger_line(decision, now, rate))
        for decision in decisions
        # A suspended job keeps its GPUs: nothing is saved.
        if decision.action in ("requeue", "cancel") and decision.idle.job.id not in errors
    ]
    if lines:
        with (folder / LEDGER).open("a") as handle:
            handle.write("".join(f"{line}\n" for line in lines))
