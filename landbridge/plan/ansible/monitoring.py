"""Variables of the roles prometheus, node_exporter, database_exporter, dcgm_exporter and cloud_metrics."""

from typing import Any

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.plan.ansible.gpu_tools import gpu_metrics_hosts
from landbridge.plan.ansible.roles_anywhere import credential_hosts, discovery_file
from landbridge.plan.aws.access.identity import metrics_secret_name
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.monitoring import exporter_port, monitoring_host, monitors_cloud_nodes
from landbridge.plan.observability.alerts import alert_groups
from landbridge.plan.observability.cloud_targets import certificate_name, discovery_settings
from landbridge.plan.observability.pages import dashboard_pages
from landbridge.plan.observability.remote_write import remote_write_variables
from landbridge.plan.observability.scrapes import (
    OPERATOR_ACCOUNT,
    SCRAPE_ACCOUNT,
    alertmanager_settings,
    prometheus_settings,
    target_files,
)
from landbridge.plan.observability.targets import (
    DATABASES,
    LOOPBACK,
    MetricsTarget,
    loopback_address,
    metrics_targets,
    sources_of,
)
from landbridge.plan.site.mig import group_of
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE

Variables = dict[str, Any]
#: Folders of the dumps of the roles mlflow and slurm_database, and the folder of the role roles_anywhere's certificate.
_MLFLOW_DUMPS, _SLURM_DUMPS = "/var/backups/landbridge-mlflow", "/var/backups/landbridge-slurm"
#: Seconds between two readings of certificates on nodes that have nothing else to read; HostMetricsOld waits 600.
_CERTIFICATES_SECONDS = 300
_ANYWHERE = "/etc/landbridge/anywhere"
#: Certificate of the exporters of nodes in AWS, on the controller that publishes it.
CLOUD_NODES_FILE = "/etc/landbridge/aws-nodes-certificate/host.pem"


def planned_targets(environment: Environment) -> tuple[MetricsTarget, ...]:
    """Return every target of the site's Prometheus."""
    return metrics_targets(environment, gpu_metrics_hosts(environment))


def monitoring_variables(environment: Environment, endpoint: str | None = None) -> Variables:
    """Return the variables of the role prometheus; empty without a monitoring host. `endpoint`: of AWS's API, as the site sees it."""
    host = monitoring_host(environment)
    if host is None:
        return {}
    settings, gpu_hosts = environment.observability, gpu_metrics_hosts(environment)
    return {
        "prometheus_listen": f"{service_hosts(environment).addresses[host]}:{settings.port}",
        "prometheus_alertmanager_listen": f"{LOOPBACK}:{settings.alertmanager_port}",
        "prometheus_retention_days": settings.retention_days,
        "prometheus_retention_gib": settings.retention_gib,
        "prometheus_settings": prometheus_settings(environment, gpu_hosts, AUTHORITY_FILE),
        "prometheus_targets": target_files(environment, gpu_hosts),
        "prometheus_rules": alert_groups(environment, gpu_hosts),
        "prometheus_pages": dashboard_pages(environment, gpu_hosts),
        "prometheus_alertmanager_settings": alertmanager_settings(environment),
        "prometheus_certificate": HOST_FILE,
        "prometheus_authority": AUTHORITY_FILE,
        "prometheus_scrape_account": SCRAPE_ACCOUNT,
        "prometheus_operator_account": OPERATOR_ACCOUNT,
        "prometheus_environment": remote_write_variables(environment),
        "prometheus_discovery_find_links": service_hosts(environment).packages.python_find_links or "",
        "prometheus_discovery": discovery_settings(environment, endpoint, discovery_file(environment)),
    }


def cloud_metrics_variables(environment: Environment) -> Variables:
    """Return the variables of the exporters of nodes in AWS, in every image; empty if they are not monitored."""
    secret = metrics_secret_name(environment)
    if secret is None:
        return {}
    return {
        "landbridge_cloud_metrics": True,
        "cloud_metrics_region": environment.region,
        "cloud_metrics_endpoint": environment.aws.endpoints.cloud or "",
        "cloud_metrics_fips": fips_endpoints(environment, "cloud"),
        "cloud_metrics_secret": secret,
    }


def certificate_publication(environment: Environment, secret: str | None) -> Variables:
    """Return the variables of the role burst that publishes the certificate of nodes' exporters in a secret."""
    if secret is None or not monitors_cloud_nodes(environment):
        return {}
    return {
        "burst_metrics_secret": secret,
        "burst_metrics_name": certificate_name(environment),
        "burst_metrics_account": SCRAPE_ACCOUNT,
    }


def exporter_variables(environment: Environment, host: InventoryHost) -> Variables:
    """Return one host's variables of the roles node_exporter, database_exporter and dcgm_exporter; empty without a monitoring host."""
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
    if host.name in gpu_metrics_hosts(environment):
        variables |= {
            "landbridge_dcgm_exporter": True,
            "dcgm_exporter_listen": f"{host.address}:{exporter_port('dcgm')}",
            "dcgm_exporter_series": metrics_contract().exporters["dcgm"].version,
        }
        group = group_of(environment, host.name)
        if group is not None and group.mig:
            variables["dcgm_exporter_counters"] = counters(mig=True)
    return variables


def gpu_exporter_variables(environment: Environment) -> Variables:
    """Return the variables of dcgm_exporter that every node has: the counters, once for the group."""
    return (
        {"dcgm_exporter_counters": counters()}
        if gpu_metrics_hosts(environment) and monitoring_host(environment)
        else {}
    )


def gpu_exporter_of_image() -> Variables:
    """Return the variables of dcgm_exporter in an image of nodes with GPUs."""
    return {
        "landbridge_dcgm_exporter": True,
        "dcgm_exporter_series": metrics_contract().exporters["dcgm"].version,
        "dcgm_exporter_counters": counters(),
    }


def counters(mig: bool = False) -> list[dict[str, str]]:
    """Return the rows of dcgm-exporter's file of counters: every metric of the contract, and no other. `mig`: of a node
    with MIG instances.
    """
    metrics = metrics_contract().exporters["dcgm"].metrics
    return [
        {"field": name, "type": fact.type, "help": fact.description}
        for name, fact in metrics.items()
        if fact.mig or not mig
    ]


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
