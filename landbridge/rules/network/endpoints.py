"""Rules about VPC endpoints."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.catalog.aws.regions import services
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info
from landbridge.plan.network.endpoints import endpoint_services, mode
from landbridge.rules.environment_paths import REGION
from landbridge.rules.registry import rule

_ENDPOINTS: DataPath = ("aws", "vpc_endpoints")
#: The service of regions.yaml for each endpoint.
_BEHIND = {
    "elasticfilesystem": "efs",
    "aps-workspaces": "managed_prometheus",
    "grafana-workspace": "managed_grafana",
    "rolesanywhere": "rolesanywhere",
    "pcs": "pcs",
}


@rule
def endpoint_not_in_region(environment: Environment) -> Iterator[Finding]:
    """The region has every VPC endpoint that a closed network needs.

    Outside the commercial regions the catalogue has no list of endpoint services; this is reported as information.
    Source: the services' own lists of Regions, as in landbridge/catalog/regions.yaml; AWS PrivateLink guide, "AWS
    services that integrate".
    """
    region = regions().get(environment.region)
    if region is None or mode(environment) != "derived":
        return
    related: tuple[DataPath, ...] = (REGION, ("aws", "nat"), ("aws", "vpc"), ("aws", "endpoints"))
    interfaces = [
        endpoint_service for endpoint_service in endpoint_services(environment) if endpoint_service.kind == "interface"
    ]
    for endpoint in interfaces:
        service = _BEHIND.get(endpoint.service)
        if service in services() and service not in region.services:
            message = f"{environment.region} has no endpoint for {endpoint.service}, which is needed for {endpoint.why}"
            fix = "use nat: single, or another region"
            yield error(_ENDPOINTS, message, fix=fix, related=related)
    if region.partition != "aws" and interfaces:
        message = f"the catalogue does not record whether {environment.region} has the {len(interfaces)} VPC endpoints"
        fix = "run `landbridge preflight`, which queries AWS"
        yield info(_ENDPOINTS, message, fix=fix, related=related)
