"""Group `landbridge burst`: state and decisions of the controller, orders of the operator, and a simulation.

All except `simulate` and `cost --journal` run on the controller, which has burst.json and the journal.
"""

import typer

from landbridge.cli.burst import cost, doctor, edits, keep, queries, simulate


def register(app: typer.Typer) -> None:
    """Add the commands."""
    burst = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Bursting: the AWS nodes of a running cluster."
    )
    burst.callback()(lambda: None)
    for module in (queries, cost, edits, keep, doctor, simulate):
        module.register(burst)
    app.add_typer(burst, name="burst")
