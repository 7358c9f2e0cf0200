"""Files of a statement: its HTML page, the page of one user, and metrics."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from landbridge.economics.job_costs.lines import MonthStatement
    from landbridge.economics.job_costs.statement import Records
    from landbridge.environment import Environment


def write_page(
    environment: "Environment", records: "Records", statement: "MonthStatement", page: Path, user: str | None
) -> None:
    """Write the page of the operators, or the page of a user, which its owner alone can read."""
    from landbridge.report.content import Report
    from landbridge.report.page import html
    from landbridge.report.showback import showback
    from landbridge.report.user_page import user_sections
    from landbridge.timestamps import day_of

    now = time.time()
    sections = showback(statement) if user is None else user_sections(statement, records.allocations, user, now)
    report = Report(environment.name if user is None else f"{user} in {environment.name}", day_of(now), sections)
    new = page.with_name(f".{page.name}.{os.getpid()}")
    new.touch(0o644 if user is None else 0o600)
    new.write_text(html(report), encoding="utf-8")
    new.replace(page)
    typer.echo(f"wrote {page}", err=True)


def write_metrics_file(environment: "Environment", records: "Records", month: str, path: Path) -> None:
    """Write the metrics of a month's jobs."""
    from landbridge.catalog.observability.objectives import service_objectives
    from landbridge.economics.job_costs.job_metrics import job_metrics
    from landbridge.economics.job_costs.nodes import rated_nodes
    from landbridge.economics.job_costs.statement import statement
    from landbridge.ops.netcheck.metrics import write_metrics

    now = time.time()
    whole = statement(environment, records, month, now)
    in_aws = {name for group in rated_nodes(environment) if group.site == "aws" for name in group.names}
    write_metrics(path, job_metrics(whole, records.allocations, service_objectives().bounds, now, in_aws))
