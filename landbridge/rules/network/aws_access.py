"""Rules about ways out of the VPC: what nodes must reach, and through what."""

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
    """Nodes reach every service that they need: through NAT, or through an endpoint of each.

    With gateway endpoints alone and no NAT they never get Slurm's key from Secrets Manager, and wait at boot until they are
    given back.
    Source: AWS PrivateLink guide; landbridge/catalog/endpoints.yaml, from the closed-network profile of awsome-distributed-ai.
    """
    missing = unreachable(environment)
    if missing:
        named = ", ".join(endpoint.service for endpoint in missing)
        message = f"without NAT and with gateway endpoints alone, nodes cannot reach {named}"
        related: tuple[DataPath, ...] = (("aws", "nat"), ("aws", "vpc"), ("aws", "endpoints"))
        yield error(_ENDPOINTS, message, fix="use derived, or nat: single", related=related)


@rule
def endpoints_without_dns(environment: Environment) -> Iterator[Finding]:
    """Interface endpoints need the VPC's DNS: without it, services' names lead out of the VPC, past their endpoints.

    Source: AWS PrivateLink guide, "Access an AWS service using an interface VPC endpoint", private DNS.
    """
    vpc = environment.aws.vpc
    if vpc is not None and not vpc.dns_support and mode(environment) == "derived":
        message = "interface endpoints answer under their services' names only with the VPC's DNS attributes on"
        related: tuple[DataPath, ...] = (("aws", "vpc", "dns_support"),)
        yield error(_ENDPOINTS, message, fix="turn both attributes on", related=related)


@rule
def aws_endpoints(environment: Environment) -> Iterator[Finding]:
    """Where AWS is not the public one, every place is told so: otherwise one half works with an emulation, the other with AWS.

    Source: AWS SDKs Reference Guide, "Service-specific endpoints".
    """
    endpoints, path = environment.aws.endpoints, ("aws", "endpoints")
    values = {"operator": endpoints.operator, "onprem": endpoints.onprem, "cloud": endpoints.cloud}
    named = [key for key, value in values.items() if value is not None]
    missing = [key for key, value in values.items() if value is None]
    if named and missing:
        message = f"{', '.join(named)} use{'s' * (len(named) == 1)} another AWS than {' and '.join(missing)}"
        yield warning(path, message, fix=f"name {' and '.join(missing)} too")
    for key, value in values.items():
        host = re.match(r"http://([^/:]+)", value or "")
        if host is not None and not _is_near(host[1]):
            message = f"requests with credentials go to {host[1]} in clear text"
            yield error((*path, key), message, fix="use https://")


@rule
def account_number(environment: Environment) -> Iterator[Finding]:
    """An AWS account number is not 000000000000.

    Source: Pulumi's AWS provider, allowedAccountIds.
    """
    if environment.aws.account == "0" * 12:
        yield error(("aws", "account"), "no account has the number 000000000000")


@rule(public_aws=True)
def account_missing(environment: Environment) -> Iterator[Finding]:
    """An environment names its account: a wrong profile then fails, instead of building in another account.

    Source: Pulumi's AWS provider, allowedAccountIds.
    """
    if environment.aws.account is None and environment.aws.pools and _has_account_ids(environment):
        message = "no account is named: resources are built in the account of the operator's profile"
        yield info(("aws",), message, fix='account: "123456789012"')


def _has_account_ids(environment: Environment) -> bool:
    """Return true for an environment with ids that exist in one account only."""
    ids = [environment.aws.vpc, environment.aws.iam.permissions_boundary]
    return any(one is not None for one in ids)


def _is_near(host: str) -> bool:
    """Whether a host is on this machine or in a private range; a name may be anywhere."""
    try:
        address = IPv4Address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".internal", ".local", ".localhost"))
    return address.is_loopback or any(address in own for own in (*network().private, network().carrier))
