"""Command `landbridge support-bundle`: an archive for a support engineer, without secrets and restricted data."""

import json
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import (
    File,
    Format,
    Stack,
    environment_path,
    exit_code,
    load,
    print_findings,
    print_json,
    stack_outputs,
)

if TYPE_CHECKING:
    from landbridge.environment import Environment, Loaded
    from landbridge.ops.logs.window import LogWindow
    from landbridge.ops.netcheck.collect import LinkHost
    from landbridge.ops.support.parts import BundlePart

Output = Annotated[
    Path | None, typer.Option("--output", help="File to write; default: support-ENV-TIME.tar.gz in this folder.")
]
Since = Annotated[str, typer.Option("--since", help="Start of the logs, before now: 90min, 6h, 3d.", metavar="TIME")]
Nodes = Annotated[
    list[str] | None,
    typer.Option("--node", metavar="NODES", help="Nodes to read too: dgx[01-02], or USER@ADDRESS in AWS."),
]
Limit = Annotated[float, typer.Option("--limit", min=1, help="Seconds to wait for each host.", metavar="SECONDS")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("support-bundle")(support_bundle)


def support_bundle(
    stack: Stack = None,
    file: File = None,
    output: Output = None,
    since: Since = "24h",
    nodes: Nodes = None,
    limit: Limit = 60,
    form: Form = Format.TEXT,
) -> None:
    """Write an archive for a support engineer.

    It has versions, the environment file, the stack's outputs, slurm.conf, findings of check, status, netcheck, and logs of the
    hosts. Values of secrets, text in the form of a secret, and names, comments and commands of jobs whose class is restricted are
    removed; manifest.json lists what was taken and what was left out. Read it before you send it.

    Exit status: 0 written, 1 written without some parts, 2 not written. Example: landbridge support-bundle -s acme --node dgx01
    """
    from landbridge.ops.secrets.cipher import SecretsError
    from landbridge.ops.secrets.store import open_store
    from landbridge.ops.support.archive import write_archive
    from landbridge.ops.support.collect import host_parts, secret_values
    from landbridge.ops.support.parts import bundle_of
    from landbridge.ops.support.redact import Redactor
    from landbridge.paths import secrets_dir
    from landbridge.timestamps import iso

    loaded = load(stack, file)
    environment = loaded.environment
    if environment is None:
        print_findings(loaded.findings)
        raise typer.Exit(exit_code(loaded.findings))
    hosts, now = _hosts(environment, nodes or []), time.time()
    window = _window(since)
    folder = f"support-{environment.name}-{iso(now).replace(':', '')}"
    path = output if output is not None else Path(f"{folder}.tar.gz")
    if path.exists():
        raise _failed(f"{path} exists already")
    try:
        secrets = secrets_dir(environment.name)
        store = open_store(environment.secrets, environment.name, secrets, environment_path(stack, file))
        known = secret_values(store, secrets)
    except SecretsError as error:
        raise _failed(f"the values of secrets are not known, so they could not be removed: {error}") from None
    collected = host_parts(environment, hosts, window, limit)
    local_parts = (*_plan_parts(loaded, environment), *_live_parts(environment))
    bundle = bundle_of((*local_parts, *collected.parts), collected.left_out, Redactor(known, collected.words))
    manifest = bundle.manifest(environment.name, iso(now))
    try:
        write_archive(path, bundle, folder, manifest, now)
    except OSError as error:
        raise _failed(f"{path}: {error.strerror}") from None
    if form is Format.JSON:
        print_json({"file": str(path), **manifest})
    else:
        for item in bundle.left_out:
            typer.echo(f"left out  {item.name}: {item.reason}")
        removals = sum(part.removals for part in bundle.parts)
        typer.echo(f"{path}: {len(bundle.parts)} parts, {removals} removals, {path.stat().st_size} bytes")
    raise typer.Exit(1 if any(item.reason != "empty" for item in bundle.left_out) else 0)


def _hosts(environment: "Environment", nodes: list[str]) -> "tuple[LinkHost, ...]":
    """Return the service hosts, the gateways, and the named nodes. Raises a usage error for an unknown node."""
    from landbridge.ops.hosts import named_hosts
    from landbridge.ops.status.sources import status_sources

    chosen = {source.host.name: source.host for source in status_sources(environment, stack_outputs(environment))}
    try:
        named = {host.name: host for host in named_hosts(environment, nodes)}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--node") from None
    return tuple({**named, **chosen}.values())


def _plan_parts(loaded: "Loaded", environment: "Environment") -> "Iterator[BundlePart]":
    """Yield what this machine has: versions, environment, outputs, rendered files, and findings of check."""
    from importlib.metadata import PackageNotFoundError, version

    from landbridge import paths
    from landbridge.ops.support.parts import BundlePart
    from landbridge.plan.site.firewall import firewall_rule_lines
    from landbridge.plan.slurm.files import slurm_files
    from landbridge.rules import check

    try:
        release = version("landbridge")
    except PackageNotFoundError:
        release = "not installed as a package"
    versions = {"landbridge": release, "python": platform.python_version(), "system": platform.platform()}
    yield BundlePart("versions.json", json.dumps(versions, indent=1) + "\n", "plan")
    yield BundlePart("environment.yaml", loaded.path.read_text(), "plan")
    outputs = paths.outputs_file(environment.name)
    if outputs.exists():
        yield BundlePart("outputs.json", outputs.read_text(), "plan")
    findings = [finding.to_dict() for finding in check(loaded)]
    yield BundlePart("check.json", json.dumps(findings, indent=1, default=str) + "\n", "plan")
    yield BundlePart("ports.txt", "\n".join(firewall_rule_lines(environment)) + "\n", "plan")
    if environment.existing_slurm is None:
        for name, text in slurm_files(environment).items():
            yield BundlePart(f"slurm/{name}", text, "plan")


def _live_parts(environment: "Environment") -> "Iterator[BundlePart]":
    """Yield the reports of `landbridge status` and `landbridge netcheck`."""
    from landbridge.ops.netcheck.collect import collect, link_hosts
    from landbridge.ops.netcheck.diagnose import diagnose
    from landbridge.ops.status.collect import collect_status
    from landbridge.ops.status.judge import judge
    from landbridge.ops.status.sources import status_sources
    from landbridge.ops.support.parts import BundlePart
    from landbridge.plan.site.link.expectations import link_expectations

    outputs = stack_outputs(environment)
    facts = collect_status(status_sources(environment, outputs), 10)
    status = judge(environment, facts, time.time()).to_dict()
    yield BundlePart("status.json", json.dumps(status, indent=1) + "\n", "host")
    if environment.link is not None:
        expected = link_expectations(environment, outputs)
        report = diagnose(expected, collect(expected, link_hosts(environment, expected, ())))
        yield BundlePart("netcheck.json", json.dumps(report.to_dict(), indent=1) + "\n", "host")


def _window(since: str) -> "LogWindow":
    """Return the window of the logs. Raises a usage error for another form."""
    from landbridge.ops.logs.window import log_window

    window = log_window(since)
    if window is None:
        raise typer.BadParameter(f"{since} is not a time such as 90min, 6h or 3d", param_hint="--since")
    return window


def _failed(reason: str) -> typer.Exit:
    typer.echo(f"landbridge: {reason}", err=True)
    return typer.Exit(2)
