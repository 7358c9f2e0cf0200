"""Nodes, image builders and training jobs that run while their environment is being destroyed."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from landbridge.cli.common import print_findings
from landbridge.cli.stack.sweep import connect, search

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.live.sweep import Leftover

_WHY = "the environment is being destroyed"


def end_running(environment: "Environment", file: Path, layer: str | None, *, terminate: bool) -> None:
    """Exit with status 1 while nodes run; with `terminate` drain the pools, end the nodes and wait for their end.

    AWS refuses to delete a network in which they run, and its refusal comes after Pulumi has deleted other resources.
    """
    from landbridge.aws_api.refusal import AwsRefusal, finding_of
    from landbridge.live.sweep import describe, remove, wait_for_end
    from landbridge.realise import pulumi

    remembered = pulumi.remembered(environment, file)
    running = _running(environment, remembered, layer)
    for leftover in running:
        typer.echo(f"{'ends' if terminate else 'error: still runs'}: {describe(leftover)}", err=True)
    if running and not terminate:
        typer.echo(
            "nothing was removed: drain the pools (`landbridge burst drain`) and let the jobs end, or repeat with "
            "--terminate-nodes, which ends these now, with their jobs",
            err=True,
        )
        raise typer.Exit(1)
    if layer != "platform":
        _drain_pools(environment)
        running = _running(environment, remembered, layer) if running else running
    if not running:
        return
    removals = remove(lambda: connect(environment), running)
    refused = [removal for removal in removals if removal.reason is not None]
    for removal in refused:
        typer.echo(f"error: {removal.leftover.id}: {removal.reason}", err=True)
    try:
        late = () if refused else wait_for_end(lambda: connect(environment), running)
    except AwsRefusal as refusal:
        print_findings([finding_of(refusal, "the end of nodes")])
        raise typer.Exit(2) from None
    for leftover in late:
        typer.echo(f"error: {leftover.id} has not ended yet: repeat later", err=True)
    if refused or late:
        raise typer.Exit(1)


def _running(environment: "Environment", remembered: frozenset[str], layer: str | None) -> tuple["Leftover", ...]:
    """Return what runs on the resources of a layer; exit with status 2 if the instances cannot be listed."""
    from landbridge import tags
    from landbridge.live.sweep import RUNNING

    listing = search(environment, remembered, RUNNING)
    print_findings(listing.unseen)
    if not listing.answered or any(finding.message.startswith("instances:") for finding in listing.unseen):
        raise typer.Exit(2)
    if layer != "platform":
        return listing.running
    return tuple(leftover for leftover in listing.running if tags.POOL not in leftover.type.tags(leftover.item))


def _drain_pools(environment: "Environment") -> None:
    """Tell the burst controller to launch no further node; warn if a controller that was configured does not answer."""
    from landbridge.ops.scontrol import ScontrolError, known_hosts, over_ssh
    from landbridge.plan.network.hosts import service_hosts
    from landbridge.plan.slurm.conf import BIN

    # The file of host keys: a host that was never reached has no burst controller.
    if not known_hosts(environment).exists() or not service_hosts(environment).controllers:
        return
    try:
        burst = over_ssh(environment, f"{BIN}/landbridge-burst")
        for pool in environment.aws.pools:
            burst(["drain", pool.name, "--why", _WHY])
    except ScontrolError as error:
        typer.echo(
            f"warning: the burst controller was not told and may launch nodes meanwhile: {error.args[0]}", err=True
        )
