"""Role hardening: firewalls and sshd of every host."""

from landbridge.plan.network.host_role import EVERY_HOST, HostRole
from landbridge.plan.site.firewall import firewall_variables, node_updates

ROLE = HostRole(
    variables={
        # Not in `all`: images of nodes in AWS are built with its variables, and have no site firewall.
        EVERY_HOST: lambda site: firewall_variables(site.environment),
        "slurm_node": lambda site: node_updates(site.environment),
    }
)
