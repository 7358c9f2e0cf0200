"""Shared code of `landbridge residency`: an environment without errors, or exit status 2."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from landbridge.cli.common import load, print_findings
from landbridge.findings import FindingsError, has_errors

if TYPE_CHECKING:
    from landbridge.environment import Environment, Loaded


def checked(stack: str | None, file: Path | None) -> "tuple[Loaded, Environment]":
    """Return the environment of `-s` or `--file`. Its errors are printed, with exit status 2: nothing is proven about an
    environment with errors.
    """
    from landbridge.rules import check

    try:
        loaded = load(stack, file)
        findings = check(loaded)
    except FindingsError as error:
        print_findings(error.findings)
        raise typer.Exit(2) from error
    if has_errors(findings) or loaded.environment is None:
        print_findings(findings)
        raise typer.Exit(2)
    return loaded, loaded.environment
