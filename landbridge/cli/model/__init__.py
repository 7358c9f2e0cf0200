"""Group `landbridge model`: models in the registry, signatures, aliases, transfers, canaries, drift and the size of a service."""

from types import ModuleType

import typer

from landbridge.cli.model import archive, canary, drift, moves, publish, quantised, queries, size, transfer

#: Modules with commands below `landbridge model`; each has a function `register`.
MODULES: tuple[ModuleType, ...] = (publish, queries, moves, transfer, archive, canary, drift, quantised, size)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    model = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Register, sign, promote and watch models.")
    model.callback()(lambda: None)
    for module in MODULES:
        module.register(model)
    app.add_typer(model, name="model")
