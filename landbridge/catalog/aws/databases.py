"""RDS for MariaDB: which series there are, and what they take (databases.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class DatabaseVersion(Facts):
    """A series, and the day on which its standard support ends."""

    until: date


class SecureTransport(Facts):
    """The parameter that refuses connections without TLS, and the first series that has it."""

    parameter: str
    since: str


class DatabaseFacts(Facts):
    """All of it. Ranges are the least and the most; `least_growth` is a share of the size there is."""

    source: str
    as_of: date = Field(alias="date")
    engine: str
    port: int
    versions: Mapping[str, DatabaseVersion]
    storage_gib: tuple[int, int]
    least_growth: float
    backup_days: tuple[int, int]
    zones: int
    secure_transport: SecureTransport

    def family(self, version: str) -> str:
        """The family of parameter groups that a series takes; a version may name its minor one too."""
        return f"{self.engine}{'.'.join(version.split('.')[:2])}"


@cache
def databases() -> DatabaseFacts:
    """Read once."""
    return read("databases", DatabaseFacts)
