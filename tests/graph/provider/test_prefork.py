"""Plugins that a server starts: they serve as others do, and end with the process that the engine sees, and the server."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from sandbox.pulumi_provider.engine.scripts import write_scripts
from sandbox.pulumi_provider.prefork import prefork_server
from sandbox.pulumi_provider.prefork_client import SOCKET_VARIABLE, run_in_server
from sandbox.pulumi_provider.provider import VERSION

#: A plugin checks every two seconds whether its parent runs, and waits two more for running calls.
NOTICED_SECONDS = 10


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return write_scripts(tmp_path / "plugins") / "pulumi-resource-aws"


@pytest.fixture
def plugin(program: Path, prefork: Path) -> Iterator[tuple[Popen[str], int]]:
    """Yield a plugin of the server, and its port."""
    with _started([str(program)], prefork) as process:
        yield process, _port(process)
        process.kill()


def _started(command: list[str], server: Path) -> Popen[str]:
    return Popen(command, stdout=PIPE, text=True, env={**os.environ, SOCKET_VARIABLE: str(server)})


def _port(process: Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def _version(port: int) -> str:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        provider = provider_pb2_grpc.ResourceProviderStub(channel)
        return str(provider.GetPluginInfo(empty_pb2.Empty(), timeout=300).version)


def _closed(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


def _closes(port: int) -> bool:
    end = time.monotonic() + NOTICED_SECONDS
    while not _closed(port) and time.monotonic() < end:
        time.sleep(0.1)
    return _closed(port)


def test_it_answers_as_any_other_and_ends_on_cancel(plugin: tuple[Popen[str], int]) -> None:
    process, port = plugin
    assert _version(port) == VERSION
    process.send_signal(signal.SIGINT)  # as the whole group gets it at the end of a run
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        provider_pb2_grpc.ResourceProviderStub(channel).Cancel(empty_pb2.Empty(), timeout=300)
    assert process.wait(NOTICED_SECONDS) == 0 and _closed(port)


def test_it_ends_with_the_process_that_the_engine_sees(plugin: tuple[Popen[str], int]) -> None:
    process, port = plugin
    process.kill()
    assert _closes(port)


def test_it_ends_with_the_engine(program: Path, prefork: Path) -> None:
    with _started(["sh", "-c", f"{program} & wait"], prefork) as engine:
        port = _port(engine)
        assert not _closed(port)
        engine.kill()
        assert _closes(port)


def test_it_ends_with_the_server_whose_owner_ends(program: Path, tmp_path: Path) -> None:
    with prefork_server(tmp_path, ["sandbox.pulumi_provider.provider"]) as server:
        process = _started([str(program)], server)
        port = _port(process)
        assert not _closed(port)
    with process:
        assert _closes(port) and process.wait(NOTICED_SECONDS) == 0


def test_without_a_server_it_starts_by_itself(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOCKET_VARIABLE, raising=False)
    assert not run_in_server("sandbox.pulumi_provider.provider", os.getppid())
    with _started([str(program)], tmp_path / "nothing") as process:
        assert _version(_port(process)) == VERSION
        process.kill()
