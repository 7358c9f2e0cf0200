"""Role prometheus: Prometheus and Alertmanager of the site."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from landbridge.environment import Environment
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.monitoring import has_slurm_metrics, monitoring_host
from landbridge.plan.site.prometheus_networks import prometheus_networks
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE
from landbridge.plan.slurm_ports import slurm_ports

if TYPE_CHECKING:
    from landbridge.plan.observability.targets import MetricsTarget


def planned_targets(environment: Environment) -> "tuple[MetricsTarget, ...]":
    """Return every target of the site's Prometheus."""
    from landbridge.plan.observability.targets import metrics_targets
    from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts

    return metrics_targets(environment, gpu_metrics_hosts(environment))


def monitoring_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of the role prometheus; empty without a monitoring host."""
    from landbridge.plan.observability.alerts import alert_groups
    from landbridge.plan.observability.cloud_targets import discovery_settings
    from landbridge.plan.observability.pages import dashboard_pages
    from landbridge.plan.observability.remote_write import remote_write_variables
    from landbridge.plan.observability.scrapes import (
        OPERATOR_ACCOUNT,
        SCRAPE_ACCOUNT,
        alertmanager_settings,
        prometheus_settings,
        target_files,
    )
    from landbridge.plan.observability.targets import LOOPBACK
    from landbridge.plan.roles.hosts.roles_anywhere import discovery_file
    from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts

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
        "prometheus_discovery": discovery_settings(environment, aws_endpoint(environment), discovery_file(environment)),
    }


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    environment, source = site.environment, prometheus_networks(site)
    if not source:
        return
    if has_slurm_metrics(environment):
        why = "Prometheus reads Slurm's metrics"
        yield "slurm_controller", tcp_rule(source, slurm_ports(environment)[0], why)
    operators = tuple(map(str, environment.hosts.firewall.operators)) or (str(site.services.cidr),)
    yield ROLE.group, tcp_rule(operators, environment.observability.port, "operators and dashboards reach Prometheus")


ROLE = HostRole(
    group="monitoring",
    place=130,
    members=lambda environment, served: [name for name in (monitoring_host(environment),) if name is not None],
    variables={"monitoring": lambda site: monitoring_variables(site.environment)},
    firewall=_firewall,
)
