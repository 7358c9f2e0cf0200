"""Environment key `aws.services`: the cluster's services in AWS, for an environment without an on-prem site."""

from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.aws.pool import ImageId
from landbridge.environment.base import HostName, Model, Text, Zone
from landbridge.environment.onprem.onprem import Access, PackageSources

DatabaseClass = Annotated[str, StringConstraints(pattern=r"^db\.[a-z0-9]+\.[a-z0-9]+$")]
#: One line of authorized_keys, as ssh-keygen writes it into a file *.pub.
PublicKey = Annotated[str, StringConstraints(pattern=r"^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+( [ -~]*)?$")]
DnsSuffix = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]{1,200}$")]


class ControllerHost(Model):
    """The host of slurmctld, slurmdbd, the burst controller and MLflow."""

    instance: Text = Field(
        default="m7i.large",
        description="instance type; the default is enough for a few hundred nodes and one job per second",
    )
    root_volume_gib: int = Field(
        default=30, ge=8, le=16_384, description="encrypted gp3; holds no data that must be kept"
    )
    volume_gib: int = Field(
        default=50,
        ge=1,
        le=16_384,
        description="volume with Slurm's state and MLflow's database; it is kept when the instance is replaced",
    )


class LoginHosts(Model):
    """Login hosts in AWS, where users log in and submit jobs."""

    instance: Text = Field(
        default="m7i.large", description="instance type; for editing and submitting jobs, not for computing"
    )
    count: int = Field(
        default=1, ge=0, le=8, description="number of login hosts: login01 and so on; 0: users log in at the controller"
    )
    root_volume_gib: int = Field(
        default=50, ge=8, le=16_384, description="encrypted gp3; home directories are not on it"
    )


class AccountingDatabaseSettings(Model):
    """RDS for MariaDB, the accounting database of slurmdbd."""

    instance: DatabaseClass = Field(
        default="db.t4g.medium",
        description="instance class; the accounting database is small, and the memory is its cache",
    )
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")] = Field(
        default="11.4", description="long-term series of MariaDB; AWS upgrades minor versions automatically"
    )
    storage_gib: int = Field(
        default=20, ge=20, le=6144, description="at least 20 with gp3; it may grow but never shrink"
    )
    multi_az: bool = Field(
        default=False,
        description="a standby in a second zone, at twice the price; Slurm works for an hour without its database",
    )
    backup_days: int = Field(
        default=14,
        ge=1,
        le=35,
        description="retention of automated backups in days; the database can be restored to any second of them",
    )
    apply_immediately: bool = Field(
        default=False,
        description="for one `landbridge up`: makes changes of version and class at once and allows a new series; "
        "false: RDS makes them in the maintenance window, and refuses a new series",
    )


class CloudAccess(Access):
    """SSH access of the operator to the service hosts, through Systems Manager, so that no port is open."""

    user: Text = Field(default="admin", description="login user of the image: admin on Debian, ubuntu on Ubuntu")
    public_keys: tuple[PublicKey, ...] = Field(default=(), description="public SSH keys that may log in as that user")
    proxy_command: Text | None = Field(default=None, description="none: a session of Systems Manager")


class CloudServices(Model):
    """Controller, login and database in AWS for an environment without a site: instances with fixed private addresses
    in one zone.
    """

    zone: Zone = Field(description="zone of the hosts and their volumes; a later move requires a restore")
    standby_zone: Zone | None = Field(
        default=None, description="second zone of RDS's subnet group; none: the next zone of the region"
    )
    image: ImageId | None = Field(
        default=None,
        description="ami-…, or a name of aws.images; none: the Debian 13 image of the image lock (`landbridge lock`)",
    )
    controller: ControllerHost = ControllerHost.with_defaults()
    login: LoginHosts = LoginHosts.with_defaults()
    database: AccountingDatabaseSettings = AccountingDatabaseSettings.with_defaults()
    addresses: Mapping[HostName, IPv4Address] = Field(
        default={}, description="addresses of ctl01, login01, ...; empty: the first free addresses of the zone's subnet"
    )
    domain: DnsSuffix = Field(default="cluster.internal", description="DNS suffix")
    access: CloudAccess = CloudAccess.with_defaults()
    packages: PackageSources = PackageSources.with_defaults()
