"""Rules about AWS's FIPS endpoints."""

from collections.abc import Iterator

from landbridge.catalog.aws.fips import fips
from landbridge.catalog.regimes import obligations
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, warning
from landbridge.plan.fips import fips_classes, is_closed_network
from landbridge.rules.registry import rule


@rule(suppressible=True)
def fips_in_closed_network(environment: Environment) -> Iterator[Finding]:
    """A regime that demands FIPS endpoints needs a way to them: interface endpoints answer to the standard names only.

    Hosts in a VPC without NAT use the interface endpoints at the standard names. The operator, the reaper and on-prem
    hosts use the FIPS names.
    Source: KMS Developer Guide, "Create a VPC endpoint for AWS KMS": private DNS has the standard name; a FIPS service
    (kms-fips) exists for some services only.
    """
    classes = fips_classes(environment)
    if classes and is_closed_network(environment) and environment.aws.endpoints.cloud is None:
        message = (
            f"class {classes[0]} demands {obligations()[fips().obligation]}, and nodes reach interface endpoints at their "
            "standard names"
        )
        fix = "write nat: single, or accept it with the reason of your assessor in suppress"
        related: tuple[DataPath, ...] = (("data_classes", classes[0]), ("aws", "vpc"), ("aws", "endpoints"))
        yield warning(("aws", "nat"), message, fix=fix, related=related)


@rule
def fips_custom_endpoint(environment: Environment) -> Iterator[Finding]:
    """A custom AWS endpoint is one with FIPS-validated cryptography if a regime demands it: it replaces AWS's own.

    Source: AWS SDKs and Tools Reference Guide, "Dual-stack and FIPS endpoints": an endpoint URL has precedence.
    """
    classes, endpoints = fips_classes(environment), environment.aws.endpoints
    for side in ("operator", "onprem", "cloud"):
        address = getattr(endpoints, side)
        if classes and address is not None and "fips" not in address:
            message = f"class {classes[0]} demands {obligations()[fips().obligation]}, and {address} replaces them"
            related: tuple[DataPath, ...] = (("data_classes", classes[0]),)
            fix = "remove it, or write the address of a FIPS endpoint"
            yield warning(("aws", "endpoints", side), message, fix=fix, related=related)
