"""/etc/landbridge/burst.json, typed. Its keys are the fields of model.Policy by their own names, and a few of the shell's.

Standard library only. Keys that begin with `//` are remarks. An unknown key is a fault: a misspelt cap must not be no cap.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from landbridge.burst.config.config_reader import ConfigReader
from landbridge.burst.journal.paths import CONFIG, CONFIG_VARIABLE, DATABASE, DECISIONS, METRICS, SOCKET, STATE_DIR
from landbridge.burst.model import AccountPolicy, BurstPolicy, LaunchInterface, Offering, PoolPolicy, PromotionPolicy

MARKETS = ("on-demand", "spot", "capacity-block")
KINDS = ("capacity_block", "reservation", "reservation_group", "on_demand", "spot")
INTERFACES = ("interface", "efa", "efa-only")
_SHELL = ("endpoint", "credentials_file", "slurm_key_secret", "state_dir", "socket", "metrics", "snapshot_dir")


class ConfigError(Exception):
    """The file cannot be used; the text names every fault found."""


@dataclass(frozen=True, slots=True)
class BurstConfig:
    """Settings of the burst programs that come from neither Slurm nor AWS. They hold no secret."""

    policy: BurstPolicy
    endpoint: str | None = None  # of AWS, where it is not AWS's own
    credentials_file: str | None = None  # None: the host's ordinary sources
    slurm_key_secret: str = ""
    state_dir: Path = Path(STATE_DIR)
    socket: Path = Path(SOCKET)
    metrics: str | None = METRICS
    snapshot_dir: Path | None = None  # on a pair of controllers: Slurm's shared state

    @property
    def database(self) -> Path:
        return self.state_dir / DATABASE

    @property
    def decisions(self) -> Path:
        return self.state_dir / DECISIONS


def load(path: Path | None = None) -> BurstConfig:
    """Read the file (default: LANDBRIDGE_BURST_CONFIG, else /etc/landbridge/burst.json); raises ConfigError."""
    chosen = path or Path(os.environ.get(CONFIG_VARIABLE) or CONFIG)
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


def parse(raw: Any) -> BurstConfig:
    """The configuration in `raw`; ConfigError lists all that is missing, unknown or of the wrong kind."""
    reader = ConfigReader()
    top = reader.table(raw, "the file", (*(field.name for field in fields(BurstPolicy)), *_SHELL))
    settings: dict[str, Any] = {
        key: reader.optional(top, key) for key in ("endpoint", "credentials_file", "slurm_key_secret")
    }
    config = BurstConfig(
        policy=_policy(reader, top),
        endpoint=settings["endpoint"],
        credentials_file=settings["credentials_file"],
        slurm_key_secret=settings["slurm_key_secret"] or "",
        state_dir=Path(reader.optional(top, "state_dir") or STATE_DIR),
        socket=Path(reader.optional(top, "socket") or SOCKET),
        metrics=reader.address(top, "metrics") if "metrics" in top else METRICS,
        snapshot_dir=Path(text) if (text := reader.optional(top, "snapshot_dir")) else None,
    )
    if reader.faults:
        raise ConfigError("; ".join(reader.faults))
    return config


def _policy(reader: ConfigReader, top: Mapping[str, Any]) -> BurstPolicy:
    more = reader.given(
        top,
        texts=("cost_center",),
        switches=("hard", "unpriced"),
        numbers=("monthly_usd", "grace_minutes", "orphan_seconds", "settle_seconds", "breaker_seconds"),
        above=("lease_minutes",),
        counts=("launch_batch",),
    )
    if "operators" in top:
        more["operators"] = frozenset(reader.words(top, "operators"))
    if "pool_monthly_usd" in top:
        more["pool_monthly_usd"] = reader.amounts(top, "pool_monthly_usd")
    if "insufficient_capacity_seconds" in top:
        more["insufficient_capacity_seconds"] = reader.range(top, "insufficient_capacity_seconds")
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
        **more,
    )
    for name in policy.pool_monthly_usd.keys() - policy.pools.keys():
        reader.faults.append(f"pool_monthly_usd.{name}: no pool has this name")
    return policy


def _pool(reader: ConfigReader, name: str, raw: Mapping[str, Any]) -> PoolPolicy:
    at = f"pools.{name}."
    offerings = tuple(
        _place(reader, where, value) for where, value in reader.list(raw, "offerings", _names(Offering), at)
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
        **reader.given(raw, at, numbers=("boot_seconds",), above=("resume_timeout",)),
    )


def _place(reader: ConfigReader, at: str, raw: Mapping[str, Any]) -> Offering:
    more = reader.given(
        raw,
        at,
        texts=("placement_group", "reservation", "reservation_group", "region"),
        numbers=("usd_hour", "max_price_usd", "opens", "closes"),
        counts=("size",),
        switches=("public_ip",),
    )
    more["interfaces"] = tuple(
        LaunchInterface(
            card=reader.count(interface, "card", where, 0),
            device=reader.count(interface, "device", where, 0),
            kind=reader.choice(interface, "kind", INTERFACES, where),
        )
        for where, interface in reader.list(raw, "interfaces", _names(LaunchInterface), at)
    )
    if "security_groups" in raw:
        more["security_groups"] = reader.words(raw, "security_groups", at)
    for key in ("key", "instance_type", "subnet", "zone", "launch_template_id", "launch_template_version"):
        more[key] = reader.text(raw, key, at)
    more["market"] = reader.choice(raw, "market", MARKETS, at)
    return Offering(kind=reader.choice(raw, "kind", KINDS, at), **more)


def _account(reader: ConfigReader, name: str, raw: Mapping[str, Any]) -> AccountPolicy:
    at = f"accounts.{name}."
    return AccountPolicy(
        name=name,
        data_class=reader.text(raw, "data_class", at),
        aws=reader.switch(raw, "aws", at),
        regions=reader.words(raw, "regions", at) if "regions" in raw else (),
        **reader.given(raw, at, switches=("hard",), numbers=("monthly_usd",)),
    )


def _names(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}
