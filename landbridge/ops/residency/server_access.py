"""Crossings of hosts of the site: MLflow's servers, and the data mover between on-prem storage and the hub."""

from collections.abc import Iterator

from landbridge.findings import DataPath
from landbridge.ops.residency.class_policy import ClassPolicy
from landbridge.ops.residency.compiled import CompiledForms, MlflowForm
from landbridge.ops.residency.graph import ONPREM, Barrier, DataGraph, DataPlace
from landbridge.ops.residency.iam_access import reads, writes
from landbridge.ops.residency.network_access import egress_barrier, firewall_barrier, overlap
from landbridge.plan.network.hosts import service_hosts

_MLFLOW: DataPath = ("mlops", "mlflow")


def add_servers(graph: DataGraph, forms: CompiledForms, policies: dict[str, ClassPolicy]) -> None:
    """Add MLflow's servers: their jobs, their artifact stores, and their clients in AWS."""
    host = service_hosts(forms.environment).mlops
    stored = {server.stores_in for server in forms.servers}
    for server in forms.servers:
        title = f"MLflow server {server.name} on {host}"
        key = graph.add(DataPlace(f"server:{server.name}", title, forms.services_location, server.data_class))
        for account, uri in forms.tracking.items():
            if uri == server.uri:
                path: DataPath = ("scheduler", "accounts", account, "data_class")
                for location in (ONPREM, *forms.networks):
                    graph.flow(f"jobs:{account}@{location}", key, f"MLFLOW_TRACKING_URI is {uri}", path)
        _store(graph, forms, server, key, stored)
        policy = policies.get(server.data_class)
        if forms.services_location == ONPREM and policy is not None and not policy.regions:
            for region in forms.networks:
                graph.cross(key, f"nodes:{region}", _client_barriers(forms, server, host, region))


def add_mover(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the data mover. Its role is one for all classes that it moves: its configuration separates these."""
    role, served = forms.roles.get("mover"), service_hosts(forms.environment)
    if role is None:
        return
    host = served.storage or served.mlops
    onprem = ["home", *(f"share:{name}" for name in forms.environment.storage.site_shares)]
    for data_class in sorted(forms.moved):
        key = graph.add(DataPlace(f"mover:{data_class}", f"data mover of {data_class} on {host}", ONPREM, data_class))
        for source in onprem:
            why = "it copies the class from the site's file systems"
            graph.flow(source, key, why, ("data_classes", data_class), classes=(data_class,))
        class_bucket = f"bucket:{data_class}"
        for target in [class_bucket] if class_bucket in forms.buckets else forms.buckets:
            graph.cross(key, target, writes(role, forms.buckets[target]))
    place = graph.add(DataPlace(f"host:{host}", f"host {host}, with the role mover", ONPREM))
    for key, bucket in forms.buckets.items():
        graph.cross(key, place, reads(role, bucket))


def _store(graph: DataGraph, forms: CompiledForms, server: MlflowForm, key: str, stored: set[str | None]) -> None:
    """Add the crossings of the role hub. Its servers share it: their own checks separate the classes that they store."""
    role = forms.roles.get("hub")
    if server.stores_in is None:
        return
    store = f"bucket:{server.stores_in}"
    if role is None:
        graph.flow(key, store, "it stores artifacts there, with the site's own credentials", _MLFLOW)
        return
    for bucket_key, bucket in forms.buckets.items():
        if bucket_key == store or bucket.data_class not in stored:
            graph.cross(key, bucket_key, writes(role, bucket))
            graph.cross(bucket_key, key, reads(role, bucket))


def _client_barriers(forms: CompiledForms, server: MlflowForm, host: str, region: str) -> Iterator[Barrier]:
    """Yield the barriers between a server of data that must stay on-prem and clients on nodes of a region."""
    path: DataPath = ("data_classes", server.data_class, "sites")
    firewall = firewall_barrier(forms, "mlflow", host, server.port, region, path)
    if firewall is not None:
        yield firewall
    accepts = not server.sources or overlap(server.sources, forms.networks[region])
    sources = ", ".join(map(str, server.sources)) or "any network"
    yield Barrier("server", accepts, f"it accepts requests from {sources}", path)
    yield egress_barrier(forms, host, server.port, region, path)
