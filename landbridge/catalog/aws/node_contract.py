"""Contract of a node image: paths, units and time sources (node_contract.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class EfaPaths(Facts):
    """Glob patterns of libfabric with the EFA provider, and of the NCCL OFI plugin."""

    libraries: tuple[str, ...]
    plugins: tuple[str, ...]


class HealthChecks(Facts):
    """Files and units of the role node_health."""

    files: tuple[str, ...]
    units: tuple[str, ...]


class NodeContract(Facts):
    """Facts of node_contract.yaml. The first of `time` is the source that the roles configure."""

    source: str
    as_of: date = Field(alias="date")
    efa: EfaPaths
    time: tuple[str, ...]
    units: tuple[str, ...]
    disabled_services: tuple[str, ...]
    action_units: tuple[str, ...]
    files: tuple[str, ...]
    health: HealthChecks
    secrets: tuple[str, ...]
    leftovers: tuple[str, ...]
    free_gib: int


@cache
def node_contract() -> NodeContract:
    """Return the facts of the contract (cached)."""
    return read("node_contract", NodeContract)
