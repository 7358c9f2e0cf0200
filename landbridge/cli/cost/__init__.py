"""Group `landbridge cost`: the bill of an environment, and commands about costs."""

from types import ModuleType

import typer

from landbridge.cli.cost import (
    breakeven,
    compare,
    diff,
    estimate,
    experiment,
    jobs,
    mix,
    reconcile,
    tag,
    tco,
)

#: Modules with commands below `landbridge cost`; each has a function `register`.
MODULES: tuple[ModuleType, ...] = (diff, tco, breakeven, compare, mix, jobs, reconcile, tag, experiment)


def register(app: typer.Typer) -> None:
    """Add the commands. `landbridge cost` without a command prints the bill."""
    group = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    group.callback()(estimate.cost)
    for module in MODULES:
        module.register(group)
    app.add_typer(group, name="cost")
