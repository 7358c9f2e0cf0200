"""RDS for MariaDB: the database of slurmdbd if the services are in AWS."""

from landbridge.catalog.aws.databases import databases
from landbridge.environment import Environment
from landbridge.findings import Finding, FindingsError
from landbridge.plan.args import Args, tags
from landbridge.plan.zones import services_zones

#: RDS's windows, UTC: night in Europe, evening in America; they do not overlap.
BACKUP, MAINTENANCE = "03:00-04:00", "sun:04:30-sun:05:30"
#: The master user: it is used only to create slurmdbd's user.
MASTER = "admin"
#: A full disk stops accounting, so RDS may grow it, up to this many times its size and at least to 100 GiB.
_STORAGE_GROWTH_FACTOR = 4


class AccountingDatabaseArgs(Args):
    """Plan of the RDS instance: engine, size, zones of its subnets, backups and protection."""

    cluster: str
    name: str
    engine: str
    version: str
    #: Parameter group family; a new engine series has a new family.
    family: str
    instance_class: str
    storage_gib: int
    most_gib: int
    multi_az: bool
    backup_days: int
    backup_window: str
    maintenance_window: str
    #: True: a change interrupts the database at once, and a new series of the engine is allowed.
    apply_immediately: bool
    parameters: dict[str, str]
    port: int
    user: str
    zones: tuple[str, ...]
    protect: bool
    tags: dict[str, str]

    @property
    def parameter_group(self) -> str:
        """Name of the parameter group. A group has one family, so a new engine series gets a new group."""
        return f"{self.name}-{self.family.replace('.', '-')}"

    @property
    def final_snapshot(self) -> str:
        """Name of the final snapshot."""
        return f"{self.name}-final"


def database_name(environment: Environment) -> str:
    """Return the name of the RDS instance."""
    return f"{environment.name}-accounting"


def accounting_database_args(environment: Environment) -> AccountingDatabaseArgs | None:
    """Plan the database; None if the services are on-prem. Raises FindingsError if the region has no second zone."""
    services = environment.aws.services
    if services is None:
        return None
    settings, facts, zones = services.database, databases(), services_zones(environment)
    if len(zones) < facts.zones:
        message = f"RDS needs subnets in {facts.zones} zones, and {services.zone} is the only known one"
        fix = "set a second zone: standby_zone"
        raise FindingsError([Finding("services-without-zone", message, ("aws", "services", "standby_zone"), fix)])
    return AccountingDatabaseArgs(
        cluster=environment.name,
        name=database_name(environment),
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
        apply_immediately=settings.apply_immediately,
        parameters=_parameters(),
        port=facts.port,
        user=MASTER,
        zones=zones,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def _parameters() -> dict[str, str]:
    """Return the parameters: TLS is required, and Slurm's recommended settings; RDS sets the buffer pool's size.

    slurmdbd creates stored functions, and a database with a binary log (which RDS's backups need) accepts them from
    trusted creators only. Source: slurm.schedmd.com/accounting.html, "Slurm Accounting Configuration Before Build"
    (innodb_lock_wait_timeout, max_allowed_packet); MariaDB Knowledge Base, "Binary Logging of Stored Routines".
    """
    return {
        databases().secure_transport.parameter: "1",
        "innodb_lock_wait_timeout": "900",
        "log_bin_trust_function_creators": "1",
        "max_allowed_packet": str(16 * 2**20),
    }
