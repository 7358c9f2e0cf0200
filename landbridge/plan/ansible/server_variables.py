"""Variables of the groups slurm_controller, slurm_database, nfs_server and burst, and of starts of model servers in AWS."""

from typing import Any

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment, NfsHome
from landbridge.plan.ansible.burst import aws_endpoint, burst_config
from landbridge.plan.ansible.monitoring import certificate_publication
from landbridge.plan.ansible.roles_anywhere import instances_file
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.network.services.serving import cloud_model_servers, starts_model_servers
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.data_exchange import data_staging, exchange_export, exchange_folder, exchange_mounts
from landbridge.plan.site.home_directories import home_exports
from landbridge.plan.site.user_accounts import home_server_account_variables
from landbridge.plan.slurm.auth_key import key_file
from landbridge.plan.slurm.controller_pair import SHARED, SLURM_UID, shared_state, state_export, state_variables
from landbridge.plan.slurm.files import slurm_files
from landbridge.plan.slurm.jobs.accounts import accounts, capped, limited, qualities
from landbridge.plan.slurm.jobs.prolog_epilog import PROGRAM as JOB_PROGRAM
from landbridge.plan.slurm.reservations import reservations
from landbridge.plan.slurm.restarts import restart_settings
from landbridge.plan.slurm.sackd import has_accounting_storage, needs_sackd

#: Seconds between two polls of EC2. Landbridge's choice: a start takes about a minute.
_LOOK_SECONDS = 10

Variables = dict[str, Any]


def controller_variables(environment: Environment) -> Variables:
    """Return the variables of slurmctld's hosts."""
    state = state_variables(environment)
    # A controller pair has a mount for its state already.
    mounts = [*state.pop("landbridge_controller_mounts", []), *exchange_mounts(environment)]
    return {
        "slurm_controller_files": slurm_files(environment),
        "slurm_controller_scripts": [JOB_PROGRAM],
        "slurm_controller_start_settings": restart_settings(environment, "slurmctld"),
        "slurm_controller_cluster": environment.name,
        **state,
        **({"landbridge_controller_mounts": mounts} if mounts else {}),
        "slurm_controller_database_host": service_hosts(environment).database
        if has_accounting_storage(environment)
        else "",
        "slurm_controller_sackd": needs_sackd(environment),
        "slurm_controller_accounts": accounts(environment),
        "slurm_controller_qos": qualities(environment),
        "slurm_controller_tres": limited(environment),
        "slurm_controller_monthly_qos": capped(environment),
        "slurm_controller_reservations": reservations(environment),
        "slurm_controller_first_save": slurm_releases()[environment.scheduler.slurm.version].needs_first_save,
    }


def database_variables(environment: Environment, outputs: StackOutputs | None) -> Variables:
    """Return the variables of slurmdbd and its database: on the same host, or RDS, whose address is known once it
    exists.
    """
    variables: Variables = {"slurm_database_host": service_hosts(environment).database}
    if log_store_host(environment) is not None:
        variables["slurm_database_settings"] = {"DebugLevelSyslog": "info"}
    if outputs is not None and outputs.services is not None:
        database = outputs.services.database
        variables |= {
            "slurm_database_server": database.address,
            "slurm_database_server_port": database.port,
            "slurm_database_admin": database.user,
            "slurm_database_admin_secret": database.secret_arn,
            "slurm_database_region": environment.region,
            "slurm_database_endpoint": aws_endpoint(environment) or "",
            "slurm_database_fips": fips_endpoints(environment, "cloud"),
        }
    return variables


def nfs_server_variables(environment: Environment) -> Variables:
    """Return the exports and home directories of the NFS server; empty if homes are in AWS."""
    home = environment.storage.home
    if not isinstance(home, NfsHome):
        return {}
    state_exports, folders = state_export(environment)
    exchange_exports, exchange_folders = exchange_export(environment, SLURM_UID)
    homes = [{"path": f"{home.export}/{user.name}", "owner": user.uid} for user in environment.users]
    return {
        "nfs_server_implementation": home.server,
        "nfs_server_exports": [*home_exports(environment), *state_exports, *exchange_exports],
        "nfs_server_homes": [*homes, *folders, *exchange_folders],
        "mlflow_clients_home_root": home.export,
        **home_server_account_variables(environment),
    }


def burst_variables(environment: Environment, outputs: StackOutputs | None) -> Variables:
    """Return the variables of the burst controller."""
    served = service_hosts(environment)
    variables: Variables = {"burst_find_links": served.packages.python_find_links or ""}
    if environment.scheduler.auth == "slurm":
        variables["burst_key_file"] = key_file(environment)
    if environment.onprem is None:
        variables["burst_metadata"] = True
    if shared_state(environment) is not None:
        variables["burst_snapshot_mount"] = SHARED
    if data_staging(environment) is not None:
        variables["burst_exchange_mount"] = exchange_folder(environment).rpartition("/")[0]
    if outputs is not None:
        variables["burst_config"] = burst_config(environment, outputs)
        variables["burst_key_secret"] = outputs.secrets.slurm_key
        variables |= certificate_publication(environment, outputs.secrets.node_metrics)
    return variables


def model_instances_variables(environment: Environment, endpoint: str | None) -> dict[str, Any]:
    """Return the variables of the role model_gateway for these hosts; empty without them."""
    if not starts_model_servers(environment):
        return {}
    return {
        "model_gateway_instances": {
            "cluster": environment.name,
            "region": environment.region,
            "hosts": list(cloud_model_servers(environment)),
            "seconds": _LOOK_SECONDS,
            "endpoint": endpoint,
            "credentials_file": instances_file(environment),
            "fips": fips_endpoints(environment, "onprem"),
        }
    }
