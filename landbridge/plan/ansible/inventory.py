"""Ansible inventory: groups, hosts, and the variables of every role.

The structure is that of `ansible-inventory --list`. It contains no secrets: roles read them from the operator's secrets
folder. The inventory plugin sets the connection.
"""

from typing import Any

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment
from landbridge.plan.ansible.burst import aws_endpoint
from landbridge.plan.ansible.data_mover import cloud_dataset_cache_variables, data_mover_variables
from landbridge.plan.ansible.efs_utils import efs_variables
from landbridge.plan.ansible.existing_slurm import cloud_node_variables as existing_node_variables
from landbridge.plan.ansible.existing_slurm import existing_host_variables
from landbridge.plan.ansible.gpu_stack import driver_variables
from landbridge.plan.ansible.gpu_tools import gpu_tools_variables
from landbridge.plan.ansible.job_credentials import cloud_node_variables, onprem_node_variables
from landbridge.plan.ansible.monitoring import (
    cloud_metrics_variables,
    exporter_variables,
    gpu_exporter_variables,
    monitoring_variables,
)
from landbridge.plan.ansible.node_logins import node_login_variables
from landbridge.plan.ansible.node_restarts import node_restart_variables
from landbridge.plan.ansible.node_verify import node_verify_variables
from landbridge.plan.ansible.pipelines import pipelines_variables
from landbridge.plan.ansible.roles_anywhere import ROOT_FILE, mlflow_files, roles_anywhere, roles_anywhere_variables
from landbridge.plan.ansible.server_variables import (
    burst_variables,
    controller_variables,
    database_variables,
    model_instances_variables,
    nfs_server_variables,
)
from landbridge.plan.ansible.site_timers import linked_access_variables, timer_variables
from landbridge.plan.ansible.state_volume import state_volume
from landbridge.plan.ansible.tuning import node_tuning, pcie_tuning, service_tuning
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.fips import fips_endpoints, fips_variables
from landbridge.plan.network.hosts import GROUPS, InventoryHost, configured_hosts, hosts, service_hosts, top_group
from landbridge.plan.observability.logs import cloud_log_variables, log_shipper_variables, log_store_variables
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.serving.follow import model_host_variables
from landbridge.plan.serving.gateway import gateway_host_variables, model_gateway_variables
from landbridge.plan.serving.model_servers import model_server_variables
from landbridge.plan.site.containers import container_folder, container_variables
from landbridge.plan.site.dataset_cache import dataset_cache_variables
from landbridge.plan.site.firewall import firewall_variables, node_updates
from landbridge.plan.site.health import expected_of, health_variables
from landbridge.plan.site.home_copies import home_copies_variables
from landbridge.plan.site.home_directories import (
    LOCAL_HOMES,
    aws_home_variables,
    home_creator,
    home_mounts,
    nfs_server_mounts,
    session_variables,
    share_mounts,
)
from landbridge.plan.site.link.gateway import gateway_variables, linked_gateway_variables, linked_gateways, own_gateways
from landbridge.plan.site.mig import group_of, mig_variables
from landbridge.plan.site.mlops import job_variables, mlflow_variables, tracking_variables
from landbridge.plan.site.object_store import object_store_variables
from landbridge.plan.site.site_dns import site_dns_host, site_dns_variables
from landbridge.plan.site.site_shares import image_variables, lustre_variables, site_nfs_mounts
from landbridge.plan.site.site_tls import certificate_variables, site_tls_variables
from landbridge.plan.site.ssh_access import ssh_target
from landbridge.plan.site.user_accounts import user_account_variables
from landbridge.plan.slurm.auth_key import has_multiple_keys, key_file
from landbridge.plan.slurm.jobs.data_lines import data_lines
from landbridge.plan.slurm.jobs.prolog_epilog import prolog_epilog_variables
from landbridge.plan.slurm.nodes import pool_node_names
from landbridge.plan.slurm.packages import node_packages, slurm_packages
from landbridge.plan.slurm.restarts import restart_settings
from landbridge.plan.slurm.sackd import needs_sackd
from landbridge.plan.slurm.slurmrestd import rest_variables, token_variables

Variables = dict[str, Any]


