"""Role model_server: model servers, one process for each slot of a service."""

from collections.abc import Iterator
from typing import Any

from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.services.serving import (
    measured_slots,
    model_gateway_hosts,
    model_server_hosts,
    model_slots,
)
from landbridge.plan.site.prometheus_networks import prometheus_networks


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    from landbridge.plan.serving.follow import model_host_variables
    from landbridge.plan.serving.model_servers import model_server_variables

    return model_server_variables(site.environment, host.name) | model_host_variables(site.environment, host.name)


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if source := prometheus_networks(site):
        for port in sorted({slot.port for slot in measured_slots(site.environment)}):
            yield ROLE.group, tcp_rule(source, port, "Prometheus reads the metrics of model servers", to_serving=True)
    if gateways := site.networks(model_gateway_hosts(site.environment)):
        ports = tuple(str(port) for port in sorted({slot.port for slot in model_slots(site.environment)}))
        why = "the model gateway reaches model servers"
        yield ROLE.group, FirewallRule(gateways, "tcp", ports, why, to_serving=True)


ROLE = HostRole(
    group="model_server",
    place=150,
    members=lambda environment, served: model_server_hosts(environment),
    host_variables=_host_variables,
    firewall=_firewall,
)
