"""Role base: names, accounts, time and environment variables of every host."""

from typing import Any

from landbridge.plan.fips import fips_variables
from landbridge.plan.network.host_role import EVERY_HOST, EVERYWHERE, HostRole, Site
from landbridge.plan.roles.mlflow import tracking_variables


def _variables(site: Site) -> dict[str, Any]:
    environment, domain = site.environment, site.services.domain
    return {
        "base_hosts": [
            {"name": host.name, "address": host.address, "aliases": [f"{host.name}.{domain}"]} for host in site.hosts
        ],
        "base_users": [{"name": user.name, "uid": user.uid, "groups": []} for user in environment.users],
        "base_home_root": environment.storage.home.mount,
        "base_create_homes": False,
        # The SDKs of users' jobs read the variable of FIPS endpoints.
        "base_environment": {**tracking_variables(environment), **fips_variables(environment, "cloud")},
    }


def _site_variables(site: Site) -> dict[str, Any]:
    settings = site.environment.hosts
    return {
        "base_time_servers": list(settings.time_servers),
    }


ROLE = HostRole(
    variables={
        EVERYWHERE: _variables,
        EVERY_HOST: _site_variables,
    },
    host_variables=lambda site, host: {"base_hostname": host.name},
)
