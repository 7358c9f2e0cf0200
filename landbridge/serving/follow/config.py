"""Settings of the service: `/etc/landbridge/model-follow.json`, written by the role model_gateway."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.serving.canary_controller.plans import CanarySchedule
from landbridge.serving.follow.scale import ScalePlan


class FollowConfigError(Exception):
    """Error: the settings cannot be used; the message has the reason."""


@dataclass(frozen=True, slots=True)
class FollowedServer:
    """Model server of a slot: its name in HAProxy, its slot and host, and the URL of its metrics."""

    name: str
    slot: str
    host: str
    url: str


@dataclass(frozen=True, slots=True)
class FollowedService:
    """Service whose versions follow the registry. `hosts` are in the order in which a smaller scale keeps them.

    `workspace` is that of the model in the registry; empty for a registry without workspaces. `scale`: bounds of the number of hosts by
    load; None: every host serves.
    """

    name: str
    model: str
    registry: str
    backend: str
    hosts: tuple[str, ...]
    servers: tuple[FollowedServer, ...]
    p95_ms: float
    schedule: CanarySchedule
    workspace: str = ""
    scale: ScalePlan | None = None


@dataclass(frozen=True, slots=True)
class PeerGateway:
    """Other gateway of a pair: its host's name and address, its port, and the file of the export's token."""

    host: str
    address: str
    port: int
    token: Path


@dataclass(frozen=True, slots=True)
class FollowConfig:
    """Settings: places on the gateway's host, the account of the registry, and the services.

    `host` and `peer` are this gateway's name and the other one of a pair; None: the only gateway. `password` is the file of its password; None for a registry without accounts. `orders` is the file of the operator's orders, which the service only reads.
    """

    services: tuple[FollowedService, ...]
    account: str
    password: Path | None
    trust: Path
    authority: Path | None
    socket: Path
    state_file: Path
    export: Path
    state: Path
    orders: Path
    interval_seconds: float = 5.0
    #: A day: its course is in each window, as it is in a reference of whole days. Landbridge's choice.
    drift_seconds: float = 86_400.0
    host: str = ""
    peer: PeerGateway | None = None


def load_follow_config(path: Path) -> FollowConfig:
    """Read the settings. Raises FollowConfigError."""
    try:
        return _config(json.loads(path.read_text()))
    except OSError as error:
        raise FollowConfigError(f"{path}: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FollowConfigError(f"{path}: {error!r}") from None


def read_orders(path: Path) -> dict[str, int]:
    """Return the number of hosts by service that the operator ordered; empty for a missing file or one of another form."""
    try:
        data = json.loads(path.read_text())
        return {str(name): max(0, int(count)) for name, count in data["scale"].items()}
    except (OSError, AttributeError, KeyError, TypeError, ValueError):
        return {}


def read_hosts_until(path: Path) -> float:
    """Return until when the hosts in AWS run by the operator's order, as a timestamp; 0 without an order."""
    try:
        return float(json.loads(path.read_text())["hosts_until"])
    except (OSError, KeyError, TypeError, ValueError):
        return 0.0


def _config(data: dict[str, Any]) -> FollowConfig:
    return FollowConfig(
        services=tuple(_service(each) for each in data["services"]),
        account=str(data["account"]),
        password=Path(data["password"]) if data.get("password") else None,
        trust=Path(data["trust"]),
        authority=Path(data["authority"]) if data.get("authority") else None,
        socket=Path(data["socket"]),
        state_file=Path(data["state_file"]),
        export=Path(data["export"]),
        state=Path(data["state"]),
        orders=Path(data["orders"]),
        interval_seconds=float(data.get("interval_seconds", 5.0)),
        drift_seconds=float(data.get("drift_seconds", 86_400.0)),
        host=str(data.get("host", "")),
        peer=_peer(data["peer"]) if data.get("peer") else None,
    )


def _peer(data: dict[str, Any]) -> PeerGateway:
    return PeerGateway(str(data["host"]), str(data["address"]), int(data["port"]), Path(data["token"]))


def _service(data: dict[str, Any]) -> FollowedService:
    return FollowedService(
        name=str(data["name"]),
        model=str(data["model"]),
        registry=str(data["registry"]),
        backend=str(data["backend"]),
        hosts=tuple(map(str, data["hosts"])),
        servers=tuple(FollowedServer(**each) for each in data["servers"]),
        p95_ms=float(data["p95_ms"]),
        workspace=str(data.get("workspace", "")),
        scale=ScalePlan(**data["scale"]) if data.get("scale") else None,
        schedule=CanarySchedule(**{**data["canary"], "weights": tuple(data["canary"].get("weights", ()))}),
    )
