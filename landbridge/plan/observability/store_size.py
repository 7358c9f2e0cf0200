"""Series, memory and disk of the site's Prometheus, and the cost of the same metrics in Amazon Managed Prometheus. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

from landbridge.catalog import platforms
from landbridge.catalog.observability.metrics_store import metrics_store_facts
from landbridge.environment import Environment
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.hosts import InventoryHost

_MONTH_SECONDS, _GIB = 730 * 3600, 2**30


@dataclass(frozen=True, slots=True)
class StoreSize:
    """Size of a store of metrics: series, samples in a month, memory and disk in GiB, and USD a month in AWS."""

    series: int
    monthly_samples: float
    memory_gib: float
    disk_gib: float
    managed_usd: float


def store_size(environment: Environment, gpu_hosts: Collection[str] | None = None) -> StoreSize:
    """Return the size of the store for the hosts of the environment.

    `gpu_hosts`: nodes with metrics of their GPUs; all nodes with GPUs by default. AWS keeps samples for 150 days without another setting.
    """
    facts, settings = metrics_store_facts(), environment.observability
    series = sum(_series(host, gpu_hosts is None or host.name in gpu_hosts) for host in hosts(environment))
    per_second = series / settings.scrape_seconds
    samples = per_second * _MONTH_SECONDS
    stored = samples * facts.bytes_per_sample / _GIB * min(settings.retention_days, 150) / (_MONTH_SECONDS / 86400)
    return StoreSize(
        series=series,
        monthly_samples=samples,
        memory_gib=series * facts.bytes_per_series / _GIB,
        disk_gib=per_second * settings.retention_days * 86400 * facts.bytes_per_sample / _GIB,
        managed_usd=facts.managed.ingestion_usd(samples) + stored * facts.managed.storage_usd_per_gb_month,
    )


def _series(host: InventoryHost, has_dcgm: bool) -> int:
    of = metrics_store_facts().series
    platform = platforms().get(host.platform or "")
    if platform is None:
        return of.host
    ports = sum(adapter.count for adapter in platform.adapters)
    return (
        of.host
        + of.processor * platform.cpus.cores * platform.cpus.threads
        + of.port * ports
        + of.gpu * platform.gpus.count * has_dcgm
    )
