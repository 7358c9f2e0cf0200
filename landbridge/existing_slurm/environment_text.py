"""Environment file for a Slurm that runs already: its hosts and addresses, and the pools of the request."""

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from landbridge.existing_slurm.changes import own_keys
from landbridge.existing_slurm.cluster import ExistingCluster
from landbridge.existing_slurm.hosts import controllers, known_addresses
from landbridge.existing_slurm.obstacles.programs import SEVERAL_PROLOGS
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.plan.slurm.existing import SETTINGS

_DEFAULT_CLASS = "internal"
#: Folders of the operating system and of the role slurm_common.
_PRESENT_FOLDERS = frozenset(
    {"/run", "/tmp", "/var/lib", "/var/lib/slurm", "/var/log", "/var/log/slurm", "/var/run", "/var/spool", "/var/tmp"}
)


def environment_text(cluster: ExistingCluster, request: AdoptRequest) -> str:
    """Return the text of the environment file."""
    classes = dict.fromkeys(request.accounts.values()) or {_DEFAULT_CLASS: None}
    names = list(controllers(cluster))
    database = cluster.value("AccountingStorageHost").casefold()
    services = {
        "controller": names,
        "database": names[0] if database in ("", "localhost") else database,
        "login": list(request.logins) or names[:1],
        "storage": request.gateway,
        "gateway": request.gateway,
        "mlops": request.gateway,
    }
    addresses = _addresses(cluster, request, services)
    lines = [
        "# yaml-language-server: $schema=environment.schema.json",
        f"# Written by `landbridge adopt` from {posixpath.basename(cluster.conf)} of the Slurm cluster "
        f"{cluster.value('ClusterName', 'unknown')}.",
        "config:",
        f"  aws:region: {request.region}",
        "  landbridge:environment:",
        f"    owner: {_flow(request.owner)}",
        "    state: {backend: local}   # of Pulumi, on this machine; for several operators: docs/how-to/share-the-state.md",
        "    data_classes:",
        *(f"      {name}: {{sites: [onprem, aws]}}" for name in classes),
        "    onprem:",
        "      # `landbridge credentials init` replaces this by IAM Roles Anywhere.",
        "      aws_credentials: files",
        f"      cidr: {request.onprem_cidr}",
        "      # Landbridge configures the gateway, and on the controllers only the burst controller.",
        "      existing_slurm:",
        *(f"        {key}: {_flow(value)}" for key, value in _existing(cluster, request).items() if value),
        "      # Landbridge runs nothing on database, storage and mlops; nodes in AWS get the names and addresses.",
        f"      services: {_flow(services)}",
        "      addresses:",
        *(f"        {name}: {address}" for name, address in addresses.items()),
        "    aws:",
        f"      cidr: {request.aws_cidr}",
        "      nat: single",
        "      images: {node: {build: {}}}",
        "      pools:",
        *(
            f"        - {{name: {pool.name}, instance: {pool.instance}, image: node, max_nodes: {pool.max_nodes}, "
            "capacity: [{kind: on_demand}], suspend_after: 300}"
            for pool in request.pools
        ),
        f"    link: {{kind: vpn, gateway_address: {request.gateway_address}, onprem_asn: {request.asn}}}",
        "    storage:",
        *_home(request),
        "    scheduler:",
        "      slurm:",
        f"        version: {_flow(request.version)}",
        *_release(request),
        "        # Built with `landbridge packages slurm`: replace address and key by those of your own repository.",
        "        packaging: schedmd",
        "        packages_mirror: http://mirror.example.org/slurm",
        "        packages_key: the text of key.asc in that repository",
        f"      auth: {'slurm' if cluster.value('AuthType').casefold() == 'auth/slurm' else 'munge'}",
        "      accounts:",
        *(f"        {name}: {{data_class: {data_class}}}" for name, data_class in request.accounts.items()),
    ]
    if request.monthly_usd is not None:
        lines.append(f"    budget: {{monthly_usd: {request.monthly_usd}, hard: true}}")
    return "\n".join(lines) + "\n"


def _existing(cluster: ExistingCluster, request: AdoptRequest) -> dict[str, Any]:
    plugin = cluster.value("TopologyPlugin").casefold()
    topology = "yaml" if cluster.topology_yaml else "tree" if plugin == "topology/tree" else "flat"
    return {
        "cluster": cluster.value("ClusterName", "unknown"),
        "uid": request.uid,
        "node_folders": _node_folders(cluster),
        "srun_ports": cluster.value("SrunPortRange") or None,
        "state": cluster.value("StateSaveLocation", "/var/spool"),
        "sets": list(own_keys(cluster, SETTINGS, request.version >= SEVERAL_PROLOGS)),
        "topology": topology,
    }


def _node_folders(cluster: ExistingCluster) -> list[str]:
    """Return the folders that slurmd needs and does not create itself, without folders that every system has.

    Source: slurmd.c, _set_slurmd_spooldir: slurmd creates the last folder of SlurmdSpoolDir only, else it ends.
    """
    paths = [cluster.value(key) for key in ("SlurmdSpoolDir", "SlurmdLogFile", "SlurmdPidFile")]
    folders = [posixpath.dirname(path) for path in paths if path.startswith("/")]
    return [folder for folder in dict.fromkeys(folders) if folder not in _PRESENT_FOLDERS and "%" not in folder]


def _addresses(cluster: ExistingCluster, request: AdoptRequest, services: Mapping[str, Any]) -> dict[str, str]:
    """Return the addresses of the service hosts first, then of the nodes."""
    known = {**request.addresses, **known_addresses(cluster, request)}
    hosts = [*services["controller"], services["database"], *services["login"], services["gateway"]]
    nodes = [name.casefold() for name in cluster.node_names]
    return {name: str(known[name]) for name in dict.fromkeys([*hosts, *nodes]) if name in known}


def _home(request: AdoptRequest) -> list[str]:
    if request.home is not None:
        host, export = request.home
        return [f"      home: {{kind: external_nfs, host: {host}, export: {export}, on_cloud_nodes: true}}"]
    return [
        "      # Not mounted in AWS: give --home SERVER:/EXPORT, or write host and export here with on_cloud_nodes: true.",
        f"      home: {{kind: external_nfs, host: {request.gateway}, export: /home, on_cloud_nodes: false}}",
    ]


def _release(request: AdoptRequest) -> list[str]:
    """Return the release of the nodes' packages: slurmd may not be newer than slurmctld."""
    return [f"        release: {_flow(request.release)}"] if request.release.count(".") == 2 else []


def _flow(value: Any) -> str:
    """Return a value in YAML's flow style, which contains JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
