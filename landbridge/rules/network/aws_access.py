"""Rules about access to AWS services: NAT, VPC endpoints, API endpoints and the account."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address

from landbridge.catalog.network import network
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.plan.network.endpoints import mode, unreachable
from landbridge.rules.registry import rule

_ENDPOINTS: DataPath = ("aws", "vpc_endpoints")


@rule
def closed_network(environment: Environment) -> Iterator[Finding]:
    """Nodes reach every AWS service that they need, through NAT or VPC endpoints.

    With gateway endpoints only and no NAT they cannot read Slurm's key from Secrets Manager, and never register.
    Source: AWS PrivateLink guide; landbridge/catalog/endpoints.yaml, from the closed-network profile of
    awsome-distributed-ai.
    """
    missing = unreachable(environment)
    if missing:
        service_names = ", ".join(endpoint.service for endpoint in missing)
        message = f"nodes cannot reach {service_names}: there are only gateway endpoints and no NAT"
        related: tuple[DataPath, ...] = (("aws", "nat"), ("aws", "vpc"), ("aws", "endpoints"))
        yield error(_ENDPOINTS, message, fix="use derived, or nat: single", related=related)


@rule
def endpoints_without_dns(environment: Environment) -> Iterator[Finding]:
    """A VPC with interface endpoints has DNS support: otherwise service names resolve to public addresses.

    Source: AWS PrivateLink guide, "Access an AWS service using an interface VPC endpoint", private DNS.
    """
    vpc = environment.aws.vpc
    if vpc is not None and not vpc.dns_support and mode(environment) == "derived":
        message = "the VPC's DNS attributes are off, so service names do not resolve to the interface endpoints"
        related: tuple[DataPath, ...] = (("aws", "vpc", "dns_support"),)
        yield error(_ENDPOINTS, message, fix="turn both attributes on", related=related)


@rule
def aws_endpoints(environment: Environment) -> Iterator[Finding]:
    """aws.endpoints has all three addresses or none, and they use https outside private networks.

    Source: AWS SDKs Reference Guide, "Service-specific endpoints".
    """
    endpoints, path = environment.aws.endpoints, ("aws", "endpoints")
    values = {"operator": endpoints.operator, "onprem": endpoints.onprem, "cloud": endpoints.cloud}
    written = [key for key, value in values.items() if value is not None]
    missing = [key for key, value in values.items() if value is None]
    if written and missing:
        message = f"aws.endpoints has {', '.join(written)}, and not {' and '.join(missing)}, which use the public AWS"
        yield warning(path, message, fix=f"write {' and '.join(missing)} too")
    for key, value in values.items():
        host = re.match(r"http://([^/:]+)", value or "")
        if host is not None and not _is_private_host(host[1]):
            message = f"requests with credentials go to {host[1]} in clear text"
            yield error((*path, key), message, fix="use https://")


@rule
def account_number(environment: Environment) -> Iterator[Finding]:
    """An AWS account number is not 000000000000.

    Source: Pulumi's AWS provider, allowedAccountIds.
    """
    if environment.aws.account == "0" * 12:
        yield error(("aws", "account"), "the account number 000000000000 does not exist")


@rule(public_aws=True)
def account_missing(environment: Environment) -> Iterator[Finding]:
    """aws.account is written: a wrong profile then fails instead of creating resources in another account.

    Source: Pulumi's AWS provider, allowedAccountIds.
    """
    if environment.aws.account is None and environment.aws.pools and _has_account_ids(environment):
        message = "aws.account is missing: resources are created in the account of the operator's profile"
        yield info(("aws",), message, fix='write account: "123456789012"')


def _has_account_ids(environment: Environment) -> bool:
    """Return true for an environment with ids that exist in one account only."""
    ids = [environment.aws.vpc, environment.aws.iam.permissions_boundary]
    return any(account_id is not None for account_id in ids)


def _is_private_host(host: str) -> bool:
    """Return true for the local host or a host of a private network."""
    try:
        address = IPv4Address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".internal", ".local", ".localhost"))
    return address.is_loopback or any(
        address in private_range for private_range in (*network().private, network().carrier)
    )
