"""Ansible's inventory: groups, hosts, and every variable of every role, decided.

The shape is that of `ansible-inventory --list`. No secret is in it: roles get theirs from the operator's secrets folder.
How to connect is the inventory plugin's business.
"""

from typing import Any

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment, NfsHome, Vpn
from landbridge.plan.burst import burst_config
from landbridge.plan.hosts import GROUPS, Host, hosts
from landbridge.plan.identity import identity_args
from landbridge.plan.link import link_cipher
from landbridge.plan.mlops import artifact_class, tracking_uri
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.slurm import slurm_files

Variables = dict[str, Any]


def inventory(environment: Environment, outputs: StackOutputs | None = None) -> dict[str, Any]:
    """Groups, hosts and variables. What only AWS can say is there once there are outputs."""
    found = hosts(environment)
    data: dict[str, Any] = {
        "all": {"children": ["onprem"], "vars": _common(environment)},
        "onprem": {"hosts": [host.name for host in found], "children": [g for g in GROUPS if g != "onprem"]},
    }
    variables = {
        "slurm_controller": _controller(environment),
        "slurm_database": {"slurm_database_host": environment.onprem.services.database},
        "nfs_server": _nfs_server(environment),
        "site_gateway": _gateway(environment, outputs),
        "mlflow": _mlflow(environment, outputs),
        "burst": _burst(environment, outputs),
    }
    for group in GROUPS[1:]:
        members = [host.name for host in found if group in host.groups]
        data[group] = {"hosts": members, "vars": variables.get(group, {})}
    data["_meta"] = {"hostvars": {host.name: _host(environment, host) for host in found}}
    return data


def _host(environment: Environment, host: Host) -> Variables:
    found: Variables = {"ansible_host": host.address, "base_hostname": host.name}
    if host.platform:
        found["landbridge_platform"] = host.platform
    return found


def _common(environment: Environment) -> Variables:
    """What several roles need, and what a node image is built with on a host that is in no group."""
    services, packages = environment.onprem.services, environment.onprem.packages
    slurm = environment.scheduler.slurm
    links = packages.python_find_links or ""
    domain = environment.onprem.domain
    found: Variables = {
        "landbridge_cluster": environment.name,
        "landbridge_region": environment.region,
        "base_hosts": [
            {"name": host.name, "address": host.address, "aliases": [f"{host.name}.{domain}"]}
            for host in hosts(environment)
        ],
        "base_users": [{"name": user.name, "uid": user.uid, "groups": []} for user in environment.users],
        "base_home_root": environment.storage.home.mount,
        "base_create_homes": False,
        "base_environment": {"MLFLOW_TRACKING_URI": tracking_uri(environment)},
        "slurm_common_auth": environment.scheduler.auth,
        "slurm_common_release": slurm.packages_release or slurm_releases()[slurm.version].debian_release or "",
        "slurm_node_controllers": list(services.controller),
        "slurm_login_controllers": list(services.controller),
        "nfs_client_mounts": _mounts(environment),
        # What a node image mounts at boot, through the link.
        "landbridge_cloud_mounts": _mounts(environment) if environment.storage.home.on_cloud_nodes else [],
        "python_runtime_find_links": links,
        "training_runtime_find_links": links,
        "cloud_identity_region": environment.region,
        "cloud_identity_endpoint": environment.aws.endpoints.cloud or "",
        # Known before the stack is built, so that an image does not have to wait for it.
        "cloud_identity_key_secret": identity_args(environment).secret_name,
    }
    if environment.scheduler.auth == "slurm":
        found |= {"cloud_identity_key_file": "/etc/slurm/slurm.key", "cloud_identity_key_owner": "slurm"}
    return found


def _controller(environment: Environment) -> Variables:
    return {
        "slurm_controller_files": slurm_files(environment),
        "slurm_controller_cluster": environment.name,
        "slurm_controller_database_host": environment.onprem.services.database,
        "slurm_controller_accounts": {
            name: {
                "users": list(account.users),
                "description": account.description or f"{account.data_class} data",
                "parent": account.parent or "root",
                "fairshare": account.fairshare,
                "grp_tres": {"gres/gpu": account.max_gpus} if account.max_gpus else {},
            }
            for name, account in environment.scheduler.accounts.items()
        },
    }


