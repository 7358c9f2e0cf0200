"""Variables of the Ansible roles, decided here so that a role's templates only lay text out.

Names carry their role's prefix, so one flat dictionary serves every host. Secrets are not among them:
ansible/group_vars takes those from the operator's own files.
"""

from typing import Any

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment, NfsHome, Vpn
from landbridge.plan.outputs import StackOutputs

#: Seconds between the moment AWS's tunnel falls silent and the moment its routes are withdrawn.
BGP_KEEPALIVE, BGP_HOLD = 10, 30


def role_variables(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    """Variables of every role. Those that need the stack are absent until it has outputs."""
    return {
        **_base(environment),
        **_slurm(environment),
        **_storage(environment),
        **_python(environment),
        **_mlflow(environment, outputs),
        **(_gateway(environment, outputs) if outputs else {}),
        **_cloud_identity(environment, outputs),
    }


def tracking_uri(environment: Environment) -> str:
    """Where training jobs and people reach MLflow."""
    return f"http://{environment.onprem.services.mlops}:{environment.mlops.mlflow.port}"


def _base(environment: Environment) -> dict[str, Any]:
    domain = environment.onprem.domain
    return {
        "base_hosts": [
            {"name": name, "address": address, "aliases": [f"{name}.{domain}"]}
            for name, address in environment.host_addresses().items()
        ],
        "base_users": [{"name": user.name, "uid": user.uid} for user in environment.users],
        "base_home_root": environment.storage.home.mount,
        "base_environment": {"MLFLOW_TRACKING_URI": tracking_uri(environment)},
    }


def _slurm(environment: Environment) -> dict[str, Any]:
    scheduler, services = environment.scheduler, environment.onprem.services
    accounts = {
        name: {
            "users": list(account.users),
            "description": account.description or name,
            "parent": account.parent or "root",
            "fairshare": account.fairshare,
            "grp_tres": "" if account.max_gpus is None else f"gres/gpu={account.max_gpus}",
        }
        for name, account in scheduler.accounts.items()
    }
    controllers = list(services.controller)
    release = slurm_releases()[scheduler.slurm.version]
    return {
        "slurm_common_release": scheduler.slurm.packages_release or release.debian_release or "",
        "slurm_common_auth": scheduler.auth,
        "slurm_database_host": services.database,
        "slurm_controller_cluster": environment.name,
        "slurm_controller_accounts": accounts,
        "slurm_controller_database_host": services.database,
        "slurm_node_controllers": controllers,
        "slurm_login_controllers": controllers,
    }


def _storage(environment: Environment) -> dict[str, Any]:
    home, host = environment.storage.home, environment.onprem.services.storage
    if not isinstance(home, NfsHome):
        mount = {"server": home.host, "export": home.export, "mount": home.mount, "options": home.options}
        return {"nfs_client_mounts": [mount]}
    clients = [str(environment.onprem.cidr), str(environment.aws.cidr)]
    return {
        "nfs_server_implementation": home.server,
        "nfs_server_exports": [{"path": home.export, "clients": clients}],
        "nfs_server_homes": [{"path": f"{home.export}/{user.name}", "owner": user.uid} for user in environment.users],
        "nfs_client_mounts": [{"server": host, "export": home.export, "mount": home.mount}],
        "mlflow_clients_home_root": home.export,
    }


def _python(environment: Environment) -> dict[str, Any]:
    links = environment.onprem.packages.python_find_links or ""
    return {f"{role}_find_links": links for role in ("burst", "mlflow", "training_runtime")}


def _mlflow(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    mlflow, host = environment.mlops.mlflow, environment.onprem.services.mlops
    address = environment.host_addresses()[host]
    names = [host, f"{host}.{environment.onprem.domain}", address, "localhost", "127.0.0.1", *mlflow.allowed_hosts]
    found: dict[str, Any] = {
        "mlflow_port": mlflow.port,
        # A Host header carries the port unless it is the scheme's own, so both spellings are allowed.
        "mlflow_allowed_hosts": [spelling for name in names for spelling in (name, f"{name}:{mlflow.port}")],
        "mlflow_region": environment.region,
        "mlflow_s3_endpoint": environment.aws.endpoints.onprem or "",
    }
    if outputs:
        bucket = outputs.hub.buckets[artifact_class(environment)]
        found["mlflow_artifacts_destination"] = f"s3://{bucket.name}/mlflow"
    return found


def artifact_class(environment: Environment) -> str:
    """The data class of MLflow's artifacts: the one named, else the first that both sites may hold."""
    named = environment.mlops.mlflow.data_class
    return named or next(name for name, one in environment.data_classes.items() if {"onprem", "aws"} <= set(one.sites))


def _gateway(environment: Environment, outputs: StackOutputs) -> dict[str, Any]:
    link, gateway = environment.link, environment.onprem.services.gateway
    if not isinstance(link, Vpn):
        return {}
    return {
        "site_gateway_datapath": link.datapath,
        "site_gateway_local_address": str(link.gateway_address),
        "site_gateway_local_asn": link.onprem_asn,
        "site_gateway_router_id": environment.host_addresses()[gateway],
        "site_gateway_advertise": [str(environment.onprem.cidr)],
        "site_gateway_accept": [outputs.network.cidr],
        "site_gateway_mtu": link.mtu,
        "site_gateway_bgp_keepalive": BGP_KEEPALIVE,
        "site_gateway_bgp_hold": BGP_HOLD,
        "site_gateway_tunnels": [
            {
                "name": f"aws{number}",
                "remote_address": tunnel.outside_address,
                "inside_local": tunnel.customer_inside_address,
                "inside_remote": tunnel.aws_inside_address,
                "inside_prefix": int(tunnel.inside_cidr.rpartition("/")[2]),
                "remote_asn": outputs.link.aws_asn,
            }
            for number, tunnel in enumerate(outputs.link.tunnels, start=1)
        ],
    }


def _cloud_identity(environment: Environment, outputs: StackOutputs | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "cloud_identity_region": environment.region,
        "cloud_identity_endpoint": environment.aws.endpoints.cloud or "",
        "cloud_identity_key_owner": "munge" if environment.scheduler.auth == "munge" else "slurm",
        "cloud_identity_key_file": "/etc/munge/munge.key" if environment.scheduler.auth == "munge" else "/etc/slurm/slurm.key",
        "burst_key_file": "/etc/munge/munge.key" if environment.scheduler.auth == "munge" else "/etc/slurm/slurm.key",
    }
    if outputs:
        found |= {"cloud_identity_key_secret": outputs.secrets.slurm_key, "burst_key_secret": outputs.secrets.slurm_key}
    return found
