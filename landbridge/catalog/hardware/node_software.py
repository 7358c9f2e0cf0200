"""Releases of software on GPU nodes that no package archive pins (node_software.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class Row(Facts):
    """Source and date of a row."""

    source: str
    as_of: date = Field(alias="date")


class Download(Row):
    """Files of one release below an address; `sha256`: digest of the single archive, if there is one."""

    version: str
    address: str
    sha256: str | None = None


class SourceCode(Row):
    """Git repository with a tag and the commit that it names."""

    version: str
    commit: str
    address: str


class AptRepository(Row):
    """Package repository with the URL of its key."""

    address: str
    key: str
    packages: tuple[str, ...]


class TimeServer(Row):
    """Time server, and its options in chrony.conf."""

    server: str
    options: str


class NodeSoftware(Facts):
    """Facts of node_software.yaml."""

    source: str
    as_of: date = Field(alias="date")
    efa: Download
    gdrcopy: Download
    nccl_tests: SourceCode
    nvbandwidth: SourceCode
    efs_utils: SourceCode
    doca: Download
    fsx_lustre: AptRepository
    time: TimeServer


@cache
def node_software() -> NodeSoftware:
    """Return the releases (cached)."""
    return read("node_software", NodeSoftware)