def inventory(environment: Environment, outputs: StackOutputs | None = None) -> dict[str, Any]:
    """Return groups, hosts and variables. Values that AWS assigns are present only with the stack's outputs."""
    inventory_hosts, top = configured_hosts(environment), top_group(environment)
    data: dict[str, Any] = {
        "all": {"children": [top], "vars": _common(environment, outputs)},
        # In this group, not in `all`: images of cloud nodes are built with the variables of `all`, and have no site
        # firewall.
        top: {
            "hosts": [host.name for host in inventory_hosts],
            "children": list(GROUPS[1:]),
            "vars": {
                "base_time_servers": list(environment.hosts.time_servers),
                **firewall_variables(environment),
                **service_tuning(environment),
            },
        },
    }
    variables = {
        "slurm_controller": {
            **controller_variables(environment),
            "slurm_controller_data_lines": data_lines(environment, outputs),
            # Debian's Slurm waits ten seconds for DNS on an unknown name, and slurmctld holds its locks in that time.
            "base_hosts_absent": [name for pool in environment.aws.pools for name in pool_node_names(pool)],
            **token_variables(environment),
            **state_volume(environment, outputs),
        },
        "slurm_database": {**database_variables(environment, outputs), **token_variables(environment)},
        "slurm_rest": rest_variables(environment),
        "slurm_login": session_variables(environment),
        "slurm_node": {
            "slurm_node_return": True,
            "slurm_node_start_settings": restart_settings(environment, "slurmd"),
            **node_updates(environment),
            **node_tuning(environment),
            **onprem_node_variables(environment),
            **gpu_exporter_variables(environment),
        },
        "nfs_server": nfs_server_variables(environment),
        "lustre_client": lustre_variables(environment),
        "site_gateway": gateway_variables(environment, outputs),
        "site_dns": site_dns_variables(environment, outputs),
        "mlflow": mlflow_variables(environment, outputs, aws_endpoint(environment) or "", mlflow_files(environment)),
        "object_store": object_store_variables(environment, outputs, aws_endpoint(environment) or ""),
        "burst": burst_variables(environment, outputs),
        "monitoring": monitoring_variables(environment, aws_endpoint(environment)),
        "log_store": log_store_variables(environment),
        "model_gateway": {
            **model_gateway_variables(environment),
            **model_instances_variables(environment, aws_endpoint(environment)),
        },
        "pipelines": pipelines_variables(environment),
    }
    for group in GROUPS[1:]:
        members = [host.name for host in inventory_hosts if group in host.groups]
        data[group] = {"hosts": members, "vars": variables.get(group, {})}
    data["_meta"] = {"hostvars": {host.name: _host(environment, host, outputs) for host in inventory_hosts}}
    for number, name in list(enumerate(own_gateways(environment)))[1:]:
        data["_meta"]["hostvars"][name] |= gateway_variables(environment, outputs, number)
    for name, (site, linked) in linked_gateways(environment).items():
        data[top]["hosts"].append(name)
        data["site_gateway"]["hosts"].append(name)
        gateway_host = {"ansible_host": str(linked.address), "base_hostname": name}
        data["_meta"]["hostvars"][name] = {**gateway_host, **linked_gateway_variables(environment, site, outputs)}
        data["_meta"]["hostvars"][name] |= linked_access_variables(environment, name, outputs)
    return data


def _host(environment: Environment, host: InventoryHost, outputs: StackOutputs | None) -> Variables:
    variables: Variables = {"ansible_host": ssh_target(environment, host, outputs), "base_hostname": host.name}
    if host.platform:
        variables["landbridge_platform"] = host.platform
        variables |= prolog_epilog_variables(environment, host.name)
        variables |= container_folder(environment, host.name) | dataset_cache_variables(environment, host.name)
        variables["node_health_expected"] = expected_of(environment, host.platform, group_of(environment, host.name))
        group = group_of(environment, host.name)
        if group is not None:
            variables |= node_packages(environment, group.os) | health_variables(environment, group)
        variables |= driver_variables(environment, host.name) | node_restart_variables(environment, host.name)
        variables |= pcie_tuning(environment, host.platform)
        variables |= mig_variables(environment, host.name) | gpu_tools_variables(environment, host.name)
    variables |= roles_anywhere_variables(environment, host.name, outputs, aws_endpoint(environment))
    if {"slurm_login", "pipelines"} & set(host.groups) and {"slurm_controller", "slurm_node"} & set(host.groups):
        variables["slurm_login_daemon"] = False
        variables["slurm_login_keeps_sackd"] = "slurm_controller" in host.groups and needs_sackd(environment)
    if {"slurm_controller", "slurm_node"} <= set(host.groups):
        # sackd and slurmd would use the same runtime folder.
        variables |= {"slurm_controller_sackd": False, "slurm_login_keeps_sackd": False}
    if {"nfs_server", "nfs_client"} <= set(host.groups):
        variables["nfs_client_mounts"] = [*nfs_server_mounts(environment), *_shares(environment, outputs)]
    if host.name == home_creator(environment):
        variables |= aws_home_variables(environment, outputs)
    root_file = ROOT_FILE if roles_anywhere(environment) is not None else ""
    variables |= home_copies_variables(environment, host.name, outputs, root_file)
    variables |= data_mover_variables(environment, host.name, outputs) | timer_variables(environment, host, outputs)
    variables |= model_server_variables(environment, host.name)
    variables |= model_host_variables(environment, host.name) | gateway_host_variables(environment, host.name)
    variables |= certificate_variables(environment, host.name) | exporter_variables(environment, host)
    variables |= log_shipper_variables(environment)
    return variables | site_dns_host(environment, host) | existing_host_variables(environment, host)


