"""Connections of Prometheus."""

from landbridge.plan.network.host_role import Site
from landbridge.plan.network.services.monitoring import monitoring_host


def prometheus_networks(site: Site) -> tuple[str, ...]:
    """Return the network of Prometheus' host; empty without a monitoring host that has an address."""
    host = monitoring_host(site.environment)
    return () if host is None else site.networks((host,))
