"""Rules about who signs messages."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.slurm.sackd import needs_sackd
from landbridge.rules.registry import rule


@rule(suppressible=False)
def controller_without_sackd(environment: Environment) -> Iterator[Finding]:
    """A controller that is a GPU node too has no room for sackd; its first question to a slurmdbd elsewhere would be unsigned.

    Source: Slurm's documentation of authentication plugins: sackd and slurmd both answer at /run/slurm/sack.socket.
    """
    if not needs_sackd(environment):
        return
    served = service_hosts(environment)
    nodes = {name for group in environment.node_groups for name in hostlist.expand(group.hosts)}
    for index, name in enumerate(served.controllers):
        if name in nodes and name != served.database:
            message = f"{name} is a GPU node too: with auth: slurm nothing signs for it before slurmctld runs there"
            fix = f"say auth: munge, or database: {name}, or make another host the controller"
            services: DataPath = (*served.path, "services")
            related = (("scheduler", "auth"), (*services, "database"))
            yield error((*services, "controller", index), message, fix=fix, related=related)
