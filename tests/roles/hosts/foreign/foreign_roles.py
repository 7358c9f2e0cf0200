"""Roles that run on a foreign machine one after the other: their variables, and what the machine has before each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import Environment, environment_from_config
from landbridge.ops.credentials.folder import AuthorityFolder
from landbridge.ops.secrets.store import LocalFolder, describe_store
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.network.services.object_store import store_buckets
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.site_tls import certificate_variables
from landbridge.realise import object_store, wheel
from sandbox.hardware.packages.installers import efa_sha256
from sandbox.hardware.packages.repository import Repository
from sandbox.nspawn.site import operator_address
from tests.roles.hosts.foreign import owner_commands
from tests.roles.hosts.foreign.foreign_host import ADDRESS, HOST, ONPREM, ROOT
from tests.roles.pipelines.test_pipelines_host import CONFIG as PIPELINES
from tests.roles.playbooks.test_inventory import OUTPUTS
from tests.roles.storage.test_data_mover import CONFIG as MOVER
from tests.unit.served_models.folders import new_key

OPERATOR = operator_address(ONPREM)
WHEELS = f"http://{OPERATOR}:3143/"
#: Machine whose plan gives the variables of GPU nodes.
NODE = "gpu02"
CREDENTIALS = "[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = not-a-real-one\n"
ROLES = sorted((path.name for path in (ROOT / "ansible/roles").iterdir() if path.is_dir()), key=len, reverse=True)


@dataclass(frozen=True)
class Case:
    """Role with its variables besides the plan's. `before`: commands of the owner; `beside`: roles whose variables it needs too;
    `names`: files whose names are in its variables.
    """

    role: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    before: str = ""
    beside: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def site_environment(packages: Repository) -> Environment:
    """Return an environment in which the machine has every service."""
    services = dict.fromkeys(("database", "storage", "gateway", "mlops", "monitoring", "logs", "object_store"), HOST)
    content = {
        "owner": "a@example.org",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            "aws_credentials": "files",
            "nodes": [{"hosts": NODE, "platform": "dgx-h100", "address": "10.20.1.22", "rack": "r1"}],
            "services": {**services, "controller": [HOST], "login": [HOST]},
            "addresses": {HOST: ADDRESS},
            "packages": {"python_find_links": WHEELS},
        },
        "aws": {"cidr": "10.60.0.0/16"},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010, "datapath": "userspace"},
        "scheduler": {
            "slurm": {"version": "24.11", "packages_mirror": None},
            "cgroup": "v1",
            "accounts": {"vision": {"users": ["alice"], "data_class": "internal"}},
        },
        "observability": {"timers": {}},
        "storage": {"object_store": {}},
        "serving": {
            "hosts": [HOST],
            "gateway": HOST,
            "services": {"digits": {"model": "digits", "data_class": "internal", "port": 8500, "accounts": ["vision"]}},
        },
        "containers": {
            "engines": ["apptainer", "enroot"],
            "packages": {"uris": packages.address(OPERATOR, "containers"), "key": packages.key},
        },
        "budget": {"monthly_usd": 1000},
    }
    return environment_from_config("test", "us-east-1", content)


def planned(packages: Repository, folder: Path) -> dict[str, Any]:
    """Return the plan's variables of all groups and of both hosts, and secrets of the operator."""
    chosen = site_environment(packages)
    data = inventory(chosen, StackOutputs.model_validate_json(json.dumps({**OUTPUTS, "cluster": "test"})))
    variables: dict[str, Any] = {}
    for group in data.values():
        variables |= group.get("vars", {})
    for host in (NODE, HOST):
        variables |= data["_meta"]["hostvars"][host]
    store = LocalFolder(folder / "secrets")
    store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
    authority = AuthorityFolder(folder / "anywhere")
    certificate = authority.create("acme", datetime.now(UTC))
    accounts = [account.access_key for bucket in store_buckets(chosen) for account in bucket.accounts]
    built = str(wheel.build(folder))
    return {
        **variables,
        **certificate_variables(chosen, HOST),
        "site_tls_authority": "\n".join(certificates_in(store.read()[AUTHORITY])),
        "site_tls_store": describe_store(store),
        "roles_anywhere_common_name": HOST,
        "roles_anywhere_authority": certificate,
        "roles_anywhere_authority_folder": str(authority.path),
        "roles_anywhere_trust_anchor": "arn:aws:rolesanywhere:us-east-1:123456789012:trust-anchor/1",
        "roles_anywhere_region": "us-east-1",
        "roles_anywhere_files": [],
        "slurm_common_key": "k" * 64,
        "slurm_database_password": "password-of-the-database",
        "slurm_controller_database_host": HOST,
        # slurmd cannot load the lab's plugin of pyxis.
        "slurm_controller_files": {
            name: text for name, text in variables["slurm_controller_files"].items() if name != "plugstack.conf"
        },
        "mlflow_users": [{"name": "alice", "password": "password-of-alice"}],
        "mlflow_secrets": {
            server["name"]: {kind: f"{server['name']}-{kind}-0123456789" for kind in ("database", "admin", "session")}
            for server in variables["mlflow_servers"]
        },
        "mlflow_workers": 1,
        "mlflow_serving_password": "password-of-the-gateway",
        "mlflow_aws_credentials": CREDENTIALS,
        "node_exporter_password": "password-of-scrapes-0123456789",
        "prometheus_scrape_password": "password-of-scrapes-0123456789",
        "prometheus_operator_password": "password-of-operators-0123456789",
        # Built here: Ansible's machine has the lab's network only.
        "object_store_program": str(object_store.build()),
        "object_store_secrets": dict.fromkeys(("landbridge", *accounts), "secret-key-of-an-account-0123456789"),
        "model_server_trust": new_key(folder)[1].read_text(),
        "model_gateway_tokens": {"vision": "token-of-an-account-0123456789"},
        "site_gateway_pre_shared_keys": ["k" * 32, "l" * 32],
        "site_timers_source": str(ROOT / "stacks/Pulumi.sandbox.yaml"),
        "site_timers_passwords": {server["name"]: "password" for server in variables["mlflow_servers"]},
        **{
            f"{role}_wheel": built
            for role in ("burst", "data_mover", "pipelines", "model_server", "model_gateway", "site_timers")
        },
        **{
            f"{role}_find_links": WHEELS
            for role in (
                "burst",
                "data_mover",
                "pipelines",
                "model_server",
                "model_gateway",
                "site_timers",
                "python_runtime",
                "training_runtime",
                "mlflow",
            )
        },
        **mirrors(packages),
    }


