"""Role node_exporter: metrics of every host, with those that other programs write into text files."""

from collections.abc import Iterator
from typing import Any

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site, top_group
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.monitoring import exporter_port, monitoring_host, monitors_cloud_nodes
from landbridge.plan.observability.scrapes import (
    SCRAPE_ACCOUNT,
)
from landbridge.plan.observability.targets import (
    DATABASES,
    loopback_address,
    sources_of,
)
from landbridge.plan.roles.hosts.roles_anywhere import credential_hosts
from landbridge.plan.site.prometheus_networks import prometheus_networks
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE

Variables = dict[str, Any]
#: Folders of the dumps of the roles mlflow and slurm_database, and the folder of the role roles_anywhere's certificate.
_MLFLOW_DUMPS, _SLURM_DUMPS = "/var/backups/landbridge-mlflow", "/var/backups/landbridge-slurm"
#: Seconds between two readings of certificates on nodes that have nothing else to read; HostMetricsOld waits 600.
_CERTIFICATES_SECONDS = 300
_ANYWHERE = "/etc/landbridge/anywhere"
#: Certificate of the exporters of nodes in AWS, on the controller that publishes it.
CLOUD_NODES_FILE = "/etc/landbridge/aws-nodes-certificate/host.pem"


def exporter_variables(environment: Environment, host: InventoryHost) -> Variables:
    """Return one host's variables of the roles node_exporter and database_exporter; empty without a monitoring host."""
    if monitoring_host(environment) is None:
        return {}
    certificates = {"site": HOST_FILE, "site-ca": AUTHORITY_FILE}
    if host.name == service_hosts(environment).controllers[0] and monitors_cloud_nodes(environment):
        certificates["aws-nodes"] = CLOUD_NODES_FILE
    if host.name in credential_hosts(environment):
        certificates["anywhere"] = f"{_ANYWHERE}/host.pem"
    sources = sources_of(environment, host)
    contract = metrics_contract().exporters
    variables: Variables = {
        "landbridge_monitoring": True,
        "node_exporter_listen": f"{host.address}:{exporter_port('node')}",
        "node_exporter_account": SCRAPE_ACCOUNT,
        "node_exporter_certificate": HOST_FILE,
        "node_exporter_certificates": certificates,
        "node_exporter_backups": _backups(environment, host),
        "node_exporter_sources": sources,
        "node_exporter_source_metrics": {name: sorted(contract[name].metrics) for name in sources},
        "node_exporter_probes": _probes(environment, host),
        "node_exporter_gateway": "site_gateway" in host.groups,
        **{f"database_exporter_{name}": loopback_address(name) for name in DATABASES if name in sources},
    }
    reads = ("node_exporter_backups", "node_exporter_sources", "node_exporter_probes", "node_exporter_gateway")
    if "slurm_node" in host.groups and not any(variables[name] for name in reads):
        variables["node_exporter_seconds"] = _CERTIFICATES_SECONDS
    return variables


def _backups(environment: Environment, host: InventoryHost) -> dict[str, str]:
    backups = {}
    if "slurm_database" in host.groups:
        backups["slurm"] = f"{_SLURM_DUMPS}/*-periodic-*.sql.gz"
    if "mlflow" in host.groups:
        servers = mlflow_servers(environment)
        backups |= {server.database: f"{_MLFLOW_DUMPS}/{server.database}-periodic-*.dump" for server in servers}
    return backups


def _probes(environment: Environment, host: InventoryHost) -> dict[str, str]:
    """Return the servers of MLflow, which has no metrics of its own with uvicorn."""
    if "mlflow" not in host.groups:
        return {}
    scheme = "https" if environment.mlops.mlflow.tls else "http"
    return {server.name: f"{scheme}://localhost:{server.port}/health" for server in mlflow_servers(environment)}


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if source := prometheus_networks(site):
        why = "Prometheus reads the metrics of hosts"
        yield top_group(site.environment), tcp_rule(source, exporter_port("node"), why)


ROLE = HostRole(
    host_variables=lambda site, host: exporter_variables(site.environment, host),
    firewall=_firewall,
    exporters={"host": lambda site: True, "link": lambda site: site.environment.link is not None},
)
