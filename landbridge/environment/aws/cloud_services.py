"""The cluster's services in AWS, for an environment that has no site of its own: start in the cloud, add metal later."""

from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.aws.pool import ImageId
from landbridge.environment.base import HostName, Model, Text, Zone
from landbridge.environment.onprem.onprem import Access, PackageSources

DatabaseClass = Annotated[str, StringConstraints(pattern=r"^db\.[a-z0-9]+\.[a-z0-9]+$")]
#: One line of authorized_keys: what ssh-keygen writes into a file *.pub.
PublicKey = Annotated[str, StringConstraints(pattern=r"^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+( [ -~]*)?$")]
DnsSuffix = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]{1,200}$")]


class ControllerHost(Model):
    """The host of slurmctld, slurmdbd, the burst controller and MLflow."""

    instance: Text = Field(default="m7i.large", description="enough for a few hundred nodes and a job a second")
    root_volume_gib: int = Field(default=30, ge=8, le=16_384, description="encrypted gp3; holds nothing worth keeping")
    volume_gib: int = Field(
        default=50, ge=1, le=16_384, description="Slurm's state and MLflow's database; it outlives the instance"
    )


class LoginHosts(Model):
    """Login hosts in AWS, where users log in and submit jobs."""

    instance: Text = Field(default="m7i.large", description="for editing and submitting, not for computing")
    count: int = Field(default=1, ge=0, le=8, description="login01 and so on; 0: people log in at the controller")
    root_volume_gib: int = Field(default=50, ge=8, le=16_384, description="encrypted gp3; homes are elsewhere")


class AccountingDatabaseSettings(Model):
    """RDS for MariaDB under slurmdbd: who ran what, and who may."""

    instance: DatabaseClass = Field(default="db.t4g.medium", description="accounting is small; memory is its cache")
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")] = Field(
        default="11.4", description="of MariaDB: its long-term series; minor versions follow by themselves"
    )
    storage_gib: int = Field(default=20, ge=20, le=6144, description="gp3's least; it may grow, and never shrinks")
    multi_az: bool = Field(
        default=False, description="a standby in a second zone; twice the price, and Slurm survives an hour without it"
    )
    backup_days: int = Field(default=14, ge=1, le=35, description="any second of them can be brought back")


class CloudAccess(Access):
    """SSH access of the operator to the services: through Systems Manager, so that no port is open."""

    user: Text = Field(default="admin", description="the image's own; Debian's is admin, Ubuntu's ubuntu")
    public_keys: tuple[PublicKey, ...] = Field(default=(), description="who may log in as that user")
    proxy_command: Text | None = Field(default=None, description="none: a session of Systems Manager")


class CloudServices(Model):
    """Controller, login and database in AWS for an environment without a site: instances with fixed private addresses
    in one zone.
    """

    zone: Zone = Field(description="where the hosts and their state are; moving them later takes a restore")
    standby_zone: Zone | None = Field(
        default=None, description="RDS wants addresses in two zones; none: the next one of the region"
    )
    image: ImageId | None = Field(
        default=None,
        description="ami-…, or a name of aws.images; none: Debian 13 as `landbridge lock` has written it down",
    )
    controller: ControllerHost = ControllerHost()
    login: LoginHosts = LoginHosts()
    database: AccountingDatabaseSettings = AccountingDatabaseSettings()
    addresses: Mapping[HostName, IPv4Address] = Field(
        default={}, description="of ctl01, login01, ...; none named: from the first ones of the zone's subnet"
    )
    domain: DnsSuffix = Field(default="cluster.internal", description="DNS suffix")
    access: CloudAccess = CloudAccess()
    packages: PackageSources = PackageSources()
