"""Environment key `dns`: name resolution across the link."""

from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import HostName, Model

#: At least two labels; the last is not numeric, so that an IP address does not match.
DomainName = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}$", max_length=200)
]


class DnsSettings(Model):
    """DNS in both directions: Route 53 Resolver endpoints in the VPC, and forwarding name servers of the site."""

    zone: DomainName | None = Field(
        default=None,
        description="private hosted zone of the cluster's names in AWS; none: aws.<onprem.domain>",
    )
    servers: Annotated[tuple[HostName, ...], Field(max_length=6)] = Field(
        default=(),
        description="hosts for the name servers; empty: the gateway (the database host, if the gateway is a router) "
        "and the first controller, unless resolvers are set",
    )
    resolvers: Annotated[tuple[IPv4Address, ...], Field(max_length=6)] = Field(
        default=(),
        description="existing name servers of the site: AWS forwards queries to them, and their operator forwards "
        "queries to AWS",
    )
    forward: Annotated[tuple[DomainName, ...], Field(max_length=50)] = Field(
        default=(), description="more domains that the site's name servers answer, besides onprem.domain"
    )
    upstream: Annotated[tuple[IPv4Address, ...], Field(max_length=6)] = Field(
        default=(),
        description="servers to which other queries are forwarded; empty: resolution from the internet's root servers",
    )
    reverse: bool = Field(default=True, description="reverse lookup (PTR records), each site for its own ranges")
    query_logs: bool | None = Field(
        default=None,
        description="Resolver query log, kept for aws.logs.retention_days; none: as aws.logs.flow_logs",
    )
