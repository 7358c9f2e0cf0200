"""Parts of an environment without metrics, and the reason."""

from collections.abc import Collection, Iterator

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.network.services.monitoring import has_slurm_metrics, monitoring_host
from landbridge.plan.network.services.serving import serving_of


def unmonitored(environment: Environment, gpu_hosts: Collection[str]) -> Iterator[tuple[DataPath, str]]:
    """Yield the parts of which Prometheus has no metrics of their own, with the reason; none without a monitoring host.

    `gpu_hosts`: the hosts with DCGM.
    """
    if monitoring_host(environment) is None:
        return
    version = environment.scheduler.slurm.version
    if not has_slurm_metrics(environment):
        reason = (
            f"Slurm {version} has no metrics while PrivateData is set, which pools in AWS need"
            if version == "25.11"
            else f"Slurm {version} has no metrics: they exist since 25.11, and with pools in AWS since 26.05"
        )
        yield ("scheduler", "slurm", "version"), f"{reason}; whether slurmctld runs is seen by its systemd unit"
    for number, group in enumerate(environment.node_groups):
        if group.platform in platforms() and not set(hostlist.expand(group.hosts)) & set(gpu_hosts):
            reason = f"Landbridge does not install DCGM on {group.hosts}: no alert sees faults of its GPUs"
            yield ("onprem", "nodes", number), reason
    for number, pool in enumerate(environment.aws.pools):
        source = environment.aws.images.get(pool.image or "")
        if source is None or source.build is None:
            reason = (
                f"Landbridge does not build the image {pool.image}: its nodes have metrics only if it has the exporters"
            )
            yield ("aws", "pools", number, "image"), reason
    serving = serving_of(environment)
    for name, service in serving.services.items() if serving is not None else ():
        if service.runtime != "onnx":
            reason = (
                f"the contract has no metrics of {service.runtime}: latency, errors and drift of {name} are not seen"
            )
            yield ("serving", "services", name, "runtime"), reason
