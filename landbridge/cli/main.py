"""Program `landbridge`: its commands, and the handler for unexpected errors.

Only modules of the called command are imported: `landbridge check` runs in hooks and editors, which wait for it.
"""

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

import landbridge.cli as commands_package
from landbridge.findings import FindingsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

GROUP = "landbridge.commands"
# Folders of modules with a command each. Every other folder is a command with several modules.
_FOLDERS = ("environment", "operation", "stack")
# Modules of this package that are not commands.
_INTERNAL = {"main", "common", "display", *_FOLDERS}


class _Group(TyperGroup):
    """Group that loads its commands when they are called or listed."""

    def list_commands(self, ctx: Any) -> list[str]:
        for name in _modules():
            self._load(name)
        return sorted({*super().list_commands(ctx), *(point.name for point in _points())})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        # Most commands are in the module of their name; for the others all modules are loaded.
        modules = _modules()
        near = cmd_name.replace("-", "_")
        for name in sorted(modules, key=lambda module: module.rpartition(".")[2] != near):
            self._load(name)
            if cmd_name in self.commands:
                return self.commands[cmd_name]
        point = next((point for point in _points() if point.name == cmd_name), None)
        if point is None:
            return None
        loaded = typer.main.get_command(point.load())
        loaded.name = cmd_name
        return loaded

    def _load(self, module: str) -> None:
        """Add the commands of a module of this package."""
        register = getattr(import_module(f"{commands_package.__name__}.{module}"), "register", None)
        if register is not None:
            app = _app()
            app.callback()(_landbridge)
            register(app)
            for name, command in typer.main.get_group(app).commands.items():
                self.commands.setdefault(name, command)


def _modules() -> list[str]:
    """Return the modules of this package that may have commands, `check` or `stack.impact`, in alphabetical order."""
    names = {name for name in _names_in("") if name not in _INTERNAL}
    return sorted(names.union(*({f"{folder}.{name}" for name in _names_in(folder)} for folder in _FOLDERS)))


def _names_in(folder: str) -> "Iterator[str]":
    """Return the modules and packages in a folder of this package."""
    for path in commands_package.__path__:
        for file in os.listdir(os.path.join(path, folder)):
            name = file.removesuffix(".py")
            if not name.startswith("_") and "." not in name:
                yield name


def _points() -> "tuple[EntryPoint, ...]":
    """Return the commands that other packages add."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


def _app() -> typer.Typer:
    return typer.Typer(
        cls=_Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="One GPU cluster from an organisation's on-prem machines and its AWS account.",
    )


def build() -> typer.Typer:
    """Return the program; its commands load when they are called or listed."""
    app = _app()
    app.callback()(_landbridge)
    return app


def _landbridge() -> None:
    """Do nothing; the callback makes typer keep commands even if there is only one."""


def main() -> int:
    """Run the program. Print an unexpected error in one line, with exit status 2."""
    # pydantic would search every installed package for plugins before it builds the first model.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Nearly all objects of a command live until its end. The search for garbage among them took a third of the time of
    # `landbridge check`: it is made less often, and not at the end of the process.
    gc.set_threshold(300_000, 20, 50)
    atexit.register(gc.freeze)
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
        # The reader closed the pipe; redirect stdout, so that Python reports no second error at exit.
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
