"""Group `landbridge sagemaker`: training jobs of SageMaker under the policy and the budget of the cluster, and approvals of models."""

from types import ModuleType

import typer

from landbridge.cli.sagemaker import approvals, jobs, submit

#: Modules with commands below `landbridge sagemaker`; each has a function `register`.
MODULES: tuple[ModuleType, ...] = (submit, jobs, approvals)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Train in SageMaker, and approve models there."
    )
    group.callback()(lambda: None)
    for module in MODULES:
        module.register(group)
    app.add_typer(group, name="sagemaker")
