"""Client of the model gateway's export: the slots of this host, and files of model folders, over TLS with a token."""

import http.client
import json
import re
import shutil
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.models.manifest import ModelManifest
from landbridge.models.names import MANIFEST_FILE, SIGNATURE_FILE, model_version_fault
from landbridge.serving.host.config import HostConfig

_SECONDS = 30.0
_WORD = re.compile(r"[A-Za-z0-9-]+")


class ExportError(Exception):
    """Export that did not answer, or answered in another form; the message has the reason."""


@dataclass(frozen=True, slots=True)
class HostedService:
    """Version of each slot, empty for a slot without one, and the digest of each version's files, if the gateway has them."""

    slots: Mapping[str, str]
    digests: Mapping[str, str]


@dataclass(frozen=True)
class GatewayExport:
    """Export of the gateway."""

    config: HostConfig
    token: str = field(repr=False)

    def services(self) -> dict[str, HostedService]:
        """Return the slots by service. Raises ExportError."""
        response, connection = self._get(f"/landbridge/hosts/{self.config.host}")
        try:
            content = json.loads(response.read())
            return {
                str(name): HostedService(
                    {str(slot): _version(version) for slot, version in service["slots"].items()},
                    {str(version): str(digest) for version, digest in service.get("digests", {}).items()},
                )
                for name, service in content["services"].items()
            }
        except (OSError, http.client.HTTPException, AttributeError, KeyError, TypeError, ValueError) as error:
            raise ExportError(f"{self.config.gateway}: {error!r}") from None
        finally:
            connection.close()

    def download(self, model: str, version: str, folder: Path) -> None:
        """Write the files of a model folder. Raises ExportError. They are not verified yet."""
        if not _WORD.fullmatch(model):
            raise ExportError(f"{model} is not the name of a model")
        place = f"/landbridge/models/{model}/{version}"
        self._file(f"{place}/{MANIFEST_FILE}", folder / MANIFEST_FILE)
        manifest = ModelManifest.parse((folder / MANIFEST_FILE).read_text(errors="replace"))
        if not isinstance(manifest, ModelManifest):
            raise ExportError(f"{model} {version}: {'; '.join(finding.message for finding in manifest)}")
        for name in (*manifest.files, SIGNATURE_FILE):
            self._file(f"{place}/{name}", folder / name)

    def _file(self, path: str, target: Path) -> None:
        response, connection = self._get(path)
        try:
            with target.open("wb") as file:
                shutil.copyfileobj(response, file)
                file.flush()
            if response.length:
                raise ExportError(f"{self.config.gateway}{path}: the answer is not complete")
        except (OSError, http.client.HTTPException) as error:
            raise ExportError(f"{self.config.gateway}{path}: {error}") from None
        finally:
            connection.close()

    def _get(self, path: str) -> tuple[http.client.HTTPResponse, http.client.HTTPConnection]:
        config = self.config
        connection = http.client.HTTPConnection(config.gateway)
        try:
            context = ssl.create_default_context(cafile=str(config.authority))
            plain = socket.create_connection((config.address, config.port), _SECONDS)
            connection.sock = context.wrap_socket(plain, server_hostname=config.gateway)
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ExportError(f"{config.gateway}: {error}") from None
        if response.status != http.client.OK:
            connection.close()
            raise ExportError(f"{config.gateway}{path}: status {response.status}")
        return response, connection


def _version(text: object) -> str:
    version = str(text)
    fault = model_version_fault(version) if version else None
    if fault is not None:
        raise ValueError(fault)
    return version
