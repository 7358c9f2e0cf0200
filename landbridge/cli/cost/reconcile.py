"""Command `landbridge cost reconcile`: AWS's cost report against the burst controller's records."""

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import Format, exit_code, print_findings, print_json
from landbridge.cli.cost.job_records import Journal, paid_times, read_journal

if TYPE_CHECKING:
    from fractions import Fraction

    from landbridge.findings import Finding

Report = Annotated[
    Path,
    typer.Option("--cur", metavar="FILE", help="AWS's cost report (CUR or CUR 2.0) as CSV, also compressed (.gz)."),
]
Decisions = Annotated[
    Path | None, typer.Option("--decisions", metavar="FILE", help="Decision log; default: that of this host.")
]
Hours = Annotated[
    float, typer.Option("--hours", min=0, help="Hours by which an instance may differ on a day without a finding.")
]
Share = Annotated[
    float, typer.Option("--share", min=0, max=1, help="Share by which the dollars of a pool and day may differ.")
]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reconcile)


def reconcile(
    cur: Report,
    decisions: Decisions = None,
    journal: Journal = None,
    hours: Hours = 0.1,
    share: Share = 0.02,
    form: Form = Format.TEXT,
) -> None:
    """Compare AWS's cost report with the burst controller.

    It compares instances by day; differences are findings.

    Exit status: 0 no differences of instances, 1 differences, 2 a file cannot be read. Example: landbridge cost
    reconcile --cur cur.csv.gz --journal landbridge-burst
    """
    from fractions import Fraction

    from landbridge.burst.journal.paths import DECISIONS, STATE_DIR
    from landbridge.economics.job_costs.invoice import launched_instances, read_invoice
    from landbridge.economics.job_costs.reconciliation import pool_days, unused_reservations
    from landbridge.economics.job_costs.reconciliation import reconcile as differences

    charges = paid_times(read_journal(journal)[1])
    invoice, findings = read_invoice(_lines(cur), str(cur))
    launched = launched_instances(_lines(decisions or Path(STATE_DIR) / DECISIONS))
    differences_found: tuple[Finding, ...] = (
        *findings,
        *differences(invoice.instances, launched, charges, hours, share),
        *unused_reservations(invoice.unused),
    )
    days = pool_days(invoice.instances, launched, charges)
    print_findings(differences_found)
    if form is Format.JSON:
        rows = [
            {"day": each.day, "pool": each.pool, "invoiced": float(each.invoiced), "journal": float(each.journal)}
            for each in days
        ]
        unused = [
            {"day": day, "reservation": reservation, "hours": time.hours, "usd": float(time.usd)}
            for (reservation, day), time in sorted(invoice.unused.items())
        ]
        print_json({"days": rows, "unused": unused, "findings": [finding.to_dict() for finding in differences_found]})
    else:
        typer.echo(f"{'day':<12}{'pool':<14}{'cost report':>14}{'journal':>14}{'difference':>14}")
        lines = [(each.day, each.pool, each.invoiced, each.journal, each.difference) for each in days]
        lines += [
            (day, f"{name} unused ", time.usd, Fraction(0), -time.usd) for (name, day), time in invoice.unused.items()
        ]
        for day, name, *amounts in sorted(lines):
            typer.echo(f"{day:<12}{name:<14}" + "".join(f"{_shown(usd):>14}" for usd in amounts))
        count = len({instance for instance, _ in invoice.instances})
        typer.echo(
            f"{count} instance{'s' * (count != 1)}, {len(differences_found) or 'no'} finding{'s' * (len(differences_found) != 1)}"
        )
    raise typer.Exit(exit_code(differences_found))


def _shown(usd: "Fraction") -> str:
    from landbridge.economics.job_costs.money import decimal_of

    return f"{decimal_of(usd, 2):,.2f}"


def _lines(path: Path) -> list[str]:
    from landbridge.findings import Finding

    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
                return stream.read().splitlines()
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, EOFError) as error:
        print_findings([Finding("unreadable-file", f"it cannot be read: {error}", file=str(path))])
        raise typer.Exit(2) from None
