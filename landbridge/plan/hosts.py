"""The on-prem hosts of an environment and the Ansible groups that each belongs to."""

from dataclasses import dataclass

from landbridge import hostlist
from landbridge.environment import Environment

# Every group that a host can be in; `onprem` holds all of them.
GROUPS = (
    "onprem",
    "slurm_controller",
    "slurm_database",
    "slurm_login",
    "slurm_node",
    "nfs_server",
    "nfs_client",
    "site_gateway",
    "mlflow",
    "burst",
)


@dataclass(frozen=True, slots=True)
class Host:
    """One on-prem machine. `platform` is None for hosts without GPUs, `rack` for those nobody placed."""

    name: str
    address: str
    site: str
    groups: tuple[str, ...]
    platform: str | None = None
    rack: str | None = None


def hosts(environment: Environment) -> tuple[Host, ...]:
    """Every on-prem host, services first, in the file's order.

    Raises ValueError for a service host without an address, which `landbridge check` reports with its place.
    """
    addresses = environment.host_addresses()
    machines = {
        name: (group.platform, group.rack)
        for group in environment.onprem.nodes
        for name in hostlist.expand(group.hosts)
    }
    found = []
    for name in dict.fromkeys([*environment.onprem.services.hosts(), *machines]):
        if name not in addresses:
            raise ValueError(f"host {name} has no address: add it under onprem.addresses")
        platform, rack = machines.get(name, (None, None))
        found.append(
            Host(name, addresses[name], "onprem", _groups(environment, name, name in machines), platform, rack)
        )
    return tuple(found)


def _groups(environment: Environment, name: str, is_node: bool) -> tuple[str, ...]:
    services = environment.onprem.services
    own_storage = environment.storage.home.kind == "nfs"
    member = {
        "onprem": True,
        "slurm_controller": name in services.controller,
        "slurm_database": name == services.database,
        "slurm_login": name in services.login,
        "slurm_node": is_node,
        "nfs_server": own_storage and name == services.storage,
        "nfs_client": (is_node or name in services.login) and not (own_storage and name == services.storage),
        "site_gateway": name == services.gateway,
        "mlflow": name == services.mlops,
        # A standby controller runs the burst controller too; a lease says which of the two acts.
        "burst": name in services.controller and bool(environment.aws.pools),
    }
    return tuple(group for group in GROUPS if member[group])
