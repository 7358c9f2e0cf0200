"""Weights at a real HAProxy: the share of requests that each version answers."""

import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.serving.canary_controller.runtime_socket import (
    GatewayError,
    running_servers,
    server_weights,
    set_weights,
)
from sandbox.model_life.haproxy_program import haproxy_program
from tests.unit.canary_controller.model_servers import ServedPair, served


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServedPair, Path, Path]]:
    """Start HAProxy on a Unix socket, before both servers."""
    folder = tmp_path_factory.mktemp("gateway")
    program, environment = haproxy_program()
    with served() as pair:
        (folder / "haproxy.cfg").write_text(f"""global
    stats socket {folder}/runtime level admin
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend models
    bind {folder}/models
    default_backend digits
backend digits
    server v1 127.0.0.1:{pair.champion.port} weight 256
    server v2 127.0.0.1:{pair.candidate.port} weight 0
""")
        command = [str(program), "-db", "-f", str(folder / "haproxy.cfg")]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + 30
            while not (folder / "models").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            yield pair, folder / "runtime", folder / "models"
            process.terminate()


def test_servers_that_haproxy_uses_are_named(gateway: tuple[ServedPair, Path, Path]) -> None:
    assert running_servers(gateway[1], "digits") == {"v1", "v2"}
    with pytest.raises(GatewayError, match="not valid"):
        running_servers(gateway[1], "digits; show info")


def versions(path: Path, count: int) -> Counter[str]:
    """Send requests through the gateway, and count the versions that answered."""
    import http.client
    import socket

    counts: Counter[str] = Counter()
    for _ in range(count):
        connection = http.client.HTTPConnection("models")
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.connect(str(path))
        connection.request("GET", "/metrics")
        body = connection.getresponse().read().decode()
        counts[body.partition('version="')[2].partition('"')[0]] += 1
        connection.close()
    return counts


@pytest.mark.parametrize(("percent", "expected"), [(0, 0), (1, 2), (10, 20), (50, 100), (100, 200)])
def test_each_version_gets_its_share(gateway: tuple[ServedPair, Path, Path], percent: int, expected: int) -> None:
    _, runtime, models = gateway
    weights = dict(zip(("v1", "v2"), server_weights(percent, 1, 1), strict=True))
    for _ in "ab":
        set_weights(runtime, "digits", weights)
    assert abs(versions(models, 200)["2"] - expected) <= 2


def test_a_weight_that_was_not_set_is_an_error(gateway: tuple[ServedPair, Path, Path], tmp_path: Path) -> None:
    _, runtime, _ = gateway
    with pytest.raises(GatewayError, match="digits/v9"):
        set_weights(runtime, "digits", {"v9": 1})
    with pytest.raises(GatewayError, match="not valid"):
        set_weights(runtime, "digits", {"v1 1; shutdown": 1})
    with pytest.raises(GatewayError, match="No such file"):
        set_weights(tmp_path / "none", "digits", {"v1": 1})


def test_the_command_sets_the_first_weight(gateway: tuple[ServedPair, Path, Path], tmp_path: Path) -> None:
    pair, runtime, models = gateway
    words = ["model", "canary", "digits", "1", "2", "--tracking-uri", "http://127.0.0.1:9", "--p95-ms", "50"]
    words += ["--server", f"v1={pair.champion.url}", "--server", f"v2={pair.candidate.url}", "--backend", "digits"]
    words += ["--socket", str(runtime), "--record", str(tmp_path / "record.json")]
    words += ["--state-file", str(tmp_path / "state")]
    set_weights(runtime, "digits", {"v1": 0, "v2": 256})
    done = CliRunner().invoke(build(), words)
    assert (done.exit_code, done.stdout) == (0, "digits 2: hold, 1 percent: 0 requests in this step\n")
    assert versions(models, 200)["2"] <= 4
    # The weight comes before the alias: a registry that does not answer does not delay a rollback.
    pair.champion.requests, pair.candidate.requests, pair.candidate.failed = 1000, 100, 90
    done = CliRunner().invoke(build(), words)
    pair.champion.requests = pair.candidate.requests = pair.candidate.failed = 0
    assert done.exit_code == 2
    assert "http://127.0.0.1:9" in done.stderr
    assert versions(models, 100)["2"] == 0
    # The weights are in the state file, from which HAProxy takes them at a reload.
    rows = [line.split() for line in (tmp_path / "state").read_text().splitlines() if " v" in line]
    assert {row[3]: row[7] for row in rows} == {"v1": "256", "v2": "0"}
    words[words.index(str(runtime))] = str(tmp_path / "none")
    done = CliRunner().invoke(build(), words)
    assert done.exit_code == 2
    assert "No such file" in done.stderr


@given(percent=st.integers(0, 100), champion=st.integers(1, 20), candidate=st.integers(1, 20))
def test_weights_have_the_share_of_the_version(percent: int, champion: int, candidate: int) -> None:
    first, second = server_weights(percent, champion, candidate)
    assert 0 <= first <= 256
    assert 0 <= second <= 256
    share = second * candidate / (first * champion + second * candidate)
    assert share == pytest.approx(percent / 100, abs=0.1)
    assert (second == 0) == (percent == 0)
    assert (first == 0) == (percent == 100)
