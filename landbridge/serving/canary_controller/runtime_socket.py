"""Weights of servers at a running HAProxy, through its runtime API. Source: HAProxy 2.6 management guide, 9.3, "set server".

The program `landbridge-model-gateway` does the same for an operator on the gateway's host, which has no package of Landbridge.
"""

import csv
import io
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from landbridge.plan.serving.haproxy import WAITING_ROOM

TIMEOUT_SECONDS = 5.0
LARGEST = 256
#: SRV_ST_RUNNING. Source: HAProxy 2.6, "show servers state".
_RUNNING = "2"
_WORD = re.compile(r"[A-Za-z0-9_.:-]+")


class GatewayError(Exception):
    """Weight that HAProxy did not set."""


@dataclass(frozen=True, slots=True)
class BackendCounters:
    """Counters of a backend: requests since the start of HAProxy, requests in flight, and of these those that wait."""

    requests: int
    in_flight: int
    waiting: int


def server_weights(percent: int, champion: int, candidate: int) -> tuple[int, int]:
    """Return the weight of each server of the champion and of the candidate, from 0 to 256.

    `champion` and `candidate` are numbers of servers: each version gets its share over all of its servers.
    """
    shares = ((100 - percent) / max(1, champion), percent / max(1, candidate))
    most = max(shares)
    weights = [round(LARGEST * share / most) for share in shares]
    # A version with a share of the traffic gets requests however many servers the other one has.
    return (max(weights[0], 1 if percent < 100 else 0), max(weights[1], 1 if percent else 0))


def set_weights(path: Path, backend: str, weights: Mapping[str, int]) -> None:
    """Set the weights of servers of a backend, and read them back. Raises GatewayError if one was not set."""
    if not all(_WORD.fullmatch(word) for word in (backend, *weights)):
        raise GatewayError(f"{backend}: the name of a backend or a server is not valid")
    for server, weight in weights.items():
        answer = _ask(path, f"set weight {backend}/{server} {weight}").strip()
        if answer:
            raise GatewayError(f"{backend}/{server}: {answer}")
        current = _ask(path, f"get weight {backend}/{server}").split()
        if not current or current[0] != str(weight):
            raise GatewayError(f"{backend}/{server} has the weight {' '.join(current) or 'none'}, and not {weight}")


def running_servers(path: Path, backend: str) -> frozenset[str]:
    """Return the servers of a backend to which HAProxy sends requests. Raises GatewayError without an answer."""
    return frozenset(row["srv_name"] for row in _states(path, backend) if row.get("srv_op_state") == _RUNNING)


def serving_servers(path: Path, backend: str) -> frozenset[str]:
    """Return the servers of a backend that run and have a weight. Raises GatewayError without an answer."""
    return frozenset(
        row["srv_name"]
        for row in _states(path, backend)
        if row.get("srv_op_state") == _RUNNING and row.get("srv_uweight") != "0"
    )


def backend_counters(path: Path, backend: str) -> BackendCounters:
    """Return the counters of a backend. Raises GatewayError without an answer.

    Source: HAProxy 3.0 Management Guide, "Statistics and monitoring", CSV format; type 2 is a backend, type 4 a server.
    """
    if not _WORD.fullmatch(backend):
        raise GatewayError(f"{backend}: the name of a backend is not valid")
    rows = list(csv.DictReader(io.StringIO(_ask(path, f"show stat {backend} 6 -1").lstrip("# "))))
    whole = next((row for row in rows if row.get("svname") == "BACKEND"), None)
    if whole is None:
        raise GatewayError(f"{backend}: HAProxy has no such backend")
    rooms = [row for row in rows if row["svname"] == WAITING_ROOM]
    waiting = sum(int(row["qcur"] or 0) for row in rows) + sum(int(row["scur"] or 0) for row in rooms)
    refused = int(whole["dreq"] or 0)
    return BackendCounters(int(whole["stot"] or 0) - refused, int(whole["scur"] or 0), waiting)


def present_weights(path: Path, backend: str) -> dict[str, int]:
    """Return the weight of each server of a backend. Raises GatewayError without an answer."""
    return {row["srv_name"]: int(row["srv_uweight"]) for row in _states(path, backend)}


def save_state(path: Path, state_file: Path) -> None:
    """Write HAProxy's state file, so that weights survive a reload. The file is replaced atomically: readers get the old or the new time."""
    text = _ask(path, "show servers state")
    part = state_file.with_name(f"{state_file.name}.part")
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(state_file)


def _states(path: Path, backend: str) -> list[dict[str, str]]:
    if not _WORD.fullmatch(backend):
        raise GatewayError(f"{backend}: the name of a backend is not valid")
    lines = [line.split() for line in _ask(path, f"show servers state {backend}").splitlines()]
    header = next((line[1:] for line in lines if line and line[0] == "#"), [])
    return [dict(zip(header, line, strict=False)) for line in lines if len(line) > 1 and line[0] != "#"]


def _ask(path: Path, command: str) -> str:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT_SECONDS)
            connection.connect(str(path))
            connection.sendall(command.encode() + b"\n")
            parts = iter(lambda: connection.recv(65_536), b"")
            return b"".join(parts).decode(errors="replace")
    except OSError as error:
        raise GatewayError(f"{path}: {error.strerror or error}") from None
