"""Rules about the RDS database of slurmdbd."""

from collections.abc import Iterator
from datetime import date

from landbridge.catalog.aws.databases import databases
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.rules.registry import dated_rule, rule

_DATABASE: DataPath = ("aws", "services", "database")
_UPGRADE_NOTICE_DAYS = 180


@rule
def services_database(environment: Environment) -> Iterator[Finding]:
    """RDS offers the MariaDB version of the accounting database.

    Source: RDS User Guide, "MariaDB on Amazon RDS versions" (landbridge/catalog/databases.yaml).
    """
    services, known_versions = environment.aws.services, databases().versions
    if services is not None and services.database.version not in known_versions:
        message = f"the catalogue has no MariaDB {services.database.version} of RDS"
        yield error((*_DATABASE, "version"), message, fix=f"use one of {', '.join(known_versions)}")


@dated_rule
def database_support(environment: Environment, today: date) -> Iterator[Finding]:
    """The MariaDB version is in standard support for 180 more days: after it, RDS bills extended support by vCPU, or upgrades the database.

    Source: RDS User Guide, "MariaDB on Amazon RDS versions", release calendar (landbridge/catalog/databases.yaml).
    """
    services = environment.aws.services
    facts = databases().versions.get(services.database.version) if services is not None else None
    if services is None or facts is None or (facts.until - today).days > _UPGRADE_NOTICE_DAYS:
        return
    ends = "ended" if facts.until < today else "ends"
    message = f"RDS's standard support of MariaDB {services.database.version} {ends} on {facts.until}"
    newest = list(databases().versions)[-1]
    fix = f"plan an upgrade to {newest}, with apply_immediately: true for one `up`: back up first, and expect an hour without accounting"
    yield warning((*_DATABASE, "version"), message, fix=fix)


@rule
def database_single_zone(environment: Environment) -> Iterator[Finding]:
    """The accounting database of a large cluster is Multi-AZ: budgets and fair share depend on it.

    slurmctld keeps accounting records in memory while the database is down: hours on a small cluster, minutes on a
    large one.
    Source: slurm.schedmd.com/accounting.html: MaxDBDMsgs; RDS User Guide, "Multi-AZ DB instance deployments".
    """
    services = environment.aws.services
    nodes = sum(pool.max_nodes for pool in environment.aws.pools)
    if services is not None and not services.database.multi_az and nodes > 256:
        message = f"the accounting database of {nodes} nodes is in one zone"
        related: tuple[DataPath, ...] = (("aws", "pools", "*", "max_nodes"),)
        yield info((*_DATABASE, "multi_az"), message, fix="write multi_az: true", related=related)


@rule
def database_apply_immediately(environment: Environment) -> Iterator[Finding]:
    """Changes of the accounting database wait for its maintenance window; the key that makes them at once is for one `up`.

    While it is in the file, every changed class or version interrupts the accounting at the next `up`, and a new series
    is installed, which only a restore from a backup can undo.
    Source: RDS User Guide, "Using the schedule modifications setting" and "Upgrades of the MariaDB DB engine".
    """
    services = environment.aws.services
    if services is not None and services.database.apply_immediately:
        message = "the next `up` changes the accounting database at once, a new series of MariaDB included"
        fix = "remove apply_immediately after that `up`"
        yield warning((*_DATABASE, "apply_immediately"), message, fix=fix)
