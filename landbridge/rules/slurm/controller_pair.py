"""Rules about a second controller, and about where Slurm's queue is kept."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from landbridge.environment import Environment, NfsHome
from landbridge.findings import DataPath, Finding, error, info
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.slurm.controller_pair import EXPORT, has_standby, shared_state
from landbridge.rules.registry import rule

_SECOND: DataPath = ("onprem", "services", "controller", 1)
_STATE: DataPath = ("onprem", "controller_state")


@rule
def controller_state(environment: Environment) -> Iterator[Finding]:
    """A pair's queue is on neither of the two: with the one that fails, the other would lose it.

    Source: slurm.conf(5), StateSaveLocation: with a backup, it is readable and writable by both.
    """
    site = environment.onprem
    if site is None:
        return
    controllers, state = site.services.controller, site.controller_state
    if state is not None:
        addresses = {str(site.addresses[name]): name for name in controllers if name in site.addresses}
        host = state.host.removesuffix(f".{site.domain}")
        if host in controllers or host in addresses:
            message = f"{addresses.get(host, host)} is a controller: when it fails, the queue is gone with it"
            yield error((*_STATE, "host"), message, fix="name a filer", related=(_SECOND[:-1],))
        return
    if not has_standby(environment) or shared_state(environment) is not None:
        return
    if site.services.storage in controllers:
        message = f"{site.services.storage} serves the storage too: when it fails, the other has no queue to take over"
    else:
        message = "two controllers share Slurm's queue, and no host of yours exports anything"
    related: tuple[DataPath, ...] = (("onprem", "services", "storage"), ("storage", "home"))
    yield error(_SECOND, message, fix="name a place: onprem.controller_state", related=related)


@rule
def controller_state_options(environment: Environment) -> Iterator[Finding]:
    """The queue is mounted hard: a write that is given up on leaves half of it, and a takeover starts from that half.

    Source: nfs(5), soft / hard.
    """
    site = environment.onprem
    if site is None or site.controller_state is None:
        return
    words = site.controller_state.options.split(",")
    for word in ("soft", "softerr", "async", "ro"):
        if word in words:
            message = f"{word}: what slurmctld has written may not be there when the other takes over"
            yield error((*_STATE, "options"), message, fix="use hard,sync")


@rule(suppressible=False)
def controller_state_exposed(environment: Environment) -> Iterator[Finding]:
    """No export that users' hosts may mount has the queue inside: whoever writes it runs jobs as anybody.

    Source: Slurm's state files hold every job's script, environment and user.
    """
    home, state = environment.storage.home, shared_state(environment)
    if state is None or not isinstance(home, NfsHome) or not state.ours:
        return
    if PurePosixPath(EXPORT).is_relative_to(home.export):
        message = f"{home.export} is exported to every host, and Slurm's queue is in {EXPORT}"
        path: DataPath = ("storage", "home", "export")
        yield error(path, message, fix="export /export/home", related=(_SECOND,))


@rule
def database_beside_a_controller(environment: Environment) -> Iterator[Finding]:
    """A pair's accounting on one of the two stops with that one; jobs go on and records wait, up to what slurmctld holds.

    Source: slurm.conf(5), MaxDBDMsgs.
    """
    if environment.onprem is None or not has_standby(environment):
        return
    database, served = environment.onprem.services.database, service_hosts(environment)
    if database in served.controllers:
        message = (
            f"accounting stops with {database}: sacct is silent, and limits are not enforced anew, until it is back"
        )
        path: DataPath = ("onprem", "services", "database")
        yield info(path, message, fix="a host of its own", related=(_SECOND,))
