"""RDS for MariaDB: release series and limits (databases.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class DatabaseVersion(Facts):
    """MariaDB release series, with the end of its standard support."""

    until: date


class SecureTransport(Facts):
    """Parameter that rejects connections without TLS, and the first series that supports it."""

    parameter: str
    since: str


class DatabaseFacts(Facts):
    """Facts of databases.yaml. Ranges are minimum and maximum."""

    source: str
    as_of: date = Field(alias="date")
    engine: str
    port: int
    versions: Mapping[str, DatabaseVersion]
    storage_gib: tuple[int, int]
    backup_days: tuple[int, int]
    zones: int
    secure_transport: SecureTransport

    def family(self, version: str) -> str:
        """Return the parameter group family of a version; a minor version is ignored."""
        return f"{self.engine}{'.'.join(version.split('.')[:2])}"


@cache
def databases() -> DatabaseFacts:
    """Return the facts of RDS for MariaDB (cached)."""
    return read("databases", DatabaseFacts)
