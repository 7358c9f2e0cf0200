"""Rules about a second controller and its shared StateSaveLocation."""

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
    """The StateSaveLocation of a controller pair is on neither of the two hosts.

    Source: slurm.conf(5), StateSaveLocation: with a backup, it is both hosts can read and write it.
    """
    site = environment.onprem
    if site is None:
        return
    controllers, state = site.services.controller, site.controller_state
    if state is not None:
        addresses = {str(site.addresses[name]): name for name in controllers if name in site.addresses}
        host = state.host.removesuffix(f".{site.domain}")
        if host in controllers or host in addresses:
            message = f"{addresses.get(host, host)} is a controller: when it fails, the job state is lost"
            yield error((*_STATE, "host"), message, fix="write a filer", related=(_SECOND[:-1],))
        return
    if not has_standby(environment) or shared_state(environment) is not None:
        return
    if site.services.storage in controllers:
        message = f"{site.services.storage} is a controller and exports the storage: when it fails, the other has no job state"
    else:
        message = "the two controllers have no shared StateSaveLocation: no service host exports storage"
    related: tuple[DataPath, ...] = (("onprem", "services", "storage"), ("storage", "home"))
    yield error(_SECOND, message, fix="write onprem.controller_state", related=related)


@rule
def controller_state_options(environment: Environment) -> Iterator[Finding]:
    """StateSaveLocation is mounted hard and sync: otherwise a takeover may start from incomplete job state.

    Source: nfs(5), soft / hard.
    """
    site = environment.onprem
    if site is None or site.controller_state is None:
        return
    words = site.controller_state.options.split(",")
    for word in ("soft", "softerr", "async", "ro"):
        if word in words:
            message = f"the option {word} may lose job state before a takeover"
            yield error((*_STATE, "options"), message, fix="write hard,sync")


@rule(suppressible=False)
def controller_state_exposed(environment: Environment) -> Iterator[Finding]:
    """No export for users' hosts contains StateSaveLocation: write access to it allows jobs as any user.

    Source: Slurm's state files hold every job's script, environment and user.
    """
    home, state = environment.storage.home, shared_state(environment)
    if state is None or not isinstance(home, NfsHome) or not state.ours:
        return
    if PurePosixPath(EXPORT).is_relative_to(home.export):
        message = f"{home.export} is exported to every host, and contains Slurm's job state in {EXPORT}"
        path: DataPath = ("storage", "home", "export")
        yield error(path, message, fix="write export: /export/home", related=(_SECOND,))


@rule
def database_beside_a_controller(environment: Environment) -> Iterator[Finding]:
    """The database is not on a controller of a pair: with that host, accounting stops, and slurmctld buffers records.

    Source: slurm.conf(5), MaxDBDMsgs.
    """
    if environment.onprem is None or not has_standby(environment):
        return
    database, hosts = environment.onprem.services.database, service_hosts(environment)
    if database in hosts.controllers:
        message = f"the database is on the controller {database}: while it is down, there is no accounting and no sacct"
        path: DataPath = ("onprem", "services", "database")
        yield info(path, message, fix="move the database to a separate host", related=(_SECOND,))
