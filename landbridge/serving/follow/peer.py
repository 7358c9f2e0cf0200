"""Other gateway of a pair: the state of its services, over TLS with the token of the export."""

import http.client
import json
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.models.canary.decide import CanaryRecord
from landbridge.models.canary.record import parse
from landbridge.serving.follow.config import PeerGateway
from landbridge.serving.follow.placement import Placement, RegistryAliases
from landbridge.serving.follow.record import parse_placement

_SECONDS = 5.0


class PeerError(Exception):
    """Other gateway that did not answer, or does not lead; the message has the reason."""


@dataclass(frozen=True, slots=True)
class PeerState:
    """State of a service at the gateway that leads: placement, aliases, and the record of its canary."""

    placement: Placement
    aliases: RegistryAliases
    record: CanaryRecord | None


def read_peer(peer: PeerGateway, authority: Path | None, service: str) -> PeerState:
    """Return the state of a service. Raises PeerError."""
    try:
        content = _get(peer, authority, f"/landbridge/state/{service}")
        if not content["leads"]:
            raise PeerError(f"{peer.host} does not lead")
        placement, aliases = parse_placement(content["placement"])
        return PeerState(placement, aliases, parse(content["record"]) if content["record"] else None)
    except (OSError, http.client.HTTPException, AttributeError, KeyError, TypeError, ValueError) as error:
        raise PeerError(f"{peer.host}: {error!r}") from None


def _get(peer: PeerGateway, authority: Path | None, path: str) -> dict[str, Any]:
    connection = http.client.HTTPConnection(peer.host)
    try:
        context = ssl.create_default_context(cafile=str(authority) if authority is not None else None)
        plain = socket.create_connection((peer.address, peer.port), _SECONDS)
        connection.sock = context.wrap_socket(plain, server_hostname=peer.host)
        connection.request("GET", path, headers={"Authorization": f"Bearer {peer.token.read_text().strip()}"})
        response = connection.getresponse()
        if response.status != http.client.OK:
            raise PeerError(f"{peer.host}: status {response.status}")
        content: dict[str, Any] = json.loads(response.read())
        return content
    finally:
        connection.close()