def mirrors(packages: Repository) -> dict[str, Any]:
    """Return the variables of package sources: the lab's instead of NVIDIA's and AWS's."""
    suite = packages.address(OPERATOR, "debian13")
    toolkit = packages.address(OPERATOR, "container-toolkit")
    return {
        "nvidia_driver_mirror": suite,
        "nvidia_driver_repository": "nvidia",
        "dcgm_mirror": suite,
        "dcgm_repository": True,
        "nvidia_container_toolkit_mirror": toolkit,
        "nvidia_container_toolkit_key_url": f"{toolkit}gpgkey",
        "efa_address": f"{suite.removesuffix('debian13/')}efa",
        "efa_sha256": efa_sha256(),
        "efa_kernel_module": False,
        "efa_limits": False,
        "lustre_client_repository": {"uris": packages.address(OPERATOR, "lustre"), "signed_by": packages.key},
        "gdrcopy_address": f"{suite.removesuffix('debian13/')}gdrcopy",
    }


def variables_of(case: Case, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a role: the plan's with its name or with that of a role that it includes, and the case's."""
    names = (case.role, *case.beside)
    mine = {name: value for name, value in known.items() if owner(name) in names}
    return {**mine, **case.variables}


def owner(variable: str) -> str | None:
    """Return the role of a variable: the longest role name with which it begins."""
    return next((role for role in ROLES if variable.startswith(f"{role}_")), None)


LOCK = str(ROOT / "ansible/roles/python_runtime/files/requirements.lock")
_NCCL_SOURCES = {
    "nccl_tests": {"address": "/srv/nccl", "version": "one", "commit": "main"},
    "nvbandwidth": {"address": "/srv/nvbandwidth", "version": "one", "commit": "main"},
}
_CACHE = {
    "root": "/cache",
    "source": "/srv/datasets",
    "socket": "/run/landbridge-dataset-cache/socket",
    "classes": {"internal": {"group": "users", "keep": True}},
    "limit_bytes": 1 << 20,
    "workers": 1,
    "inspection_seconds": 60,
}
#: The kernel is this machine's: no module can be loaded. The owner has a driver of the lab's hardware after nvidia_driver.
CASES: tuple[Case, ...] = (
    Case("nvidia_driver", {"nvidia_driver_reboot": "never", "nvidia_driver_locked": []}, beside=("node_restart",)),
    Case("nvidia_fabric", {"nvidia_fabric_started": False}),
    Case("dcgm"),
    Case("nvidia_container_toolkit", {"nvidia_container_toolkit_version": ""}),
    Case("gds"),
    Case("gdrcopy", {"gdrcopy_started": False}, before=owner_commands.UBUNTU),
    Case("efa", before=owner_commands.DEBIAN),
    Case(
        "nccl_tests",
        {"nccl_tests_sources": _NCCL_SOURCES, "nccl_tests_tools": ["git", "make"]},
        before=owner_commands.NCCL,
    ),
    Case(
        "efs_utils",
        {"efs_utils_source": {"address": "/srv/efs-utils", "version": "one", "commit": "main"}},
        before=owner_commands.EFS,
    ),
    Case("cloud_storage"),
    Case("apptainer"),
    Case("enroot_pyxis", before=owner_commands.PYXIS),
    Case("lustre_client", {"lustre_client_started": False}),
    Case(
        "scratch",
        {"scratch_mount": "/scratch", "scratch_devices": ["/disk"], "scratch_filesystem": "ext4"},
        before=owner_commands.DISK,
    ),
    Case("dataset_cache", {"dataset_cache_config": _CACHE}, before="install -d /srv/datasets"),
    Case(
        "home_copies",
        {
            "home_copies_folder": "/home",
            "home_copies_repository": "/srv/copies",
            "home_copies_password": "not-a-real-one",
        },
    ),
    Case(
        "python_runtime",
        {"python_runtime_name": "analysis", "python_runtime_lock": LOCK},
        names=("/opt/landbridge/analysis",),
    ),
    Case("training_runtime", {"training_runtime_lock": LOCK}, beside=("python_runtime",)),
    Case(
        "site_dns",
        {"site_dns_listen": ["127.0.0.1"], "site_dns_forwards": [{"domain": "aws.test", "servers": ["10.60.0.2"]}]},
    ),
    Case("site_gateway"),
    Case("site_tls"),
    Case("roles_anywhere"),
    Case("host_access"),
    Case("users", {"users_directory": {"uris": ["ldaps://192.0.2.1"], "base": "dc=example,dc=org", "min_uid": 20000}}),
    Case("node_exporter", beside=("site_tls",)),
    Case("dcgm_exporter", {"dcgm_exporter_started": False, "dcgm_exporter_series": ""}),
    # The owner's receiver has the usual port.
    Case("log_store", {"log_store_listen": "0.0.0.0:19533"}),
    Case("log_shipper", {"log_shipper_url": f"https://{HOST}:19533"}),
    Case("prometheus", beside=("node_exporter",)),
    Case("nfs_server", {"nfs_server_implementation": "ganesha"}),
    Case("object_store"),
    Case("model_server", beside=("python_runtime",)),
    Case("model_gateway", beside=("python_runtime",)),
    Case(
        "data_mover",
        {"data_mover_config": {**MOVER, "endpoint": "http://127.0.0.1:9"}, "data_mover_folders": []},
        beside=("python_runtime",),
    ),
    Case("mlflow", beside=("python_runtime",)),
    Case("slurm_common", {"slurm_common_packages": ["slurm-client"], "slurm_common_key": ""}),
    Case("slurm_database", before=owner_commands.move("/etc/slurm/slurmdbd.conf"), beside=("slurm_common",)),
    Case(
        "database_exporter",
        {"database_exporter_postgresql": "127.0.0.1:9187", "database_exporter_mariadb": "127.0.0.1:9104"},
    ),
    Case("slurm_controller", beside=("slurm_common",)),
    Case("slurm_login", beside=("slurm_common",)),
    # The machine is not a node of its Slurm: slurmd has the name of another one.
    Case(
        "slurm_node",
        {"slurm_node_options": f"-N {NODE}"},
        before=owner_commands.move("/etc/default/slurmd"),
        beside=("slurm_common",),
    ),
    Case("slurm_rest", beside=("slurm_common",)),
    Case("burst", {"burst_credentials": CREDENTIALS}, beside=("python_runtime",)),
    Case("pipelines", {"pipelines_config": PIPELINES}, beside=("python_runtime",)),
    Case("site_timers", beside=("python_runtime",)),
)
