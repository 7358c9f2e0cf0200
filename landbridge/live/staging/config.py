"""Configuration of the mover, /etc/landbridge/mover.json. It contains no secret."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class MoverConfigError(Exception):
    """Unusable configuration file; the message has the reason."""


@dataclass(frozen=True, slots=True)
class MoverClass:
    """Data class: its sites, its bucket (None: its data may not be in AWS), and where jobs in AWS see the bucket."""

    sites: tuple[str, ...]
    bucket: str | None = None
    mount: str | None = None  # of the bucket's root, in a file system of cloud nodes


@dataclass(frozen=True, slots=True)
class MoverConfig:
    """Settings of the mover. Prices are the highest known ones in US dollars; None: unknown."""

    region: str
    exchange: Path
    folder: Path
    mount: str
    ledger: Path
    classes: Mapping[str, MoverClass]
    workers: int
    role: str | None = None  # ARN of the role of the credentials
    endpoint: str | None = None
    credentials: str | None = None
    profile: str | None = None
    fips: bool = False
    limit_mbps: float | None = None
    usd_gb_out: float | None = None
    usd_1000_writes: float | None = None
    usd_1000_reads: float | None = None


def load_mover_config(path: Path) -> MoverConfig:
    """Read the file. Raises MoverConfigError."""
    try:
        return parse_mover_config(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise MoverConfigError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MoverConfigError(f"{path}: {type(error).__name__}: {error}") from error


def parse_mover_config(raw: Mapping[str, Any]) -> MoverConfig:
    """Return the configuration. Raises TypeError for an unknown or missing key."""
    paths = {name: Path(raw[name]) for name in ("exchange", "folder", "ledger")}
    classes = {name: MoverClass(**{**table, "sites": tuple(table["sites"])}) for name, table in raw["classes"].items()}
    return MoverConfig(**{**raw, **paths, "classes": classes})
