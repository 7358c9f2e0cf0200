"""The `landbridge` program: its commands, and the one place where an unexpected error ends."""

import os
import pkgutil
import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

import landbridge.cli as commands_package
from landbridge.findings import FindingsError

GROUP = "landbridge.commands"
# What this program itself consists of, besides its commands.
_INTERNAL = {"main", "common"}


class _Group(TyperGroup):
    """Commands of other packages are loaded when they are called or listed, not before."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted({*super().list_commands(ctx), *(point.name for point in _points())})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        known = super().get_command(ctx, cmd_name)
        if known is not None:
            return known
        point = next((point for point in _points() if point.name == cmd_name), None)
        if point is None:
            return None
        loaded = typer.main.get_command(point.load())
        loaded.name = cmd_name
        return loaded


def _points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def build() -> typer.Typer:
    """The program with the commands of this package registered."""
    app = typer.Typer(
        cls=_Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="One GPU cluster out of an organisation's own machines and its AWS account.",
    )
    app.callback()(_landbridge)
    for module in sorted(pkgutil.iter_modules(commands_package.__path__), key=lambda found: found.name):
        if module.name not in _INTERNAL:
            register = getattr(import_module(f"{commands_package.__name__}.{module.name}"), "register", None)
            if register is not None:
                register(app)
    return app


def _landbridge() -> None:
    """Keeps a program with one command a program with commands."""


def main() -> int:
    """Run the program. Whatever nobody expected is told in one line, with exit status 2."""
    try:
        build()()
    except FindingsError as error:
        from landbridge.cli.common import print_findings

        print_findings(error.findings)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has gone; so have we, without a second complaint at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        if os.environ.get("LANDBRIDGE_DEBUG"):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"error: {text} (LANDBRIDGE_DEBUG=1 shows where)", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
