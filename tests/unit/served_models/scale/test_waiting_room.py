"""Waiting room without a gateway that answers: requests leave after the longest wait, or when the operator stops the service."""

import asyncio
import json
from pathlib import Path

import pytest

from landbridge.serving.follow.config import FollowConfig, load_follow_config
from landbridge.serving.follow.waiting_room import WaitingRoom, room_socket

REQUEST = b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000


@pytest.fixture
def config(tmp_path: Path) -> FollowConfig:
    scale = {"least": 0, "most": 1, "host_rate": 10.0, "idle_seconds": 600.0}
    service = {"name": "digits", "model": "digits", "registry": "", "backend": "model-digits", "hosts": ["srv01"]}
    service |= {"servers": [], "p95_ms": 1, "canary": {}, "scale": scale}
    settings = {"services": [service], "account": "", "trust": str(tmp_path / "trust"), "state": str(tmp_path)}
    settings |= {name: str(tmp_path / name) for name in ("socket", "state_file", "export", "orders")}
    file = tmp_path / "follow.json"
    file.write_text(json.dumps(settings))
    return load_follow_config(file)


async def answers(config: FollowConfig, longest: float, clients: int) -> list[bytes]:
    """Return the first line of the answer to each client."""
    lines: list[str] = []
    room = asyncio.create_task(WaitingRoom(config, config.services[0], lines.append, longest=longest).serve())
    path = room_socket(config.export, "digits")
    while not path.exists():
        await asyncio.sleep(0.01)

    async def client() -> bytes:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(REQUEST)
        line = await reader.readline()
        assert b"Retry-After" in await reader.read()
        writer.close()
        return line

    try:
        return await asyncio.gather(*(client() for _ in range(clients)))
    finally:
        room.cancel()


def test_after_the_longest_wait_the_answer_is_not_repeated(config: FollowConfig) -> None:
    assert asyncio.run(answers(config, 0.3, 20)) == [b"HTTP/1.1 504 Gateway Timeout\r\n"] * 20


def test_a_stopped_service_answers_before_the_longest_wait(config: FollowConfig) -> None:
    config.orders.write_text(json.dumps({"scale": {"digits": 0}}))
    assert asyncio.run(answers(config, 1e6, 20)) == [b"HTTP/1.1 503 Service Unavailable\r\n"] * 20
