"""Group `landbridge pipeline`: check a pipeline's file, start, show and cancel its runs."""

import typer

from landbridge.cli.pipeline import check, runs


def register(app: typer.Typer) -> None:
    """Add the commands."""
    pipeline = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Check pipelines; start, show and cancel runs. The steps of a run are Slurm jobs of its owner.",
    )
    pipeline.callback()(lambda: None)
    for module in (check, runs):
        module.register(pipeline)
    app.add_typer(pipeline, name="pipeline")
