"""Rules about Slurm's authentication."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.slurm.sackd import needs_sackd
from landbridge.rules.registry import rule


@rule(suppressible=False)
def controller_without_sackd(environment: Environment) -> Iterator[Finding]:
    """With auth: slurm, a controller is not a GPU node: slurmd and sackd use one socket, so slurmctld cannot authenticate at its start.

    Source: Slurm's documentation of authentication plugins: sackd and slurmd both answer at /run/slurm/sack.socket.
    """
    if not needs_sackd(environment):
        return
    hosts = service_hosts(environment)
    nodes = {name for group in environment.node_groups for name in hostlist.expand(group.hosts)}
    for index, name in enumerate(hosts.controllers):
        if name in nodes and name != hosts.database:
            message = f"the controller {name} is a GPU node: with auth: slurm it has no sackd, and slurmctld cannot authenticate to slurmdbd"
            fix = f"write auth: munge, database: {name}, or another controller"
            services: DataPath = (*hosts.path, "services")
            related = (("scheduler", "auth"), (*services, "database"))
            yield error((*services, "controller", index), message, fix=fix, related=related)
