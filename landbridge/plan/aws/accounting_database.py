"""RDS for MariaDB: slurmdbd's database of an environment whose services are in AWS."""

from landbridge.catalog.aws.databases import databases
from landbridge.environment import Environment
from landbridge.findings import Finding, FindingsError
from landbridge.plan.args import Args, tags
from landbridge.plan.zones import services_zones

#: RDS's windows, UTC: at night in Europe, in the evening in America, and not both at once.
BACKUP, MAINTENANCE = "03:00-04:00", "sun:04:30-sun:05:30"
#: The master user: it makes the one that slurmdbd has, and nothing else is done as it.
MASTER = "admin"
#: A disk that fills up stops accounting, so it may grow by itself, up to this many times its size and at least to 100 GiB.
_STORAGE_GROWTH_FACTOR = 4


class AccountingDatabaseArgs(Args):
    """A database: what it is, which zones' subnets it may stand in, and what becomes of its data. Sizes are in GiB."""

    cluster: str
    name: str
    engine: str
    version: str
    #: Of parameter groups; a new series has a new one, under a name of its own.
    family: str
    instance_class: str
    storage_gib: int
    most_gib: int
    multi_az: bool
    backup_days: int
    backup_window: str
    maintenance_window: str
    parameters: dict[str, str]
    port: int
    user: str
    zones: tuple[str, ...]
    protect: bool
    tags: dict[str, str]

    @property
    def parameter_group(self) -> str:
        """Name of the parameter group. A group has one family: a new engine series gets a new group beside the old one."""
        return f"{self.name}-{self.family.replace('.', '-')}"

    @property
    def final_snapshot(self) -> str:
        """Name of the final snapshot."""
        return f"{self.name}-final"


def accounting_database_args(environment: Environment) -> AccountingDatabaseArgs | None:
    """Plan the database; None where a site has one. Raises FindingsError where the region has no second zone."""
    services = environment.aws.services
    if services is None:
        return None
    settings, facts, zones = services.database, databases(), services_zones(environment)
    if len(zones) < facts.zones:
        message = f"RDS wants subnets in {facts.zones} zones, and {services.zone} is the only one known"
        fix = "name a second one: standby_zone"
        raise FindingsError([Finding("services-without-zone", message, ("aws", "services", "standby_zone"), fix)])
    return AccountingDatabaseArgs(
        cluster=environment.name,
        name=f"{environment.name}-accounting",
        engine=facts.engine,
        version=settings.version,
        family=facts.family(settings.version),
        instance_class=settings.instance,
        storage_gib=settings.storage_gib,
        most_gib=min(facts.storage_gib[1], max(100, _STORAGE_GROWTH_FACTOR * settings.storage_gib)),
        multi_az=settings.multi_az,
        backup_days=settings.backup_days,
        backup_window=BACKUP,
        maintenance_window=MAINTENANCE,
        parameters=_parameters(),
        port=facts.port,
        user=MASTER,
        zones=zones,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def _parameters() -> dict[str, str]:
    """Return the parameter group: TLS is required, and Slurm's recommended settings; RDS sizes its buffer pool by
    itself.

    slurmdbd makes stored functions, and a database that keeps a binary log (RDS's backups need one) takes those of trusted
    creators only. Source: slurm.schedmd.com/accounting.html, "Slurm Accounting Configuration Before Build"
    (innodb_lock_wait_timeout, max_allowed_packet); MariaDB Knowledge Base, "Binary Logging of Stored Routines".
    """
    return {
        databases().secure_transport.parameter: "1",
        "innodb_lock_wait_timeout": "900",
        "log_bin_trust_function_creators": "1",
        "max_allowed_packet": str(16 * 2**20),
    }
