"""Command `landbridge data status`: data and results of jobs, as the mover has reported them."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from landbridge.cli.common import Format, print_json
from landbridge.cli.data.common import Form

Exchange = Annotated[
    Path | None,
    typer.Option("--exchange", metavar="FOLDER", help="Exchange of controller and mover; default: that of this host."),
]
#: Settings of a host with the exchange, and the path of the folder in them.
_SETTINGS = (("/etc/landbridge/mover.json", ("exchange",)), ("/etc/landbridge/burst.json", ("staging", "exchange")))


def register(data: typer.Typer) -> None:
    """Add the command."""
    data.command("status")(status)


def status(exchange: Exchange = None, form: Form = Format.TEXT) -> None:
    """Show the data and the results of jobs.

    It runs on the storage host and on the controllers, reads the reports of the mover, and calls neither AWS nor Slurm.
    Exit status: 0; 1 something is refused, or the mover has not reported for five minutes; 2 there is no exchange.

    Example: landbridge data status
    """
    from landbridge.burst.staging.decide import SILENT_SECONDS, place_text
    from landbridge.burst.staging.results import results_text
    from landbridge.staging.exchange import read_reports, read_results, read_results_reports

    folder = exchange or exchange_of_host()
    if folder is None or not folder.is_dir():
        typer.echo(f"landbridge: {folder or 'this host'} has no exchange with a mover: give --exchange", err=True)
        raise typer.Exit(2)
    reports, results_reports = read_reports(folder), read_results_reports(folder)
    try:
        requests = read_results(folder)
    except (OSError, ValueError) as error:
        typer.echo(f"landbridge: {error}", err=True)
        raise typer.Exit(2) from None
    silent = None if reports.at is None else max(0.0, time.time() - reports.at)
    if form is Format.JSON:
        data = [{**asdict(place), **asdict(report)} for place, report in sorted(reports.by_place.items())]
        results = [
            {"run": run, "request": asdict(each), "report": _fields(results_reports.get(run))}
            for run, each in requests.items()
        ]
        print_json({"seconds_since_report": silent, "data": data, "results": results})
    else:
        for place, report in sorted(reports.by_place.items()):
            typer.echo(f"{place.data_class:14} {place_text(place, report)}")
        for run, request in sorted(requests.items()):
            typer.echo(f"{request.data_class:14} {results_text(request, results_reports.get(run))}")
        ago = "has never reported" if silent is None else f"reported {silent:.0f} s ago"
        typer.echo(f"{len(reports.by_place)} places of data, {len(requests)} results; the mover {ago}")
    states = [*(each.state for each in reports.by_place.values()), *(each.state for each in results_reports.values())]
    refused = "refused" in states
    raise typer.Exit(1 if refused or silent is None or silent > SILENT_SECONDS else 0)


def exchange_of_host() -> Path | None:
    """Return the folder of the exchange in the settings of this host; None without one."""
    for file, keys in _SETTINGS:
        try:
            value: Any = json.loads(Path(file).read_text(encoding="utf-8"))
            for key in keys:
                value = value[key]
            return Path(str(value))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _fields(report: Any) -> dict[str, Any] | None:
    return None if report is None else asdict(report)
