"""Role dcgm_exporter: metrics of GPUs."""

from collections.abc import Iterator
from typing import Any

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.services.monitoring import exporter_port, monitoring_host
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from landbridge.plan.site.mig import group_of
from landbridge.plan.site.prometheus_networks import prometheus_networks


def gpu_exporter_host_variables(environment: Environment, host: InventoryHost) -> dict[str, Any]:
    """Return one host's variables; empty for a host without DCGM, and without a monitoring host."""
    if monitoring_host(environment) is None or host.name not in gpu_metrics_hosts(environment):
        return {}
    variables = {
        "landbridge_dcgm_exporter": True,
        "dcgm_exporter_listen": f"{host.address}:{exporter_port('dcgm')}",
        "dcgm_exporter_series": metrics_contract().exporters["dcgm"].version,
    }
    group = group_of(environment, host.name)
    return variables | ({"dcgm_exporter_counters": counters(mig=True)} if group is not None and group.mig else {})


def gpu_exporter_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of dcgm_exporter that every node has: the counters, once for the group."""
    return (
        {"dcgm_exporter_counters": counters()}
        if gpu_metrics_hosts(environment) and monitoring_host(environment)
        else {}
    )


def gpu_exporter_of_image() -> dict[str, Any]:
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


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if source := prometheus_networks(site):
        yield "slurm_node", tcp_rule(source, exporter_port("dcgm"), "Prometheus reads the metrics of GPUs")


ROLE = HostRole(
    variables={"slurm_node": lambda site: gpu_exporter_variables(site.environment)},
    host_variables=lambda site, host: gpu_exporter_host_variables(site.environment, host),
    firewall=_firewall,
)
