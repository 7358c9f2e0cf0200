"""Shared code of commands: selection and loading of an environment, output of findings."""

import codecs
import json
import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.findings import Finding, FindingsError, Severity, has_errors

if TYPE_CHECKING:
    from landbridge.environment import Environment, Loaded
    from landbridge.plan.outputs import StackOutputs
    from landbridge.trace import Trace

Stack = Annotated[str | None, typer.Option("-s", "--stack", metavar="ENV", help="The environment's name.")]
File = Annotated[Path | None, typer.Option("-f", "--file", help="Environment file; default: stacks/Pulumi.ENV.yaml.")]


TimerMetrics = Annotated[
    Path | None,
    typer.Option("--metrics", help="Write metrics of this pass to a file, for node exporter's textfile collector."),
]


class LayerName(StrEnum):
    """Layer of an environment with three stacks."""

    FOUNDATION = "foundation"
    CLUSTER = "cluster"
    PLATFORM = "platform"


Layer = Annotated[
    LayerName | None, typer.Option("--layer", help="Only this layer of an environment with `stacks: three`.")
]

# Rules of findings for which no environment could be checked.
UNREADABLE = frozenset({"unreadable-file", "bad-yaml", "no-environment", "no-project"})


class Format(StrEnum):
    """Output format of results."""

    TEXT = "text"
    JSON = "json"


def mlflow_password() -> str | None:
    """Return the password of the account in MLflow: from the environment, or the one that systemd gives a unit as a credential."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    file = Path(folder) / "mlflow-password" if folder else None
    stored = file.read_text().strip() if file is not None and file.exists() else None
    return os.environ.get("MLFLOW_TRACKING_PASSWORD") or stored


def environment_path(stack: str | None, file: Path | None) -> Path:
    """Return the file of `-s` or `--file`. Raises a usage error if both are missing."""
    if file is not None:
        return file
    if stack is None:
        raise typer.BadParameter("no environment is given: write -s ENV or --file FILE", param_hint="-s")
    from landbridge.environment import find_environment

    return find_environment(stack)


def near(path: Path) -> Path:
    """Return the path relative to the current folder if it is inside it."""
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


def environment_text(path: Path) -> str:
    """Return the text of an environment file with its line ends; exit with status 2 if it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        typer.echo(f"landbridge: {path}: {getattr(error, 'strerror', None) or error}", err=True)
        raise typer.Exit(2) from None


def write_environment(path: Path, text: str) -> None:
    """Write an environment file in one rename, with its permissions and its byte order mark; a link stays a link.

    Raises FindingsError for a file that is read-only: its folder would permit the rename.
    """
    target = path.resolve()
    mode, before = target.stat().st_mode & 0o7777, target.read_bytes()
    if not (mode & 0o222 and os.access(target, os.W_OK)):
        finding = Finding(
            "read-only-file", "the file is read-only; nothing has been written", fix=f"chmod u+w {target}"
        )
        raise FindingsError([finding.at(str(path), None, None)])
    temporary = target.with_name(f".{target.name}.new")
    temporary.write_bytes(text.encode("utf-8-sig" if before.startswith(codecs.BOM_UTF8) else "utf-8"))
    temporary.chmod(mode)
    os.replace(temporary, target)


def load(stack: str | None, file: Path | None) -> "Loaded":
    """Load the environment of `-s` or `--file`; its errors are in `.findings`."""
    from landbridge.environment import load_environment

    return load_environment(environment_path(stack, file))


def require(stack: str | None, file: Path | None) -> "Environment":
    """Return the checked environment. If there are errors, print them and exit."""
    from landbridge.rules import check

    loaded = load(stack, file)
    findings = check(loaded)
    if has_errors(findings) or loaded.environment is None:
        print_findings(findings)
        raise typer.Exit(exit_code(findings))
    return loaded.environment


def stack_outputs(environment: "Environment") -> "StackOutputs | None":
    """Return the outputs that `landbridge up` wrote on this machine; None before."""
    from landbridge import paths
    from landbridge.plan.outputs import StackOutputs

    file = paths.outputs_file(environment.name)
    return StackOutputs.model_validate_json(file.read_text()) if file.exists() else None


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 without errors (warnings are not errors), 1 for errors, 2 if no environment could be checked."""
    all_findings = tuple(findings)
    if any(finding.rule in UNREADABLE for finding in all_findings):
        return 2
    return 1 if has_errors(all_findings) else 0


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings as text on standard error; colours only on a terminal."""
    findings = tuple(findings)
    if not findings:
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    styles = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
    for finding in findings:
        position = [_shown(finding.file), finding.line, finding.column]
        place = ":".join(str(part) for part in position if part is not None)
        line = Text(f"{place}: " if place else "")
        line.append(finding.severity.value, style=styles[finding.severity])
        line.append(f": {finding.message} ")
        line.append(f"[{finding.rule}]", style="dim")
        console.print(line)
        if finding.fix:
            console.print(Text(f"    {finding.fix}", style="green"))


def require_trace(path: Path, kind: str | None = None) -> "Trace":
    """Return a trace, with `kind` its jobs with GPUs of this type; print its warnings. With errors, print all and exit."""
    from landbridge.trace import of_kind, read

    trace = read(path)
    if kind is not None and not trace.has_errors:
        trace = of_kind(trace, kind)
    print_findings(trace.findings if trace.has_errors else trace.warnings)
    if trace.has_errors:
        raise typer.Exit(exit_code(trace.findings))
    return trace


def print_json(data: object) -> None:
    """Print data as JSON on standard output."""
    json.dump(data, sys.stdout, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write("\n")


def _shown(file: str | None) -> str | None:
    """Return a path relative to the current folder if it is inside it."""
    if file is None:
        return None
    return str(near(Path(file)))


__all__ = [
    "File",
    "FindingsError",
    "Format",
    "Layer",
    "LayerName",
    "Stack",
    "TimerMetrics",
    "environment_path",
    "environment_text",
    "exit_code",
    "load",
    "mlflow_password",
    "near",
    "print_findings",
    "print_json",
    "require",
    "stack_outputs",
    "write_environment",
]
