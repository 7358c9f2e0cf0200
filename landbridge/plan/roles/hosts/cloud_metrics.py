"""Role cloud_metrics: exporters of nodes in AWS, and the certificate that the burst controller publishes for them."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.access.identity import metrics_secret_name
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site
from landbridge.plan.network.services.monitoring import monitors_cloud_nodes
from landbridge.plan.observability.cloud_targets import certificate_name
from landbridge.plan.observability.scrapes import SCRAPE_ACCOUNT


def cloud_metrics_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of the exporters of nodes in AWS, in every image; empty if they are not monitored."""
    secret = metrics_secret_name(environment)
    if secret is None:
        return {}
    return {
        "landbridge_cloud_metrics": True,
        "cloud_metrics_region": environment.region,
        "cloud_metrics_endpoint": environment.aws.endpoints.cloud or "",
        "cloud_metrics_fips": fips_endpoints(environment, "cloud"),
        "cloud_metrics_secret": secret,
    }


def certificate_publication(environment: Environment, secret: str | None) -> dict[str, Any]:
    """Return the variables of the role burst that publishes the certificate of nodes' exporters in a secret."""
    if secret is None or not monitors_cloud_nodes(environment):
        return {}
    return {
        "burst_metrics_secret": secret,
        "burst_metrics_name": certificate_name(environment),
        "burst_metrics_account": SCRAPE_ACCOUNT,
    }


def _publication(site: Site) -> dict[str, Any]:
    return {} if site.outputs is None else certificate_publication(site.environment, site.outputs.secrets.node_metrics)


ROLE = HostRole(variables={EVERYWHERE: lambda site: cloud_metrics_variables(site.environment), "burst": _publication})
