"""Targets of Prometheus: each exporter of each host, with its labels. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment, ModelService
from landbridge.plan.network.host_role import group_roles, host_roles, hosts, site_of
from landbridge.plan.network.hosts import InventoryHost
from landbridge.plan.network.services.monitoring import (
    cloud_exporters,
    exporter_port,
    has_slurm_metrics,
    monitoring_host,
)
from landbridge.plan.network.services.serving import (
    measured_slots,
    model_gateway_hosts,
    serving_of,
)
from landbridge.plan.slurm_ports import slurm_ports

#: Address of servers on the monitoring host itself. The label `node` of other targets is the name that Slurm and the inventory use.
LOOPBACK = "127.0.0.1"
#: Exporters of databases, on the loopback of their hosts.
DATABASES = ("postgresql", "mariadb")


@dataclass(frozen=True, slots=True)
class MetricsTarget:
    """Target: the job, the address with its port, and the labels of its metrics."""

    job: str
    address: str
    labels: Mapping[str, str]


def metrics_targets(environment: Environment, gpu_hosts: Collection[str]) -> tuple[MetricsTarget, ...]:
    """Return every target; none without a monitoring host. `gpu_hosts`: the hosts with DCGM."""
    if monitoring_host(environment) is None:
        return ()
    return tuple(_targets(environment, gpu_hosts))


def planned_exporters(environment: Environment, gpu_hosts: Collection[str]) -> frozenset[str]:
    """Return the exporters whose metrics exist in this environment, those through node exporter's text files included."""
    jobs = {target.job for target in metrics_targets(environment, gpu_hosts)} | set(cloud_exporters(environment))
    if not jobs:
        return frozenset()
    site = site_of(environment)
    through_files = {
        name for role in host_roles().values() for name, has_exporter in role.exporters.items() if has_exporter(site)
    }
    return frozenset(jobs | through_files)


def sources_of(environment: Environment, host: InventoryHost) -> dict[str, str]:
    """Return the URL of each server on a host's loopback whose metrics node exporter copies, by exporter."""
    copied = [name for role in group_roles().values() if role.group in host.groups for name in role.exporters]
    sources = {name: f"http://{loopback_address(name)}/metrics" for name in DATABASES if name in copied}
    burst = burst_source(environment)
    return sources | ({"burst": burst} if burst is not None and "burst" in copied else {})


def loopback_address(exporter: str) -> str:
    """Return address and port of an exporter on its host's loopback. Raises KeyError for another one."""
    port = metrics_contract().exporters[exporter].loopback
    if port is None:
        raise KeyError(exporter)
    return f"{LOOPBACK}:{port}"


def monitored_services(environment: Environment) -> dict[str, ModelService]:
    """Return the services whose model servers are targets; none without a monitoring host."""
    serving = serving_of(environment)
    if serving is None or monitoring_host(environment) is None:
        return {}
    measured = {slot.service for slot in measured_slots(environment)}
    return {name: service for name, service in serving.services.items() if name in measured}


def burst_source(environment: Environment) -> str | None:
    """Return the URL of the burst controller's metrics on its host's loopback; None without them."""
    port = environment.burst.metrics_port
    return f"http://{LOOPBACK}:{port}/metrics" if environment.aws.pools and port is not None else None


def role_of(host: InventoryHost) -> str:
    """Return the label `role` of a host: its first group below the group of all hosts, so that it has one value."""
    return next(iter(host.groups[1:]), "none")


def _targets(environment: Environment, gpu_hosts: Collection[str]) -> Iterator[MetricsTarget]:
    # Also those in AWS that the model gateway stops: alerts ask its service which of them should run.
    monitored = hosts(environment)
    for host in monitored:
        yield MetricsTarget("node", f"{host.address}:{exporter_port('node')}", _labels(host))
    for host in monitored:
        if host.name in gpu_hosts:
            yield MetricsTarget("dcgm", f"{host.address}:{exporter_port('dcgm')}", _labels(host))
    for host in monitored:
        if has_slurm_metrics(environment) and "slurm_controller" in host.groups:
            # Without `node`: that label of Slurm's metrics is the node that they describe.
            yield MetricsTarget("slurm", f"{host.address}:{slurm_ports(environment)[0]}", {"instance": host.name})
    yield from _serving_targets(environment, monitored)
    settings, host_name = environment.observability, monitoring_host(environment)
    for host in monitored:
        if host.name == host_name:
            labels = {"instance": host.name}
            yield MetricsTarget("prometheus", f"{host.address}:{settings.port}", labels)
            yield MetricsTarget("alertmanager", f"{LOOPBACK}:{settings.alertmanager_port}", labels)


def _serving_targets(environment: Environment, monitored: Collection[InventoryHost]) -> Iterator[MetricsTarget]:
    by_name = {host.name: host for host in monitored}
    for slot in measured_slots(environment):
        if slot.host not in by_name:
            continue
        host = by_name[slot.host]
        labels = {**_labels(host), "service": slot.service, "slot": slot.slot}
        yield MetricsTarget("model_server", f"{host.address}:{slot.port}", labels)
    for gateway in (by_name[name] for name in model_gateway_hosts(environment) if name in by_name):
        yield MetricsTarget("model_gateway", f"{gateway.address}:{exporter_port('model_gateway')}", _labels(gateway))


def _labels(host: InventoryHost) -> dict[str, str]:
    labels = {"instance": host.name, "node": host.name, "role": role_of(host), "site": host.site}
    return labels | {key: value for key, value in (("rack", host.rack), ("platform", host.platform)) if value}
