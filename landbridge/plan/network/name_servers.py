"""On-prem hosts that become the site's name servers."""

from landbridge.environment import Environment
from landbridge.plan.network.link import ends_tunnels


def name_server_hosts(environment: Environment) -> tuple[str, ...]:
    """Return the on-prem hosts of name servers; empty if the site has existing ones, or without a site."""
    dns, onprem = environment.dns, environment.onprem
    if dns is None or onprem is None or dns.resolvers:
        return ()
    services = onprem.services
    # A gateway without tunnels is a router that Landbridge does not manage.
    primary = services.gateways[0] if ends_tunnels(environment) else services.database
    return dns.servers or tuple(dict.fromkeys((primary, services.controller[0])))
