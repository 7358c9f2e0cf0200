"""Role home_copies: copies of the home directories outside the site."""

from typing import Any

from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.roles.hosts.roles_anywhere import ROOT_FILE, roles_anywhere
from landbridge.plan.site.home_copies import home_copies_variables


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    credentials_file = ROOT_FILE if roles_anywhere(site.environment) is not None else ""
    return home_copies_variables(site.environment, host.name, site.outputs, credentials_file)


ROLE = HostRole(host_variables=_host_variables)
