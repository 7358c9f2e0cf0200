"""Settings of the service: `/etc/landbridge/models/host.json`, written by the role model_server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class HostConfigError(Exception):
    """Error: the settings cannot be used; the message has the reason."""


@dataclass(frozen=True, slots=True)
class HostService:
    """Service on this host: its model and data class, the Unix account of its model servers, and the unit of each slot."""

    model: str
    data_class: str
    account: str
    units: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HostConfig:
    """Settings. `gateway` is the name in the gateway's certificate, which is at `address` and `port`; `token` is a file."""

    host: str
    gateway: str
    address: str
    port: int
    token: Path
    authority: Path
    trust: Path
    models: Path
    services: Mapping[str, HostService]
    interval_seconds: float = 5.0
    systemctl: str = "/usr/bin/systemctl"


def load_host_config(path: Path) -> HostConfig:
    """Read the settings. Raises HostConfigError."""
    try:
        data: dict[str, Any] = json.loads(path.read_text())
        return HostConfig(
            host=str(data["host"]),
            gateway=str(data["gateway"]),
            address=str(data["address"]),
            port=int(data["port"]),
            token=Path(data["token"]),
            authority=Path(data["authority"]),
            trust=Path(data["trust"]),
            models=Path(data["models"]),
            services={name: HostService(**each) for name, each in data["services"].items()},
            interval_seconds=float(data.get("interval_seconds", 5.0)),
            systemctl=str(data.get("systemctl", "/usr/bin/systemctl")),
        )
    except OSError as error:
        raise HostConfigError(f"{path}: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HostConfigError(f"{path}: {error!r}") from None
