"""Ansible inventory: groups, hosts, and the variables of every role.

The structure is that of `ansible-inventory --list`. It contains no secrets: roles read them from the operator's secrets
folder. The inventory plugin sets the connection.
"""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.host_role import (
    EVERY_HOST,
    EVERYWHERE,
    Site,
    configured_hosts,
    groups,
    host_roles,
    site_of,
    top_group,
)
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.hosts.host_access import linked_access_variables
from landbridge.plan.site.link.gateway import linked_gateway_variables, linked_gateways
from landbridge.plan.site.ssh_access import ssh_target

Variables = dict[str, Any]


def inventory(environment: Environment, outputs: StackOutputs | None = None) -> dict[str, Any]:
    """Return groups, hosts and variables. Values that AWS assigns are present only with the stack's outputs."""
    site, inventory_hosts, top = site_of(environment, outputs), configured_hosts(environment), top_group(environment)
    facts = {"landbridge_cluster": environment.name, "landbridge_region": environment.region}
    data: dict[str, Any] = {
        # Images of nodes in AWS are built with these variables only, on a host without groups.
        "all": {"children": [top], "vars": facts | _variables(site, EVERYWHERE)},
        top: {
            "hosts": [host.name for host in inventory_hosts],
            "children": list(groups()),
            "vars": _variables(site, EVERY_HOST),
        },
    }
    for group in groups():
        members = [host.name for host in inventory_hosts if group in host.groups]
        data[group] = {"hosts": members, "vars": _variables(site, group)}
    data["_meta"] = {"hostvars": {host.name: _host_variables(site, host) for host in inventory_hosts}}
    for name, (linked_site, linked) in linked_gateways(environment).items():
        data[top]["hosts"].append(name)
        data["site_gateway"]["hosts"].append(name)
        data["_meta"]["hostvars"][name] = {
            "ansible_host": str(linked.address),
            "base_hostname": name,
            **linked_gateway_variables(environment, linked_site, outputs),
            **linked_access_variables(environment, name, outputs),
        }
    return data


def _variables(site: Site, group: str) -> Variables:
    """Return the variables that all roles give to a group."""
    variables: Variables = {}
    for role in host_roles().values():
        if group in role.variables:
            variables |= role.variables[group](site)
    return variables


def _host_variables(site: Site, host: InventoryHost) -> Variables:
    variables: Variables = {"ansible_host": ssh_target(site.environment, host, site.outputs)}
    if host.platform:
        variables["landbridge_platform"] = host.platform
    for role in host_roles().values():
        variables |= role.host_variables(site, host)
    return variables
