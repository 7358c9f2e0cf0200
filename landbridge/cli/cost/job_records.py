"""Records from which the costs of jobs are computed: options, and how they are read from Slurm, the journal and files."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from landbridge.cli.common import print_findings
from landbridge.findings import Finding, has_errors

if TYPE_CHECKING:
    from landbridge.burst.model import Charge
    from landbridge.economics.job_costs.paid import PaidTime
    from landbridge.economics.job_costs.statement import Records
    from landbridge.environment import Environment
    from landbridge.trace.allocations import Allocation, NodeEvent

Sacct = Annotated[
    Path | None, typer.Option("--sacct", metavar="FILE", help="Output of sacct; default: sacct on this host.")
]
Events = Annotated[
    Path | None,
    typer.Option("--events", metavar="FILE", help="Output of `sacctmgr show event`; default: sacctmgr on this host."),
]
Journal = Annotated[
    Path | None,
    typer.Option("--journal", metavar="FOLDER", help="Copy of the burst journal; default: this host's journal."),
]
Statistics = Annotated[
    Path | None,
    typer.Option("--statistics", metavar="FOLDER", help="DCGM's statistics of jobs: JOB.txt in folders by node."),
]
Ledger = Annotated[
    Path | None, typer.Option("--ledger", metavar="FILE", help="Ledger of `landbridge data`; default: none.")
]
Grid = Annotated[
    str | None, typer.Option("--grid", metavar="NAME", help="The site's electric grid, a key of carbon.yaml.")
]
TIMEOUT_SECONDS = 300.0
#: Start of all accounting; without a start, sacct lists today's jobs only.
FIRST_DAY = "1970-01-02"


def read_records(
    environment: "Environment",
    sacct: Path | None,
    events: Path | None,
    journal: Path | None,
    statistics: Path | None,
    ledger: Path | None,
    grid: str | None,
    since: str = FIRST_DAY,
) -> "Records":
    """Return the records; Slurm on this host is asked for jobs since a day. Prints findings of files, and ends the command
    with 1 if they have errors.
    """
    from landbridge.catalog.carbon import carbon
    from landbridge.economics.job_costs.statement import Records
    from landbridge.findings import did_you_mean
    from landbridge.live.datasets import TransferLedger

    if grid is not None and grid not in carbon().grids:
        near = did_you_mean(grid, carbon().grids)
        raise typer.BadParameter(f"unknown grid{f', did you mean {near}?' if near else ''}", param_hint="--grid")
    allocations, found_events, findings = _from_slurm(sacct, events, since)
    has_journal = journal is not None or bool(environment.aws.pools)
    spent, charges = read_journal(journal) if has_journal else ({}, [])
    joules = _joules(statistics)
    print_findings(findings)
    if has_errors(findings):
        raise typer.Exit(1)
    return Records(
        allocations=allocations,
        events=found_events,
        charges=paid_times(charges),
        spent=spent,
        ledger=list(TransferLedger(ledger).lines()) if ledger is not None else (),
        joules=joules,
        grid=grid,
        queued=_queued(allocations) if sacct is None else None,
    )


def paid_times(charges: "Iterable[Charge]") -> "list[PaidTime]":
    """Return the journal's charges as inputs of a statement."""
    from landbridge.economics.job_costs.paid import PaidTime

    return [
        PaidTime(
            charge.key.day,
            charge.key.pool,
            charge.key.account,
            charge.key.job,
            _KINDS[charge.key.kind],
            charge.node_seconds,
            charge.usd,
            charge.unpriced_seconds,
        )
        for charge in charges
    ]


_KINDS: dict[str, Literal["job", "boot", "idle"]] = {"job": "job", "boot": "boot", "idle": "idle"}


def _from_slurm(
    sacct: Path | None, events: Path | None, since: str
) -> "tuple[tuple[Allocation, ...], tuple[NodeEvent, ...], tuple[Finding, ...]]":
    """Return the allocations and node events of the files, or of Slurm on this host without a file of allocations."""
    from landbridge.trace.allocations import (
        ALLOCATION_FIELDS,
        ELIGIBLE_FIELD,
        EVENT_FIELDS,
        SUBMIT_FIELD,
        allocations_of,
        events_of,
    )

    text = (
        _text(sacct)
        if sacct is not None
        else _slurm(
            [*SACCT, f"--starttime={since}", f"--format={','.join((*ALLOCATION_FIELDS, SUBMIT_FIELD, ELIGIBLE_FIELD))}"]
        )
    )
    allocations, findings = allocations_of(text, str(sacct) if sacct is not None else None)
    if events is None and sacct is not None:
        return allocations, (), findings
    text = (
        _text(events)
        if events is not None
        else _slurm([*SACCTMGR, f"start={since}", f"format={','.join(EVENT_FIELDS)}"])
    )
    node_events, of_events = events_of(text, str(events) if events is not None else None)
    return allocations, node_events, (*findings, *of_events)


def _queued(allocations: "Iterable[Allocation]") -> frozenset[int] | None:
    """Return the jobs that slurmctld has, if a run without an end is to be looked up; None if it does not answer."""
    from landbridge.burst.slurm.accounting import queued_jobs
    from landbridge.burst.slurm.slurm import SlurmError

    if all(each.end is not None for each in allocations):
        return frozenset()
    try:
        return queued_jobs()
    except SlurmError:
        return None


#: Source: sacct(1): --duplicates lists every run of a requeued job.
SACCT = ("sacct", "--allusers", "--allocations", "--duplicates", "--parsable2")
SACCTMGR = ("sacctmgr", "--parsable2", "show", "event")


def _slurm(command: list[str]) -> str:
    from landbridge.burst.slurm.slurm import SlurmError, run

    try:
        return run(command, TIMEOUT_SECONDS, {"TZ": "UTC", "SLURM_TIME_FORMAT": "standard"})
    except SlurmError as error:
        typer.echo(f"landbridge: {error}; give --sacct FILE on a host without Slurm", err=True)
        raise typer.Exit(2) from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        print_findings([Finding("unreadable-file", f"it cannot be read: {error.strerror}", file=str(path))])
        raise typer.Exit(2) from None


def read_journal(folder: Path | None) -> "tuple[dict[tuple[str, str, str], float], list[Charge]]":
    """Return spending and charges of a copy, or of this host's journal. Ends the command with 2 if it cannot be read."""
    from landbridge.burst.journal.snapshot import read_snapshot, state_of
    from landbridge.cli.burst.common import controller

    if folder is None:
        with controller(None) as (_, store):
            state, charges = store.load_with_charges()
        return dict(state.spent), charges
    try:
        copy = read_snapshot(folder)
    except (OSError, ValueError) as error:
        typer.echo(f"landbridge: {folder}: {error}", err=True)
        raise typer.Exit(2) from None
    return dict(state_of(copy).spent), list(copy.charges)


def _joules(folder: Path | None) -> dict[int, float]:
    """Return the energy of the GPUs of each job from dcgmi's statistics."""
    from landbridge.trace.allocations import joules_of

    joules: dict[int, float] = defaultdict(float)
    for path in sorted(folder.rglob("*.txt")) if folder is not None else ():
        value = joules_of(path.read_text(encoding="utf-8", errors="replace")) if path.stem.isdigit() else None
        if value is not None:
            joules[int(path.stem)] += value
    return dict(joules)
