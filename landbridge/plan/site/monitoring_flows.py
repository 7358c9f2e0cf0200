"""Connections of monitoring: from Prometheus to its targets, from operators to Prometheus, and from hosts to the log store."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.network.hosts import hosts, service_hosts, top_group
from landbridge.plan.network.services.log_store import log_store_host, ships_cloud_logs
from landbridge.plan.network.services.monitoring import exporter_port, has_slurm_metrics, monitoring_host
from landbridge.plan.network.services.serving import measured_slots, model_gateway_hosts
from landbridge.plan.other_regions import aws_ranges
from landbridge.plan.slurm_ports import slurm_ports

#: Inventory group, networks of the clients, port and reason.
MonitoringFlow = tuple[str, tuple[str, ...], str, str]


def log_flows(environment: Environment) -> Iterator[MonitoringFlow]:
    """Yield the connections to the log store: from the site's hosts, and from nodes in AWS if they ship. No log leaves the site."""
    if log_store_host(environment) is None:
        return
    clients = (str(service_hosts(environment).cidr), *(f"{host.address}/32" for host in hosts(environment)))
    port = str(environment.observability.logs.port)
    yield "log_store", clients, port, "hosts of the site send their logs"
    if ships_cloud_logs(environment):
        yield "log_store", tuple(map(str, aws_ranges(environment))), port, "nodes in AWS send their logs"


def monitoring_flows(environment: Environment) -> Iterator[MonitoringFlow]:
    """Yield the connections; none without a monitoring host. Alertmanager is on the monitoring host's loopback."""
    host, served = monitoring_host(environment), service_hosts(environment)
    if host is None or host not in served.addresses:
        return
    source = (f"{served.addresses[host]}/32",)
    yield top_group(environment), source, str(exporter_port("node")), "Prometheus reads the metrics of hosts"
    yield "slurm_node", source, str(exporter_port("dcgm")), "Prometheus reads the metrics of GPUs"
    if has_slurm_metrics(environment):
        yield "slurm_controller", source, slurm_ports(environment)[0], "Prometheus reads Slurm's metrics"
    for port in sorted({slot.port for slot in measured_slots(environment)}):
        yield "model_server", source, str(port), "Prometheus reads the metrics of model servers"
    if model_gateway_hosts(environment):
        yield (
            "model_gateway",
            source,
            str(exporter_port("model_gateway")),
            "Prometheus reads the model gateway's metrics",
        )
    operators = tuple(map(str, environment.hosts.firewall.operators)) or (str(served.cidr),)
    yield "monitoring", operators, str(environment.observability.port), "operators and dashboards reach Prometheus"
