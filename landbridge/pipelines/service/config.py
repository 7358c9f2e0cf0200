"""Configuration of the service, /etc/landbridge/pipelines.json. It contains no secret."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge.hostlist import expand
from landbridge.pipelines.reconcile.cost import PipelineNodeRate

CONFIG = "/etc/landbridge/pipelines.json"


class PipelinesConfigError(Exception):
    """Unusable configuration file; the message has the reason."""


@dataclass(frozen=True, slots=True)
class AccountRegistry:
    """MLflow server with the models of an account, its CA, and the team's workspace; empty without workspaces."""

    uri: str
    authority: str = ""
    workspace: str = ""


@dataclass(frozen=True)
class PipelinesConfig:
    """Settings of the service.

    `accounts` are data classes by account, `owners` the users whose folders are read, `datasets` the folders of data
    classes with staged versions, `rates` the costs of nodes, `homes` the homes that are not those of the accounts.
    `unknown_results`: texts of sbatch after which a job may exist. `settle_seconds`: see reconcile/core.py. `metrics`:
    file of node exporter's textfile collector, written after each pass. `registries`: MLflow servers by account.
    """

    accounts: Mapping[str, str]
    owners: tuple[str, ...]
    settle_seconds: float
    sbatch_seconds: int
    unknown_results: tuple[str, ...]
    state: Path = Path("/var/lib/landbridge-pipelines")
    datasets: Mapping[str, Path] = field(default_factory=dict)
    rates: Mapping[str, PipelineNodeRate] = field(default_factory=dict)
    homes: Mapping[str, Path] = field(default_factory=dict)
    registries: Mapping[str, AccountRegistry] = field(default_factory=dict)
    interval_seconds: float = 15.0
    live_runs: int = 100
    metrics: Path | None = None


def load_pipelines_config(path: Path) -> PipelinesConfig:
    """Read the file. Raises PipelinesConfigError."""
    try:
        return parse_pipelines_config(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise PipelinesConfigError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise PipelinesConfigError(f"{path}: {type(error).__name__}: {error}") from error


def parse_pipelines_config(raw: Mapping[str, Any]) -> PipelinesConfig:
    """Return the configuration. Raises TypeError for an unknown or missing key."""
    values = dict(raw)
    rates = {
        name: PipelineNodeRate(float(row["usd_hour"]), int(row["gpus"]))
        for row in values.pop("rates", [])
        for name in expand(row["nodes"])
    }
    datasets = {name: Path(folder) for name, folder in values.pop("datasets", {}).items()}
    homes = {name: Path(folder) for name, folder in values.pop("homes", {}).items()}
    registries = {name: AccountRegistry(**row) for name, row in values.pop("registries", {}).items()}
    owners, unknown = tuple(values.pop("owners")), tuple(values.pop("unknown_results"))
    state = Path(values.pop("state", PipelinesConfig.state))
    metrics = values.pop("metrics", None)
    return PipelinesConfig(
        **values,
        owners=owners,
        unknown_results=unknown,
        state=state,
        datasets=datasets,
        rates=rates,
        homes=homes,
        registries=registries,
        metrics=Path(metrics) if metrics else None,
    )