def _shares(environment: Environment, outputs: StackOutputs | None) -> list[Variables]:
    """Return the mounts besides homes, for the role nfs_client."""
    return [*site_nfs_mounts(environment), *share_mounts(environment, outputs)]


def _common(environment: Environment, outputs: StackOutputs | None) -> Variables:
    """Return variables that several roles need; a node image is built with these only, on a host without groups."""
    served, mounts = service_hosts(environment), home_mounts(environment, outputs)
    find_links = served.packages.python_find_links or ""
    variables: Variables = {
        "landbridge_cluster": environment.name,
        "landbridge_region": environment.region,
        "base_hosts": [
            {"name": host.name, "address": host.address, "aliases": [f"{host.name}.{served.domain}"]}
            for host in hosts(environment)
        ],
        "base_users": [{"name": user.name, "uid": user.uid, "groups": []} for user in environment.users],
        **user_account_variables(environment),
        **node_tuning(environment),
        "base_home_root": environment.storage.home.mount,
        "base_create_homes": False,
        # The SDKs of users' jobs read the variable of FIPS endpoints.
        "base_environment": {**tracking_variables(environment), **fips_variables(environment, "cloud")},
        "slurm_job_environment_accounts": job_variables(environment),
        **site_tls_variables(environment),
        "slurm_common_auth": environment.scheduler.auth,
        **slurm_packages(environment),
        "slurm_common_upgrades_from": list(slurm_releases()[environment.scheduler.slurm.version].upgrades_from),
        **existing_node_variables(environment),
        **container_variables(environment),
        **node_login_variables(environment),
        **node_verify_variables(environment),
        "slurm_node_controllers": list(served.controllers),
        "slurm_login_controllers": list(served.controllers),
        "nfs_client_mounts": [*mounts, *_shares(environment, outputs)],
        # The account of operators has its home below the mount point of the home file system.
        "nfs_client_accounts": [user.name for user in environment.users],
        "nfs_client_local_homes": LOCAL_HOMES,
        # Home mounts of a cloud node at boot, through the link or in AWS.
        "landbridge_cloud_mounts": mounts if environment.storage.home.on_cloud_nodes else [],
        **image_variables(environment),
        **efs_variables(environment),
        "python_runtime_find_links": find_links,
        "training_runtime_find_links": find_links,
        "cloud_agent_lease_minutes": environment.aws.lease_minutes,
        **cloud_node_variables(environment),
        **cloud_dataset_cache_variables(environment),
        "cloud_identity_region": environment.region,
        "cloud_identity_endpoint": environment.aws.endpoints.cloud or "",
        "cloud_identity_fips": fips_endpoints(environment, "cloud"),
        # The name is known before the stack exists, so that an image can be built first.
        "cloud_identity_key_secret": identity_args(environment).secret_name,
        **cloud_metrics_variables(environment),
        **cloud_log_variables(environment),
    }
    if environment.scheduler.auth == "slurm":
        variables |= {"cloud_identity_key_file": key_file(environment), "cloud_identity_key_owner": "slurm"}
        # The keys are in the operator's secrets folder.
        variables["landbridge_slurm_keys"] = has_multiple_keys(environment)
    return variables
