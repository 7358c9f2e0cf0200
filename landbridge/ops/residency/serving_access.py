"""Crossings of served models: from the MLflow server of their class to the model gateway, and from it to clients on nodes in AWS."""

from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import ONPREM, DataGraph, DataPlace
from landbridge.ops.residency.network_access import egress_barrier, firewall_barrier
from landbridge.plan.network.services.serving import (
    followed_services,
    model_gateway_hosts,
    serving_of,
)


def add_serving(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the services that follow a registry: the gateway has their models, and its clients get answers."""
    serving = serving_of(forms.environment)
    if serving is None:
        return
    for host in model_gateway_hosts(forms.environment):
        _add_gateway(graph, forms, host, serving.port)


def _add_gateway(graph: DataGraph, forms: CompiledForms, host: str, port: int) -> None:
    for name, service in followed_services(forms.environment).items():
        path: DataPath = ("serving", "services", name, "canary")
        title = f"served model {service.model} on {host}"
        key = graph.add(DataPlace(f"serving:{name}:{host}", title, ONPREM, service.data_class))
        for server in forms.servers:
            if server.data_class == service.data_class:
                why = "the gateway's account fetches the versions of the model"
                graph.flow(f"server:{server.name}", key, why, path, classes=(service.data_class,))
        for region in forms.networks:
            clients = firewall_barrier(forms, "model_gateway", host, port, region, ("serving", "clients"))
            egress = egress_barrier(forms, host, port, region, ("serving", "clients"))
            barriers = [egress] if clients is None else [clients, egress]
            graph.cross(key, f"nodes:{region}", barriers, classes=(service.data_class,))
