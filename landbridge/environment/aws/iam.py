"""IAM settings: additional policy statements, IAM Roles Anywhere, permissions boundary; and further ingress to the
nodes.
"""

from datetime import datetime
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from landbridge.environment.base import Model, Text, Url


def _no_role(value: object) -> object:
    if isinstance(value, str) and (":role/" in value or ":instance-profile/" in value):
        raise PydanticCustomError(
            "wrong-format",
            "{arn} is not a policy: Landbridge creates the roles of nodes, which need the right to read Slurm's key and to "
            "assume the roles of jobs, and denials of data that stays on-prem",
            {"arn": value, "fix": "write the managed policies of that role: arn:aws:iam::…:policy/…"},
        )
    return value


PolicyArn = Annotated[
    str,
    StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+$"),
    BeforeValidator(_no_role),
]
#: One or several certificates, as `openssl` writes them; never a private key.
Pem = Annotated[str, StringConstraints(min_length=1, max_length=8000, strip_whitespace=True)]
PortRange = Annotated[str, StringConstraints(pattern=r"^\d{1,5}(-\d{1,5})?$")]


class Statement(Model):
    """IAM policy statement, with IAM's keys in lower case."""

    effect: Literal["Allow", "Deny"] = "Allow"
    actions: Annotated[tuple[Text, ...], Field(min_length=1)]
    resources: Annotated[tuple[Text, ...], Field(min_length=1)]
    conditions: dict[str, dict[str, Any]] = Field(
        default={}, description="condition block of IAM: operator, then key, then value"
    )
    why: Text | None = Field(default=None, description="reason; required if an action or a resource is *")


class HelperSource(Model):
    """Program aws_signing_helper from a URL, instead of a build from its Go module on the operator's machine."""

    url: Url
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Anywhere(Model):
    """IAM Roles Anywhere: an on-prem service presents a certificate of your CA and receives temporary credentials."""

    certificate: Pem = Field(
        description="public certificate of the CA, in PEM; `landbridge credentials init` writes it; the private key "
        "stays with the CA"
    )
    minutes: int = Field(default=60, ge=15, le=720, description="validity of the credentials in minutes")
    certificate_days: int = Field(default=90, ge=2, le=398, description="validity of a host's certificate in days")
    renew_days: int = Field(
        default=60,
        ge=1,
        le=397,
        description="`landbridge configure` renews a host's certificate if fewer days remain",
    )
    alarm_days: int = Field(
        default=21, ge=1, le=396, description="days before the end of a certificate from which its host reports it"
    )
    helper: HelperSource | None = Field(
        default=None, description="none: built from its Go module on the operator's machine, which needs Go and gcc"
    )


class SsmActivation(Model):
    """Hybrid activation: on-prem hosts register with Systems Manager, for sessions and patches without an open port."""

    registrations: int = Field(ge=1, le=1000, description="maximum number of hosts that may register")
    expires: datetime = Field(
        description="time with UTC offset, at most 30 days ahead; hosts that have registered stay registered"
    )


class IamSettings(Model):
    """Path and permissions boundary of the roles that Landbridge creates, and additional permissions of nodes and jobs."""

    path: Annotated[str, StringConstraints(pattern=r"^/([\w.@+=,-]+/)*$")] = Field(
        default="/", description="path of every role, for organisations that permit roles under one path only"
    )
    permissions_boundary: PolicyArn | None = Field(
        default=None, description="policy set as permissions boundary on every role"
    )
    node_policies: tuple[PolicyArn, ...] = Field(
        default=(),
        description="managed policies of the nodes' role, for agents that run as root; jobs do not have them",
    )
    node_statements: tuple[Statement, ...] = Field(
        default=(),
        description="additional policy statements of the jobs of every data class; a Deny is also in the nodes' role",
    )
    anywhere: Anywhere | None = Field(
        default=None, description="none: the site's credentials have another source (onprem.aws_credentials)"
    )
    ssm_activation: SsmActivation | None = None


class Ingress(Model):
    """Firewall rule for a source besides the on-prem site and the nodes themselves."""

    source: IPv4Network
    protocol: Literal["tcp", "udp", "icmp", "all"] = "tcp"
    ports: PortRange | None = Field(
        default=None, description="a port or a range, such as 443 or 8000-8100; required for tcp and udp"
    )
    why: Text


class Egress(Model):
    """Firewall rule for a destination of the nodes besides Landbridge's services and AWS: a license server, a database."""

    destination: IPv4Network
    protocol: Literal["tcp", "udp", "icmp", "all"] = "tcp"
    ports: PortRange | None = Field(
        default=None, description="a port or a range, such as 27000-27009; required for tcp and udp"
    )
    why: Text
