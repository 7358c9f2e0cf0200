"""Names across the link: what each site may ask the other's name servers for."""

from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import HostName, Model

#: At least two labels; the last is no number, so that an address is none.
DomainName = Annotated[
    str, StringConstraints(pattern=r"^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}$", max_length=200)
]


class DnsSettings(Model):
    """Names both ways: Route 53 Resolver endpoints in the VPC, and name servers of the site that forward to them."""

    zone: DomainName | None = Field(
        default=None,
        description="the cluster's names in AWS, private to the VPC and the site; none: aws. before onprem.domain",
    )
    servers: Annotated[tuple[HostName, ...], Field(max_length=6)] = Field(
        default=(),
        description="hosts that become name servers; none: the gateway (the database's host, where the gateway is a router) "
        "and the first controller, unless resolvers are named",
    )
    resolvers: Annotated[tuple[IPv4Address, ...], Field(max_length=6)] = Field(
        default=(),
        description="name servers that the site has already: AWS asks these, and who runs them adds the way back",
    )
    forward: Annotated[tuple[DomainName, ...], Field(max_length=50)] = Field(
        default=(), description="more domains that the site answers for, besides onprem.domain"
    )
    upstream: Annotated[tuple[IPv4Address, ...], Field(max_length=6)] = Field(
        default=(), description="whom the servers ask about everything else; none: the internet's own, from the root on"
    )
    reverse: bool = Field(default=True, description="names of addresses too, each site for its own ranges")
    query_logs: bool | None = Field(
        default=None,
        description="who asked for which name, kept for aws.logs.retention_days; none: where flow_logs is on",
    )
