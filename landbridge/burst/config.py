"""/etc/landbridge/burst.json, typed. Standard library only: every start of a shim reads it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEFAULT_PATH = Path("/etc/landbridge/burst.json")
PATH_VARIABLE = "LANDBRIDGE_BURST_CONFIG"
MARKETS = ("on-demand", "spot", "capacity-block")


class ConfigError(Exception):
    """The file cannot be used; the text names every fault found."""


@dataclass(frozen=True)
class Subnet:
    """A place where a pool may launch."""

    id: str
    zone: str
    placement_group: str | None


@dataclass(frozen=True)
class Pool:
    """Equal nodes: their names are `<node_prefix><number>`."""

    name: str
    node_prefix: str
    max_nodes: int
    instance_type: str
    market: str
    launch_template_id: str
    launch_template_version: str
    subnets: tuple[Subnet, ...]

    def owns(self, node: str) -> bool:
        number = node.removeprefix(self.node_prefix)
        return node.startswith(self.node_prefix) and number.isdigit() and 1 <= int(number) <= self.max_nodes


@dataclass(frozen=True)
class Config:
    """Everything the burst programs know that does not come from Slurm or AWS. No secret is in it."""

    cluster: str
    region: str
    endpoint: str | None
    credentials_file: str | None
    log_file: str
    lease_minutes: int
    slurm_key_secret: str
    pools: Mapping[str, Pool]
    accounts: Mapping[str, Mapping[str, Any]]

    def pool_of(self, node: str) -> Pool | None:
        """The pool that `node` belongs to; None for a node that is not ours to launch."""
        return next((pool for pool in self.pools.values() if pool.owns(node)), None)


def load(path: Path | None = None) -> Config:
    """Read the file (default: LANDBRIDGE_BURST_CONFIG, else /etc/landbridge/burst.json); raises ConfigError."""
    chosen = path or Path(os.environ.get(PATH_VARIABLE) or DEFAULT_PATH)
    try:
        raw = json.loads(chosen.read_text())
    except OSError as error:
        raise ConfigError(f"{chosen}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{chosen}: {error}") from error
    try:
        return parse(raw)
    except ConfigError as error:
        raise ConfigError(f"{chosen}: {error}") from None


def parse(raw: Any) -> Config:
    """The configuration in `raw`; ConfigError lists all that is missing or of the wrong kind."""
    reader = _Reader()
    top = reader.table(raw, "the file")
    pools = {
        name: _pool(reader, name, reader.table(value, f"pools.{name}"))
        for name, value in reader.table(top.get("pools"), "pools").items()
    }
    config = Config(
        cluster=reader.text(top, "cluster"),
        region=reader.text(top, "region"),
        endpoint=reader.optional(top, "endpoint"),
        credentials_file=reader.optional(top, "credentials_file"),
        log_file=reader.text(top, "log_file"),
        lease_minutes=reader.number(top, "lease_minutes"),
        slurm_key_secret=reader.text(top, "slurm_key_secret"),
        pools=pools,
        accounts=reader.table(top.get("accounts"), "accounts"),
    )
    if reader.faults:
        raise ConfigError("; ".join(reader.faults))
    return config


def _pool(reader: "_Reader", name: str, raw: Mapping[str, Any]) -> Pool:
    at = f"pools.{name}."
    subnets = raw.get("subnets")
    if not isinstance(subnets, list) or not subnets:
        reader.faults.append(f"{at}subnets: at least one is needed")
        subnets = []
    market = reader.text(raw, "market", at)
    if market and market not in MARKETS:
        reader.faults.append(f"{at}market: '{market}' is none of {', '.join(MARKETS)}")
    tables = [reader.table(value, f"{at}subnets[{index}]") for index, value in enumerate(subnets)]
    return Pool(
        name=name,
        node_prefix=reader.text(raw, "node_prefix", at),
        max_nodes=reader.number(raw, "max_nodes", at),
        instance_type=reader.text(raw, "instance_type", at),
        market=market,
        launch_template_id=reader.text(raw, "launch_template_id", at),
        launch_template_version=reader.text(raw, "launch_template_version", at),
        subnets=tuple(
            Subnet(reader.text(t, "id", at), reader.text(t, "zone", at), reader.optional(t, "placement_group", at))
            for t in tables
        ),
    )


class _Reader:
    """Reads values and collects faults, so that one run reports all of them."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def table(self, value: Any, where: str) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self.faults.append(f"{where}: an object is expected")
        return {}

    def text(self, table: Mapping[str, Any], key: str, at: str = "") -> str:
        value = table.get(key)
        if isinstance(value, str) and value:
            return value
        self.faults.append(f"{at}{key}: text is expected")
        return ""

    def optional(self, table: Mapping[str, Any], key: str, at: str = "") -> str | None:
        return None if table.get(key) is None else self.text(table, key, at)

    def number(self, table: Mapping[str, Any], key: str, at: str = "") -> int:
        value = table.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.faults.append(f"{at}{key}: a whole number above 0 is expected")
        return 0
