"""Command `landbridge configure`: configure the on-prem site with Ansible."""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    Format,
    Stack,
    environment_path,
    exit_code,
    print_findings,
    print_json,
    require,
)
from landbridge.findings import has_errors

if TYPE_CHECKING:
    from pathlib import Path

    from landbridge.environment import Environment
    from landbridge.realise.configure import ConfigureResult

Limit = Annotated[
    str | None, typer.Option("--limit", "-l", help="Only these hosts or groups, in Ansible's pattern syntax.")
]
Tags = Annotated[str | None, typer.Option("--tags", "-t", help="Only tasks with these tags, separated by commas.")]
Check = Annotated[bool, typer.Option("--check", help="Show the changes without making them.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


#: Shorter tasks are not listed.
LEAST_SECONDS = 0.5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(configure)


def configure(
    stack: Stack = None,
    file: File = None,
    limit: Limit = None,
    tags: Tags = None,
    check: Check = False,
    form: Form = Format.TEXT,
) -> None:
    """Configure the on-prem hosts with Ansible. A second run changes nothing."""
    from landbridge.cli.display.configure import ConfigureDisplay
    from landbridge.realise import configure as realise

    environment = require(stack, file)
    _check_credentials(environment, environment_path(stack, file))
    started = time.monotonic()
    with ConfigureDisplay(environment.name) as show:
        result = realise.configure(
            environment, environment_path(stack, file), show, limit=limit, tags=tags, check=check
        )
    report(result, time.monotonic() - started, form)


def _check_credentials(environment: "Environment", path: "Path") -> None:
    """Print what the site's secrets and AWS credentials lack on this machine; exit if that is an error."""
    from landbridge.ops.credentials.status import readiness
    from landbridge.ops.secrets.status import store_findings
    from landbridge.ops.secrets.store import open_store
    from landbridge.ops.site_certificates.status import authority_findings
    from landbridge.paths import outputs_file, secrets_dir
    from landbridge.plan.outputs import StackOutputs

    file = outputs_file(environment.name)
    outputs = StackOutputs.model_validate_json(file.read_text()) if file.exists() else None
    folder = secrets_dir(environment.name)
    store = open_store(environment.secrets, environment.name, folder, path)
    findings = tuple(store_findings(environment, store))
    if not has_errors(findings):
        now, stored = datetime.now(UTC), store.read()
        findings += tuple(readiness(environment, folder, outputs, now, stored))
        findings += tuple(authority_findings(environment, stored, now))
    print_findings(findings)
    if has_errors(findings):
        raise typer.Exit(exit_code(findings))


def _tasks(result: "ConfigureResult", host: str) -> "dict[str, float]":
    """Return the seconds of a host's tasks by name, the longest first."""
    return dict(sorted(result.seconds.get(host, {}).items(), key=lambda task: -task[1]))


def report(result: "ConfigureResult", seconds: float, form: Format) -> None:
    """Print the result of a run; exit with status 1 if a host failed."""
    from dataclasses import asdict

    if form is Format.JSON:
        failures = [
            {"host": failure.host, "task": failure.task.name, "message": failure.message} for failure in result.failures
        ]
        hosts = {
            host: asdict(counts)
            | {
                "tasks": {
                    name: round(spent, 1) for name, spent in _tasks(result, host).items() if spent >= LEAST_SECONDS
                }
            }
            for host, counts in result.hosts.items()
        }
        shown = {"status": result.status, "seconds": round(seconds, 1), "hosts": hosts, "failures": failures}
        print_json({**shown, "removals": dict(result.removals)})
    else:
        typer.echo(
            f"{'host':<20} {'ok':>5} {'changed':>8} {'failed':>7} {'unreachable':>12} {'seconds':>8}  longest task"
        )
        for host, counts in result.hosts.items():
            tasks, mark = _tasks(result, host), "  <--" if counts.bad else ""
            name = next(iter(tasks), "")
            longest = f"{name}: {tasks[name]:.0f} s" if name and tasks[name] >= LEAST_SECONDS else ""
            numbers = f"{counts.ok:>5} {counts.changed:>8} {counts.failed:>7} {counts.unreachable:>12}"
            typer.echo(f"{host:<20} {numbers} {sum(tasks.values()):>8.0f}  {longest}{mark}".rstrip())
        typer.echo(f"{seconds:.0f} s; Ansible's output: {result.log}")
    if not result.successful:
        if not result.hosts:
            typer.echo(f"Ansible ended ({result.status}) before it reached a host: see {result.log}", err=True)
        raise typer.Exit(1)
