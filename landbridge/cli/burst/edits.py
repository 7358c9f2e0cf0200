"""Commands `landbridge burst drain`, `undrain` and `reset-breaker`."""

import getpass
import time
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.burst.common import ConfigFile, PoolName, controller

if TYPE_CHECKING:
    from landbridge.burst.config.config import BurstConfig
    from landbridge.burst.journal.store import Store
    from landbridge.burst.operator.edits import StateChange

Why = Annotated[str, typer.Option("--why", help="Reason, shown to the users of jobs that would start there.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(drain)
    app.command()(undrain)
    app.command("reset-breaker")(reset_breaker)


def drain(pool: PoolName, why: Why = "by an operator", config: ConfigFile = None) -> None:
    """Launch no further nodes in a pool. Jobs on running nodes continue, and pending jobs show the reason.

    Example: landbridge burst drain p5 --why "image is being replaced"
    """
    from landbridge.burst.operator import edits

    with controller(config) as (burst_config, store):
        _write(burst_config, store, edits.drain(burst_config.policy, pool, why), "drain", pool, why)
    typer.echo(f"{pool}: no further node is launched; running nodes stay as long as Slurm uses them")


def undrain(pool: PoolName, config: ConfigFile = None) -> None:
    """Launch nodes in a drained pool again. Example: landbridge burst undrain p5"""
    from landbridge.burst.operator import edits

    with controller(config) as (burst_config, store):
        _write(burst_config, store, edits.undrain(pool), "undrain", pool, "")
    typer.echo(f"{pool}: nodes are launched again")


def reset_breaker(pool: PoolName, config: ConfigFile = None) -> None:
    """Close the circuit breaker of a pool. Also clears the insufficient capacity of its offerings.

    Example: landbridge burst reset-breaker p5
    """
    from landbridge.burst.operator import edits

    with controller(config) as (burst_config, store):
        _write(burst_config, store, edits.reset_breaker(burst_config.policy, pool), "reset-breaker", pool, "")
    typer.echo(f"{pool}: the next reconcile pass may launch nodes in all its offerings")


def _write(config: "BurstConfig", store: "Store", change: "StateChange", event: str, pool: str, text: str) -> None:
    from landbridge.burst.model import DecisionRecord
    from landbridge.burst.operator.edits import edit

    record = DecisionRecord(time.time(), event, pool=pool, text=text, details={"by": getpass.getuser()})
    edit(store, config.socket, change, record)
