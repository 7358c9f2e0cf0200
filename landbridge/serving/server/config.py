"""Settings of a model server: `/etc/landbridge/models/INSTANCE.json`."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any


class ModelServerConfigError(Exception):
    """Error: the settings cannot be used; the message has the reason."""


@dataclass(frozen=True, slots=True)
class ModelServerConfig:
    """Settings of a model server.

    `folder` is the model folder or a link to it. `trust` is a file with the certificates of CAs, or with a public key, whose
    signatures are accepted. `certificate` has key, certificate and chain; empty: HTTP without TLS, on a loopback address only.
    `shadow` is the URL of another model server on this host that gets copies of requests; its numbers agree within
    `shadow_absolute` plus `shadow_relative` of the value, and without a relative tolerance rows of several numbers agree by the
    place of their greatest value. Zero requests per second per client
    is not a limit. The address `metrics_client` is that of Prometheus: it gets the metrics, and no prediction.
    """

    service: str
    model: str
    folder: str
    trust: str
    listen: str
    port: int
    certificate: str = ""
    authority: str = ""
    data_class: str = ""
    threads: int = 1
    concurrency: int = 8
    max_request_bytes: int = 1048576
    client_rate: int = 0
    drain_seconds: float = 5.0
    shadow: str = ""
    shadow_absolute: float = 0.001
    shadow_relative: float = 0.0
    metrics_client: str = ""


def load_server_config(path: Path) -> ModelServerConfig:
    """Read the settings. Raises ModelServerConfigError."""
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise ModelServerConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ModelServerConfigError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ModelServerConfigError(f"{path}: not an object")
    faults = list(_faults(content))
    if faults:
        raise ModelServerConfigError(f"{path}: {'; '.join(faults)}")
    return ModelServerConfig(**content)


def _faults(content: Mapping[str, Any]) -> list[str]:
    known = {field.name: field for field in fields(ModelServerConfig)}
    faults = [f"unknown key {name}" for name in content if name not in known]
    for name, field in known.items():
        if name not in content:
            if field.default is MISSING:
                faults.append(f"{name} is missing")
            continue
        value, kind = content[name], field.type
        accepted = (int, float) if kind is float else (kind,)
        if isinstance(value, bool) or not isinstance(value, accepted):  # type: ignore[arg-type]
            faults.append(f"{name} is {value!r}, not {getattr(kind, '__name__', kind)}")
    if not faults and not content.get("certificate") and not str(content["listen"]).startswith("127."):
        faults.append("without a certificate a model server listens on a loopback address only")
    return faults
