"""Crossings of served models: from the MLflow server of their class to the model gateway, and from it to clients on nodes in AWS."""

from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import ONPREM, Barrier, DataGraph, DataPlace
from landbridge.ops.residency.network_access import egress_barrier, firewall_barrier
from landbridge.plan.network.services.serving import (
    cloud_model_servers,
    followed_services,
    model_gateway_hosts,
    serving_of,
)
from landbridge.plan.serving.gateway import gateway_settings


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
        _add_model_servers(graph, forms, key, name)
        for region in forms.networks:
            clients = firewall_barrier(forms, "model_gateway", host, port, region, ("serving", "clients"))
            egress = egress_barrier(forms, host, port, region, ("serving", "clients"))
            barriers = [egress] if clients is None else [clients, egress]
            graph.cross(key, f"nodes:{region}", barriers, classes=(service.data_class,))


def _add_model_servers(graph: DataGraph, forms: CompiledForms, gateway: str, name: str) -> None:
    """Add the model servers in AWS: the gateway gives them model folders of its export, and requests of clients."""
    environment = forms.environment
    service, settings = followed_services(environment)[name], gateway_settings(environment)
    if settings is None:
        return
    for host in cloud_model_servers(environment):
        place = DataPlace(f"model-server:{host}", f"model server {host} in {environment.region}", environment.region)
        key = graph.add(place)
        path: DataPath = ("serving", "services", name, "replicas")
        exported = any(path_of.endswith(f"/models/{service.model}/") for path_of in settings.away_paths)
        why = f"HAProxy {'gives' if exported else 'refuses'} hosts in AWS the folders of {service.model}"
        graph.cross(gateway, key, [Barrier("export of models", exported, why, path)], classes=(service.data_class,))
        sent = any(each.host == host for row in settings.services if row.name == name for each in row.servers)
        why = f"HAProxy {'has' if sent else 'has no'} server of {name} on it"
        graph.cross(gateway, key, [Barrier("servers of HAProxy", sent, why, path)], classes=(service.data_class,))
