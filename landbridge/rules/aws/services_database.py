"""Rules about the database under slurmdbd where it is RDS's."""

from collections.abc import Iterator
from datetime import date

from landbridge.catalog.aws.databases import databases
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.rules.registry import dated_rule, rule

_DATABASE: DataPath = ("aws", "services", "database")
_SOON = 180


@rule
def services_database(environment: Environment) -> Iterator[Finding]:
    """The accounting database is of a series that RDS makes.

    Source: RDS User Guide, "MariaDB on Amazon RDS versions" (landbridge/catalog/databases.yaml).
    """
    services, known = environment.aws.services, databases().versions
    if services is not None and services.database.version not in known:
        message = f"RDS is not known to have MariaDB {services.database.version}"
        yield error((*_DATABASE, "version"), message, fix=f"one of {', '.join(known)}")


@dated_rule
def database_support(environment: Environment, today: date) -> Iterator[Finding]:
    """The series is supported for a while yet: past its day RDS bills extended support by the vCPU, or upgrades by itself.

    Source: RDS User Guide, "MariaDB on Amazon RDS versions", release calendar (landbridge/catalog/databases.yaml).
    """
    services = environment.aws.services
    facts = databases().versions.get(services.database.version) if services is not None else None
    if services is None or facts is None or (facts.until - today).days > _SOON:
        return
    ends = "ended" if facts.until < today else "ends"
    message = f"support of MariaDB {services.database.version} {ends} on {facts.until}"
    fix = f"plan the change to {list(databases().versions)[-1]}: a backup first, and an hour without accounting"
    yield warning((*_DATABASE, "version"), message, fix=fix)


@rule
def database_single_zone(environment: Environment) -> Iterator[Finding]:
    """Accounting that budgets and fair shares hang on survives the loss of a zone where many people wait for it.

    Slurm goes on without its database for as long as slurmctld's memory lasts: hours on a small cluster, minutes on a large one.
    Source: slurm.schedmd.com/accounting.html: MaxDBDMsgs; RDS User Guide, "Multi-AZ DB instance deployments".
    """
    services = environment.aws.services
    nodes = sum(pool.max_nodes for pool in environment.aws.pools)
    if services is not None and not services.database.multi_az and nodes > 256:
        message = f"{nodes} nodes hang on accounting that one zone has"
        related: tuple[DataPath, ...] = (("aws", "pools", "*", "max_nodes"),)
        yield info((*_DATABASE, "multi_az"), message, fix="write multi_az: true", related=related)
