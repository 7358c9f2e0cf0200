"""Export of the placement and of model folders to model servers: HTTP on a Unix socket, behind HAProxy's TLS and token. Read-only.

    GET /landbridge/hosts/HOST                      services of a host, and the version of each slot
    GET /landbridge/models/MODEL/VERSION/FILE       file of a model folder that a slot has
    GET /landbridge/state/SERVICE                   placement and canary of a service, for the other gateway of a pair

The files are verified by the host that gets them.
"""

import json
import re
import shutil
import socketserver
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, BinaryIO

from landbridge.models.files.folder import folder_digest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE, WEIGHT_FILES
from landbridge.serving.follow.config import FollowConfig
from landbridge.serving.follow.folders import model_folder
from landbridge.serving.follow.record import lead_mark, placement_data, read_placement
from landbridge.serving.follow.scaler import used_hosts

_HOST = re.compile(r"/landbridge/hosts/([A-Za-z0-9.-]+)")
_STATE = re.compile(r"/landbridge/state/([A-Za-z0-9-]+)")
_FILE = re.compile(r"/landbridge/models/([A-Za-z0-9-]+)/([0-9]+)/([a-z.]+)")
_FILES = frozenset({MANIFEST_FILE, SIGNATURE_FILE, *WEIGHT_FILES.values()})
_SECONDS = 30.0


def host_state(config: FollowConfig, host: str) -> dict[str, Any]:
    """Return the services of a host, each with its model, the version of each slot, and the digests of their files.

    A host beyond the scale has empty slots.
    """
    services: dict[str, Any] = {}
    for service in config.services:
        if host not in service.hosts:
            continue
        placement, _ = read_placement(config.state / f"{service.name}.json")
        is_used = host in used_hosts(config, service)
        if not any(placement.slots.values()):
            # Nothing is known yet: slots that were filled by hand stay.
            continue
        slots = {slot: version if is_used else "" for slot, version in placement.slots.items()}
        root = config.state / "models"
        digests = {each: folder_digest(model_folder(root, service.model, each)) for each in slots.values() if each}
        services[service.name] = {"model": service.model, "slots": slots, "digests": digests}
    return {"services": services}


def service_state(config: FollowConfig, name: str) -> dict[str, Any] | None:
    """Return the placement and the canary's record of a service, and whether this gateway leads it; None for an unknown one."""
    if name not in {service.name for service in config.services}:
        return None
    placement, aliases = read_placement(config.state / f"{name}.json")
    record = config.state / f"canary-{name}.json"
    return {
        "leads": lead_mark(config.state, name).exists(),
        "placement": placement_data(placement, aliases),
        "record": record.read_text() if record.exists() else "",
    }


class ModelExport(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Server of the export. `mode` is that of its socket."""

    daemon_threads = True

    def __init__(self, config: FollowConfig, mode: int = 0o660) -> None:
        self.config = config
        config.export.parent.mkdir(parents=True, exist_ok=True)
        config.export.unlink(missing_ok=True)
        super().__init__(str(config.export), _ExportRequest)
        config.export.chmod(mode)

    def file_of(self, path: str) -> Path | None:
        """Return the file of a path; None for another one."""
        match = _FILE.fullmatch(path)
        if match is None or match[3] not in _FILES:
            return None
        return model_folder(self.config.state / "models", match[1], match[2]) / match[3]


class _ExportRequest(BaseHTTPRequestHandler):
    server: ModelExport
    timeout = _SECONDS

    def do_GET(self) -> None:
        """Answer with the state of a host, or with a file."""
        host, service = _HOST.fullmatch(self.path), _STATE.fullmatch(self.path)
        try:
            state = None
            if host is not None:
                state = host_state(self.server.config, host[1])
            elif service is not None:
                state = service_state(self.server.config, service[1])
            if state is not None:
                body = json.dumps(state).encode()
                self._begin(len(body))
                self.wfile.write(body)
                return
            file = self.server.file_of(self.path)
            if file is None:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            with file.open("rb") as content:
                self._send(content, file.stat().st_size)
        except FileNotFoundError:
            self.send_error(HTTPStatus.NOT_FOUND)
        except ConnectionError:
            self.close_connection = True
        except (OSError, ValueError):
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR)

    def log_message(self, *_: object) -> None:
        """Write nothing: HAProxy has the log of requests."""

    def address_string(self) -> str:
        """Return the client's name for the log: always HAProxy, because a Unix socket has no address."""
        return "haproxy"

    def _send(self, content: BinaryIO, size: int) -> None:
        self._begin(size)
        shutil.copyfileobj(content, self.wfile)

    def _begin(self, size: int) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", str(size))
        self.end_headers()