def _mounts(environment: Environment) -> list[Variables]:
    home = environment.storage.home
    if isinstance(home, NfsHome):
        server = environment.onprem.services.storage
        return [{"server": server, "export": home.export, "mount": home.mount}]
    return [{"server": home.host, "export": home.export, "mount": home.mount, "options": home.options}]


def _nfs_server(environment: Environment) -> Variables:
    home = environment.storage.home
    if not isinstance(home, NfsHome):
        return {}
    clients = [str(environment.onprem.cidr), *([str(environment.aws.cidr)] if home.on_cloud_nodes else [])]
    return {
        "nfs_server_implementation": home.server,
        "nfs_server_exports": [{"path": home.export, "clients": clients, "root_squash": True}],
        "nfs_server_homes": [{"path": f"{home.export}/{user.name}", "owner": user.uid} for user in environment.users],
        "mlflow_clients_home_root": home.export,
    }


def _gateway(environment: Environment, outputs: StackOutputs | None) -> Variables:
    link = environment.link
    if not isinstance(link, Vpn):
        return {}
    cipher = link_cipher(environment)
    found: Variables = {
        "site_gateway_datapath": link.datapath,
        "site_gateway_local_address": str(link.gateway_address),
        "site_gateway_local_asn": link.onprem_asn,
        "site_gateway_router_id": str(environment.onprem.addresses[environment.onprem.services.gateway]),
        "site_gateway_advertise": [str(environment.onprem.cidr)],
        "site_gateway_accept": [str(environment.aws.cidr)],
        "site_gateway_ike_proposals": cipher.ike_proposal,
        "site_gateway_esp_proposals": cipher.esp_proposal,
        "site_gateway_mtu": link.mtu,
    }
    if outputs is not None:
        found["site_gateway_tunnels"] = [
            {
                "name": f"aws{number}",
                "remote_address": tunnel.outside_address,
                "inside_local": tunnel.customer_inside_address,
                "inside_remote": tunnel.aws_inside_address,
                "inside_prefix": int(tunnel.inside_cidr.rpartition("/")[2]),
                "remote_asn": outputs.link.aws_asn,
            }
            for number, tunnel in enumerate(outputs.link.tunnels, start=1)
        ]
    return found


def _mlflow(environment: Environment, outputs: StackOutputs | None) -> Variables:
    mlflow, host = environment.mlops.mlflow, environment.onprem.services.mlops
    address = environment.onprem.addresses[host]
    names = [host, f"{host}.{environment.onprem.domain}", str(address), "localhost", *mlflow.allowed_hosts]
    found: Variables = {
        "mlflow_port": mlflow.port,
        "mlflow_find_links": environment.onprem.packages.python_find_links or "",
        "mlflow_allowed_hosts": [*names, *(f"{name}:{mlflow.port}" for name in names)],
        "mlflow_region": environment.region,
        "mlflow_s3_endpoint": environment.aws.endpoints.onprem or "",
    }
    data_class = artifact_class(environment)
    if data_class is None:
        # Every class stays at home, and so do the artifacts.
        found["mlflow_artifacts_destination"] = "/var/lib/mlflow/artifacts"
    elif outputs is not None:
        found["mlflow_artifacts_destination"] = f"s3://{outputs.hub.buckets[data_class].name}/mlflow"
    return found


def _burst(environment: Environment, outputs: StackOutputs | None) -> Variables:
    found: Variables = {"burst_find_links": environment.onprem.packages.python_find_links or ""}
    if environment.scheduler.auth == "slurm":
        found["burst_key_file"] = "/etc/slurm/slurm.key"
    if outputs is not None:
        found["burst_config"] = burst_config(environment, outputs)
        found["burst_key_secret"] = outputs.secrets.slurm_key
    return found
