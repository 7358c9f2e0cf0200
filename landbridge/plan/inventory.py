"""Ansible's inventory of an environment: hosts, the groups that switch roles on, and every role's variables. Pure."""

from typing import Any

from landbridge.environment import Environment, NfsHome
from landbridge.hostlist import expand
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles import role_variables


def groups(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Hosts by group. A group is a role's switch: what is in no group gets no role."""
    services = environment.onprem.services
    nodes = tuple(host for group in environment.onprem.nodes for host in expand(group.hosts))
    everything = tuple(dict.fromkeys((*services.hosts(), *nodes)))
    return {
        "onprem": everything,
        "slurm_controller": services.controller,
        "slurm_database": (services.database,),
        "slurm_login": services.login,
        "slurm_node": nodes,
        "nfs_server": (services.storage,) if isinstance(environment.storage.home, NfsHome) else (),
        "nfs_client": tuple(dict.fromkeys((*services.login, *nodes))),
        "site_gateway": (services.gateway,),
        "mlflow": (services.mlops,),
        "burst": services.controller if environment.aws.pools else (),
    }


def inventory(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """The inventory in the shape of `ansible-inventory --list`."""
    addresses = environment.host_addresses()
    members = groups(environment)
    hostvars = {name: {"ansible_host": addresses[name], "base_hostname": name} for name in members["onprem"]}
    listed = {name: {"hosts": list(hosts)} for name, hosts in members.items() if hosts}
    return {
        "all": {"children": sorted(listed), "vars": role_variables(environment, outputs)},
        **listed,
        "_meta": {"hostvars": hostvars},
    }
