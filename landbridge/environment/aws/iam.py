"""IAM settings: more statements for roles, IAM Roles Anywhere, permissions boundary, and further ingress to the
nodes.
"""

from datetime import datetime
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text

PolicyArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+$")]
#: One certificate or several, as `openssl` writes them; a private key has no place here.
Pem = Annotated[str, StringConstraints(min_length=1, max_length=8000, strip_whitespace=True)]
PortRange = Annotated[str, StringConstraints(pattern=r"^\d{1,5}(-\d{1,5})?$")]


class Statement(Model):
    """IAM policy statement, with IAM's keys in lower case."""

    effect: Literal["Allow", "Deny"] = "Allow"
    actions: Annotated[tuple[Text, ...], Field(min_length=1)]
    resources: Annotated[tuple[Text, ...], Field(min_length=1)]
    conditions: dict[str, dict[str, Any]] = Field(default={}, description="operator, then key, then value")
    why: Text | None = Field(default=None, description="needed where an action or a resource is *")


class Anywhere(Model):
    """IAM Roles Anywhere: an on-prem service shows a certificate of your own CA, and gets credentials that end by themselves."""

    certificate: Pem = Field(description="of the CA, in PEM; it is public. Its private key stays with the CA")
    minutes: int = Field(default=60, ge=15, le=720, description="how long credentials hold")


class SsmActivation(Model):
    """Lets on-prem machines register with AWS Systems Manager, for sessions and patches without an open port."""

    registrations: int = Field(ge=1, le=1000, description="how many machines may register")
    expires: datetime = Field(description="with its offset; 30 days ahead at most. Machines that registered stay")


class IamSettings(Model):
    """Names and limits of the roles that Landbridge makes, and what nodes may do besides."""

    path: Annotated[str, StringConstraints(pattern=r"^/([\w.@+=,-]+/)*$")] = Field(
        default="/", description="of every role; organisations that allow roles under one path only set it"
    )
    permissions_boundary: PolicyArn | None = Field(default=None, description="on every role")
    node_policies: tuple[PolicyArn, ...] = Field(default=(), description="managed policies on the nodes' role")
    node_statements: tuple[Statement, ...] = Field(default=(), description="what the nodes' role may do besides")
    anywhere: Anywhere | None = Field(default=None, description="none: the site's credentials are set by hand")
    ssm_activation: SsmActivation | None = None


class Ingress(Model):
    """Firewall rule for a source besides the on-prem site and the nodes themselves."""

    source: IPv4Network
    protocol: Literal["tcp", "udp", "icmp", "all"] = "tcp"
    ports: PortRange | None = Field(default=None, description="443, or 8000-8100; tcp and udp need them")
    why: Text
