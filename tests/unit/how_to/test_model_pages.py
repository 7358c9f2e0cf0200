"""docs/how-to/promote-and-roll-back.md and retrain-on-drift.md: each command exists with the options that the pages give it."""

import re
import shlex

import click
import pytest
import typer

from landbridge.cli.main import build
from tests.unit.how_to.pages import ROOT

PAGES = [ROOT / "docs" / "how-to" / name for name in ("promote-and-roll-back.md", "retrain-on-drift.md")]
TEXT = "\n".join(page.read_text() for page in PAGES).replace("\\\n", " ")
COMMANDS = re.findall(r"^landbridge (.+)$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_pages_has_its_arguments_and_options(line: str) -> None:
    group, name, *arguments = shlex.split(line)
    program = typer.main.get_command(build())
    context = click.Context(program, info_name="landbridge")
    command = program.get_command(context, group).get_command(context, name)
    # The parser refuses unknown options and missing arguments.
    assert command.make_context(name, arguments, resilient_parsing=False).params


def test_the_pages_have_every_command_of_the_group() -> None:
    named = {tuple(line.split()[:2]) for line in COMMANDS}
    assert {("model", name) for name in ("canary", "drift")} <= named
