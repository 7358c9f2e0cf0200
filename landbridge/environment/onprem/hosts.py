"""Operating system settings of every host: firewall, SSH, accounts, clock and kernel."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.iam import PortRange
from landbridge.environment.base import Model, Text, UserName

ServerName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+$")]
KernelKey = Annotated[str, StringConstraints(pattern=r"^(fs|kernel|net|user|vm)(\.[A-Za-z0-9_/-]+)+$")]
LdapUri = Annotated[str, StringConstraints(pattern=r"^ldaps?://[a-z0-9.-]+(:\d{1,5})?$")]
#: A group of the inventory has underscores, a host dashes.
GroupOrHost = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]


class FirewallRuleSettings(Model):
    """Firewall rule for a site's own services: monitoring, backups, browsers that open MLflow."""

    at: GroupOrHost = Field(description="a group of the inventory, such as slurm_node or mlflow, or one host")
    source: IPv4Network
    protocol: Literal["tcp", "udp"] = "tcp"
    ports: PortRange
    why: Text


class Firewall(Model):
    """nftables on every on-prem host, from the ports that its services are planned to have."""

    mode: Literal["enforce", "log", "off"] = Field(
        default="enforce",
        description="log refuses nothing and writes down what it would; in AWS security groups do this",
    )
    operators: tuple[IPv4Network, ...] = Field(
        default=(), description="where ssh may come from, besides the site's login hosts; none: from anywhere"
    )
    rules: tuple[FirewallRuleSettings, ...] = Field(default=(), description="more firewall rules, each with its reason")


class Ssh(Model):
    """SSH login of users and operators."""

    passwords: bool = Field(default=False, description="false: keys alone, at every host")
    root: Literal["no", "keys"] = Field(
        default="no", description="keys: root may log in with a key; the operators' own login is never removed"
    )
    nodes: Literal["jobs", "open"] = Field(
        default="jobs",
        description="jobs: users get into a GPU node only while they have a job there, and into that job (pam_slurm_adopt)",
    )
    nodes_without_job: tuple[UserName, ...] = Field(
        default=(),
        description="groups whose members get into GPU nodes whenever they want, besides who operates the site",
    )


class Tuning(Model):
    """Kernel settings. The profiles are in the catalogue (tuning.yaml), with the reason of each setting."""

    enabled: bool = Field(default=True, description="false: kernels stay as the distribution has them")
    kernel: Mapping[KernelKey, int | str | None] = Field(
        default={},
        description="keys of sysctl on GPU nodes, on top of the profile; null leaves one to the distribution",
    )
    huge_pages: int = Field(
        default=0, ge=0, le=1_000_000, description="of 2 MiB on each GPU node; what is set aside is no job's memory"
    )
    transparent_huge_pages: Literal["always", "madvise", "never"] | None = Field(
        default=None, description="on GPU nodes; none: as the profile says"
    )


class Directory(Model):
    """People who are in an LDAP directory: sssd asks it on every host, and sees its numbers."""

    uris: Annotated[tuple[LdapUri, ...], Field(min_length=1)] = Field(
        description="ldaps://…, or ldap://… with STARTTLS; the first that answers is asked"
    )
    base: Text = Field(description="such as dc=example,dc=org")
    members: Literal["names", "entries"] = Field(
        default="names", description="how groups name theirs: login names (RFC 2307) or entries (RFC 2307bis)"
    )
    bind_dn: Text | None = Field(
        default=None, description="as whom sssd asks, with the password in the secrets folder's file directory-password"
    )
    ca_certificate: str | None = Field(default=None, description="PEM; none: an authority that the hosts trust anyway")
    groups: tuple[UserName, ...] = Field(default=(), description="who may log in; none: everybody in the directory")
    key_attribute: Text | None = Field(
        default="sshPublicKey", description="where people's public keys are; null: not there"
    )
    min_uid: int = Field(default=1000, ge=1, le=2_000_000_000, description="what is below is the hosts' own")


class Hosts(Model):
    """The base of every host, on metal and, where it is not a network's business, in AWS."""

    hardening: bool = Field(default=True, description="false: firewall, sshd and updates are managed by other means")
    firewall: Firewall = Firewall()
    ssh: Ssh = Ssh()
    time_servers: tuple[ServerName, ...] = Field(
        default=(), description="whom chrony asks; none: hosts keep time as their distribution does"
    )
    security_updates: Literal["services", "all", "none"] = Field(
        default="services",
        description="installed by themselves, without kernel, driver and Slurm, on hosts without GPUs, on all, or on none",
    )
    tuning: Tuning = Tuning()
    directory: Directory | None = Field(default=None, description="none: people are those of `users` alone")
