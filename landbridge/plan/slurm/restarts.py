"""Settings that a daemon reads only at its start: a role restarts it when one of them changes."""

from landbridge.catalog.slurm.restarts import Daemon, slurm_restarts
from landbridge.environment import Environment
from landbridge.plan.slurm.conf import slurm_settings
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes


def restart_settings(environment: Environment, daemon: Daemon) -> dict[str, str]:
    """Return the settings of slurm.conf whose change needs a restart of `daemon`, by the catalogue's names.

    Settings that slurm.conf does not contain are absent, so that removing one is also a change.
    """
    nodes = (*onprem_nodes(environment), *cloud_nodes(environment))
    values_by_key = {key.casefold(): ",".join(values) for key, values in slurm_settings(environment, nodes).items()}
    return {
        key: values_by_key[key.casefold()]
        for key, restart in slurm_restarts().items()
        if daemon in restart.daemons and key.casefold() in values_by_key
    }
