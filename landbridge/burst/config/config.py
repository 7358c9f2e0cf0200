"""Typed model of /etc/landbridge/burst.json. Its keys are the fields of BurstPolicy and some settings of the programs.

Standard library only. Keys that begin with `//` are comments. An unknown key is a fault: a misspelt budget limit must
not mean that there is no limit.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from landbridge.burst.config.config_reader import ConfigReader
from landbridge.burst.journal.paths import (
    CONFIG,
    CONFIG_VARIABLE,
    DATABASE,
    DECISIONS,
    METRICS,
    SOCKET,
    STATE_DIR,
    prolog_socket,
)
from landbridge.burst.model import (
    AccountPolicy,
    BurstPolicy,
    LaunchInterface,
    Offering,
    PoolPolicy,
    PromotionPolicy,
    StagingPolicy,
)

MARKETS = ("on-demand", "spot", "capacity-block")
KINDS = ("capacity_block", "reservation", "reservation_group", "on_demand", "spot")
INTERFACES = ("interface", "efa", "efa-only")
_PROGRAM_KEYS = (
    *("endpoint", "credentials_file", "certificate_validity", "slurm_key_secret"),
    *("state_dir", "socket", "metrics", "snapshot_dir"),
    *("heartbeat_namespace", "heartbeat_seconds", "fips_endpoints", "records_key"),
)


class ConfigError(Exception):
    """Unusable configuration file; the message contains all faults."""


@dataclass(frozen=True, slots=True)
class BurstConfig:
    """Settings of the burst programs that come from neither Slurm nor AWS. They contain no secret."""

    policy: BurstPolicy
    endpoint: str | None = None  # of EC2; None: AWS's own
    credentials_file: str | None = None  # None: the usual sources of the AWS SDK
    certificate_validity: Path | None = None  # written by the role roles_anywhere; None: no certificate is used
    slurm_key_secret: str = ""
    state_dir: Path = Path(STATE_DIR)
    socket: Path = Path(SOCKET)
    metrics: str | None = METRICS
    snapshot_dir: Path | None = None  # beside Slurm's StateSaveLocation; on a pair of controllers it is shared
    heartbeat_namespace: str | None = None  # of the CloudWatch metric; None: no heartbeat
    heartbeat_seconds: float = 240.0
    fips_endpoints: bool = False  # of EC2, CloudWatch and Secrets Manager
    records_key: Path | None = None  # file with the secret that signs residency records; None: there are none

    @property
    def database(self) -> Path:
        return self.state_dir / DATABASE

    @property
    def decisions(self) -> Path:
        return self.state_dir / DECISIONS

    @property
    def prolog_socket(self) -> Path:
        return Path(prolog_socket(str(self.socket)))


def load(path: Path | None = None) -> BurstConfig:
    """Read the file (default: LANDBRIDGE_BURST_CONFIG, else /etc/landbridge/burst.json); raises ConfigError."""
    file = path or Path(os.environ.get(CONFIG_VARIABLE) or CONFIG)
    try:
        raw = json.loads(file.read_text())
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error
    try:
        return parse(raw)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def parse(raw: Any) -> BurstConfig:
    """Return the configuration in `raw`; raise ConfigError with every missing or unknown key and every wrong type."""
    reader = ConfigReader()
    top = reader.table(raw, "the file", (*(field.name for field in fields(BurstPolicy)), *_PROGRAM_KEYS))
    settings: dict[str, Any] = {
        key: reader.optional(top, key)
        for key in ("endpoint", "credentials_file", "slurm_key_secret", "heartbeat_namespace")
    }
    config = BurstConfig(
        policy=_policy(reader, top),
        endpoint=settings["endpoint"],
        credentials_file=settings["credentials_file"],
        certificate_validity=Path(text) if (text := reader.optional(top, "certificate_validity")) else None,
        slurm_key_secret=settings["slurm_key_secret"] or "",
        state_dir=Path(reader.optional(top, "state_dir") or STATE_DIR),
        socket=Path(reader.optional(top, "socket") or SOCKET),
        metrics=reader.address(top, "metrics") if "metrics" in top else METRICS,
        snapshot_dir=Path(text) if (text := reader.optional(top, "snapshot_dir")) else None,
        records_key=Path(text) if (text := reader.optional(top, "records_key")) else None,
        heartbeat_namespace=settings["heartbeat_namespace"],
        **reader.optional_values(top, above=("heartbeat_seconds",), switches=("fips_endpoints",)),
    )
    if reader.faults:
        raise ConfigError("; ".join(reader.faults))
    return config


def _policy(reader: ConfigReader, top: Mapping[str, Any]) -> BurstPolicy:
    optional_values = reader.optional_values(
        top,
        texts=("cost_center",),
        switches=("hard", "unpriced"),
        numbers=(
            *("monthly_usd", "grace_minutes", "orphan_seconds", "settle_seconds", "breaker_seconds"),
            *("impaired_seconds", "event_margin_seconds"),
        ),
        above=("lease_minutes", "launch_per_second"),
        counts=("launch_batch", "launch_bucket"),
    )
    if "operators" in top:
        optional_values["operators"] = frozenset(reader.words(top, "operators"))
    if "pool_monthly_usd" in top:
        optional_values["pool_monthly_usd"] = reader.amounts(top, "pool_monthly_usd")
    if "insufficient_capacity_seconds" in top:
        optional_values["insufficient_capacity_seconds"] = reader.range(top, "insufficient_capacity_seconds")
    policy = BurstPolicy(
        cluster=reader.text(top, "cluster"),
        region=reader.text(top, "region"),
        pools={n: _pool(reader, n, table) for n, table in reader.tables(top, "pools", _names(PoolPolicy) - {"name"})},
        accounts={
            n: _account(reader, n, table)
            for n, table in reader.tables(top, "accounts", _names(AccountPolicy) - {"name"})
        },
        promotions=tuple(
            PromotionPolicy(
                partition=reader.text(table, "partition", at),
                partitions=reader.words(table, "partitions", at),
                wait_seconds=reader.number(table, "wait_seconds", at),
            )
            for at, table in reader.list(top, "promotions", _names(PromotionPolicy))
        ),
        staging=_staging(reader, top) if top.get("staging") is not None else None,
        **optional_values,
    )
    for name in policy.pool_monthly_usd.keys() - policy.pools.keys():
        reader.faults.append(f"pool_monthly_usd.{name}: no pool has this name")
    return policy


def _staging(reader: ConfigReader, top: Mapping[str, Any]) -> StagingPolicy:
    table = reader.table(top["staging"], "staging", _names(StagingPolicy))
    raw = table.get("partitions")
    names = reader.table(raw, "staging.partitions", tuple(raw) if isinstance(raw, dict) else ())
    partitions = {name: reader.words(names, name, "staging.partitions.") for name in names}
    return StagingPolicy(reader.text(table, "exchange", "staging."), partitions)


def _pool(reader: ConfigReader, name: str, raw: Mapping[str, Any]) -> PoolPolicy:
    at = f"pools.{name}."
    offerings = tuple(
        _offering(reader, path, value) for path, value in reader.list(raw, "offerings", _names(Offering), at)
    )
    if not offerings:
        reader.faults.append(f"{at}offerings: at least one is needed")
    for key in {offering.key for offering in offerings if [other.key for other in offerings].count(offering.key) > 1}:
        reader.faults.append(f"{at}offerings: two have the key '{key}'")
    return PoolPolicy(
        name=name,
        node_prefix=reader.text(raw, "node_prefix", at),
        max_nodes=reader.count(raw, "max_nodes", at),
        offerings=offerings,
        min_nodes=reader.count(raw, "min_nodes", at, 0) if "min_nodes" in raw else 0,
        **reader.optional_values(raw, at, numbers=("boot_seconds",), above=("resume_timeout",)),
    )


def _offering(reader: ConfigReader, at: str, raw: Mapping[str, Any]) -> Offering:
    values = reader.optional_values(
        raw,
        at,
        texts=("placement_group", "reservation", "reservation_group", "region"),
        numbers=("usd_hour", "max_price_usd", "opens", "closes"),
        counts=("size", "core_count", "threads_per_core"),
        switches=("public_ip", "topology"),
    )
    values["interfaces"] = tuple(
        LaunchInterface(
            card=reader.count(interface, "card", path, 0),
            device=reader.count(interface, "device", path, 0),
            kind=reader.choice(interface, "kind", INTERFACES, path),
        )
        for path, interface in reader.list(raw, "interfaces", _names(LaunchInterface), at)
    )
    if "security_groups" in raw:
        values["security_groups"] = reader.words(raw, "security_groups", at)
    if raw.get("gpus") is not None:
        values["gpus"] = reader.count(raw, "gpus", at, 0)
    for key in ("key", "instance_type", "subnet", "zone", "launch_template_id", "launch_template_version"):
        values[key] = reader.text(raw, key, at)
    if (values.get("core_count") is None) != (values.get("threads_per_core") is None):
        reader.faults.append(f"{at}core_count: EC2 needs it together with threads_per_core")
    values["market"] = reader.choice(raw, "market", MARKETS, at)
    return Offering(kind=reader.choice(raw, "kind", KINDS, at), **values)


def _account(reader: ConfigReader, name: str, raw: Mapping[str, Any]) -> AccountPolicy:
    at = f"accounts.{name}."
    return AccountPolicy(
        name=name,
        data_class=reader.text(raw, "data_class", at),
        aws=reader.switch(raw, "aws", at),
        regions=reader.words(raw, "regions", at) if "regions" in raw else (),
        **reader.optional_values(raw, at, switches=("hard",), numbers=("monthly_usd",)),
    )


def _names(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}
