"""Rules about VPC endpoints: that a region has them, and that what is behind them is worth it."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.catalog.aws.regions import services
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info
from landbridge.plan.network.endpoints import endpoint_services, mode
from landbridge.rules.environment_paths import REGION
from landbridge.rules.registry import rule

_ENDPOINTS: DataPath = ("aws", "vpc_endpoints")
#: Which service of regions.yaml answers behind an endpoint.
_BEHIND = {
    "eks": "eks",
    "eks-auth": "eks",
    "elasticfilesystem": "efs",
    "aps-workspaces": "managed_prometheus",
    "grafana-workspace": "managed_grafana",
    "rolesanywhere": "rolesanywhere",
    "pcs": "pcs",
}


@rule
def endpoint_not_in_region(environment: Environment) -> Iterator[Finding]:
    """Every endpoint of a closed network is one that the region has: the service behind it is there.

    Outside the commercial regions it is not recorded which endpoint services there are; that is said, not guessed.
    Source: the services' own lists of Regions, as in landbridge/catalog/regions.yaml; AWS PrivateLink guide, "AWS services that
    integrate".
    """
    region = regions().get(environment.region)
    if region is None or mode(environment) != "derived":
        return
    related: tuple[DataPath, ...] = (REGION, ("aws", "nat"), ("aws", "vpc"), ("aws", "endpoints"))
    interfaces = [one for one in endpoint_services(environment) if one.kind == "interface"]
    for endpoint in interfaces:
        service = _BEHIND.get(endpoint.service)
        if service in services() and service not in region.services:
            message = f"{environment.region} has no endpoint for {endpoint.service}, which is needed for {endpoint.why}"
            fix = "use nat: single, or another region"
            yield error(_ENDPOINTS, message, fix=fix, related=related)
    if region.partition != "aws" and interfaces:
        message = f"whether {environment.region} has endpoints for {len(interfaces)} services is not recorded"
        fix = "`landbridge preflight` asks AWS"
        yield info(_ENDPOINTS, message, fix=fix, related=related)
