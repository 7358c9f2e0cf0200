"""Group `landbridge model`: models in the registry, signatures, aliases, transfers, canaries and drift."""

from types import ModuleType

import typer

from landbridge.cli.model import archive, canary, drift, moves, publish, queries, transfer

#: Modules with commands below `landbridge model`; each has a function `register`.
MODULES: tuple[ModuleType, ...] = (publish, queries, moves, transfer, archive, canary, drift)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    model = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Register, sign, promote and watch models.")
    model.callback()(lambda: None)
    for module in MODULES:
        module.register(model)
    app.add_typer(model, name="model")
