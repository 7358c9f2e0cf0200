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
#: Names of inventory groups contain underscores, host names contain dashes.
GroupOrHost = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]


class FirewallRuleSettings(Model):
    """Firewall rule for a site's other services, such as monitoring, backups or access to MLflow."""

    at: GroupOrHost = Field(description="destination: an inventory group such as slurm_node or mlflow, or one host")
    source: IPv4Network
    protocol: Literal["tcp", "udp"] = "tcp"
    ports: PortRange
    why: Text


class Firewall(Model):
    """nftables firewall on every on-prem host; the plan gives the ports of its services."""

    mode: Literal["enforce", "log", "off"] = Field(
        default="enforce",
        description="log: log packets instead of dropping them; in AWS security groups are used instead",
    )
    operators: tuple[IPv4Network, ...] = Field(
        default=(), description="source ranges for SSH, besides the site's login hosts; empty: any source"
    )
    rules: tuple[FirewallRuleSettings, ...] = Field(default=(), description="more firewall rules, each with its reason")


class Ssh(Model):
    """SSH login of users and operators."""

    passwords: bool = Field(default=False, description="permit passwords on every host; false: only keys")
    root: Literal["no", "keys"] = Field(
        default="no", description="keys: root may log in with a key; the operator's login is never removed"
    )
    nodes: Literal["jobs", "open"] = Field(
        default="jobs",
        description="jobs: users may log in to a GPU node only while they have a job on it; the session becomes "
        "part of that job (pam_slurm_adopt)",
    )
    nodes_without_job: tuple[UserName, ...] = Field(
        default=(),
        description="Unix groups whose members may log in to GPU nodes without a job, in addition to the operators",
    )


class Tuning(Model):
    """Kernel settings. The profiles are in the catalogue (tuning.yaml), with the reason of each setting."""

    enabled: bool = Field(default=True, description="false: the distribution's kernel settings are unchanged")
    kernel: Mapping[KernelKey, int | str | None] = Field(
        default={},
        description="sysctl keys of GPU nodes, in addition to the profile; null: the distribution's value",
    )
    huge_pages: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="number of 2 MiB pages on each GPU node; Slurm subtracts them from jobs' memory",
    )
    transparent_huge_pages: Literal["always", "madvise", "never"] | None = Field(
        default=None, description="on GPU nodes; none: the profile's value"
    )
    pcie: bool = Field(
        default=True,
        description="PCIe settings of on-prem GPU nodes, by platform: IOMMU pass-through, ACS off, relaxed ordering; DGX OS "
        "has its own; false: unchanged, as nodes need it that pass devices to virtual machines",
    )


class Directory(Model):
    """User accounts of an LDAP directory, read by sssd on every host with the directory's uids and gids."""

    uris: Annotated[tuple[LdapUri, ...], Field(min_length=1)] = Field(
        description="ldaps://…, or ldap://… with STARTTLS; the first server that answers is used"
    )
    base: Text = Field(description="search base, such as dc=example,dc=org")
    members: Literal["names", "entries"] = Field(
        default="names", description="members of groups: login names (RFC 2307) or entries (RFC 2307bis)"
    )
    bind_dn: Text | None = Field(
        default=None,
        description="bind DN of sssd; its password is in the file directory-password of the secrets folder",
    )
    ca_certificate: str | None = Field(
        default=None, description="CA certificate in PEM; none: a CA that the hosts trust by default"
    )
    groups: tuple[UserName, ...] = Field(
        default=(), description="groups whose members may log in; empty: all users of the directory"
    )
    key_attribute: Text | None = Field(
        default="sshPublicKey", description="attribute with users' SSH public keys; null: no keys in the directory"
    )
    min_uid: int = Field(
        default=1000, ge=1, le=2_000_000_000, description="lowest uid from the directory; lower ones are local accounts"
    )


class Hosts(Model):
    """Operating system settings of every host, on-prem and in AWS; the firewall only on-prem."""

    hardening: bool = Field(default=True, description="false: firewall, sshd and updates are managed by other means")
    firewall: Firewall = Firewall.with_defaults()
    ssh: Ssh = Ssh.with_defaults()
    time_servers: tuple[ServerName, ...] = Field(
        default=(), description="NTP servers of chrony; empty: the distribution's settings"
    )
    security_updates: Literal["services", "all", "none"] = Field(
        default="services",
        description="automatic security updates, except of kernel, driver and Slurm; services: on hosts without GPUs",
    )
    tuning: Tuning = Tuning.with_defaults()
    directory: Directory | None = Field(default=None, description="LDAP directory; none: only the accounts of `users`")
