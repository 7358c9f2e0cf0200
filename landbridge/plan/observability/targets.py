"""Targets of Prometheus: each exporter of each host, with its labels. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.plan.network.hosts import InventoryHost, hosts
from landbridge.plan.network.monitoring import exporter_port, has_slurm_metrics, monitoring_host
from landbridge.plan.slurm_ports import slurm_ports

#: Host of a target's `node` label is the name that Slurm and the inventory use.
LOOPBACK = "127.0.0.1"


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
    jobs = {target.job for target in metrics_targets(environment, gpu_hosts)}
    if not jobs:
        return frozenset()
    through_files = {"host"}
    if environment.link is not None:
        through_files.add("link")
    if burst_source(environment) is not None:
        through_files.add("burst")
    return frozenset(jobs | through_files)


def burst_source(environment: Environment) -> str | None:
    """Return the URL of the burst controller's metrics on its host's loopback; None without them."""
    port = environment.burst.metrics_port
    return f"http://{LOOPBACK}:{port}/metrics" if environment.aws.pools and port is not None else None


def role_of(host: InventoryHost) -> str:
    """Return the label `role` of a host: its first group below that of all hosts, so that it has one value."""
    return next(iter(host.groups[1:]), "none")


def _targets(environment: Environment, gpu_hosts: Collection[str]) -> Iterator[MetricsTarget]:
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
    settings, host_name = environment.observability, monitoring_host(environment)
    for host in monitored:
        if host.name == host_name:
            labels = {"instance": host.name}
            yield MetricsTarget("prometheus", f"{host.address}:{settings.port}", labels)
            yield MetricsTarget("alertmanager", f"{LOOPBACK}:{settings.alertmanager_port}", labels)


def _labels(host: InventoryHost) -> dict[str, str]:
    labels = {"instance": host.name, "node": host.name, "role": role_of(host)}
    return labels | {key: value for key, value in (("rack", host.rack), ("platform", host.platform)) if value}
