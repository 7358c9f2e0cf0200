"""Targets in AWS: settings of their discovery, and the scrapes of nodes that share one certificate. Pure."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.monitoring import cloud_exporters, exporter_port

#: Folder of the target files that the service landbridge-discovery writes.
DISCOVERY_FOLDER = "/var/lib/landbridge-discovery"
#: Landbridge's choice: two calls a minute for each region. EC2 permits far more calls of DescribeInstances.
_SECONDS = 30


def certificate_name(environment: Environment) -> str:
    """Return the name in the certificate that all nodes in AWS have: it names no node, because nodes come and go."""
    return f"aws-nodes.{service_hosts(environment).domain}"


def discovery_settings(environment: Environment, endpoint: str | None, credentials_file: str | None) -> dict[str, Any]:
    """Return the settings of the service landbridge-discovery; empty if no node in AWS is monitored."""
    exporters = cloud_exporters(environment)
    if not exporters:
        return {}
    return {
        "cluster": environment.name,
        "regions": [environment.region, *environment.aws.other_regions],
        "exporters": {job: {"port": exporter_port(job), "pools": list(pools)} for job, pools in exporters.items()},
        "seconds": _SECONDS,
        "endpoint": endpoint,
        "credentials_file": credentials_file,
        "fips": fips_endpoints(environment, "onprem"),
    }


def cloud_job(environment: Environment, job: str, scrape: dict[str, Any]) -> dict[str, Any]:
    """Return the scrape of an exporter of nodes in AWS: `scrape` of the site's hosts, with other targets and another name in
    the certificate."""
    return {
        **scrape,
        "job_name": f"aws-{job}",
        "tls_config": {**scrape["tls_config"], "server_name": certificate_name(environment)},
        "file_sd_configs": [{"files": [f"{DISCOVERY_FOLDER}/{job}.json"]}],
        # The queries of alerts and dashboards are the same for both sites.
        "relabel_configs": [{"target_label": "job", "replacement": job}],
    }
