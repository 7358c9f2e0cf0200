"""Real HAProxy with the rendered configuration before real model servers: weights, limits, and lost servers without client errors."""

import asyncio
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.served_models.folders import new_key, sign, write_folder
from tests.unit.served_models.gateway import STRANGER, Gateway, Load, gateway
from tests.unit.served_models.processes import BODY, ModelServer, model_server
from tests.unit.served_models.site_ca import write_certificates

INFER = "/v2/models/digits/infer"


@dataclass
class Place:
    """Signed model folders and certificates."""

    folder: Path
    trust: Path
    authority: Path
    certificate: Path

    def server(self, name: str, version: str, port: int = 0) -> "Iterator[ModelServer]":
        """Return a context of a model server."""
        return model_server(
            self.folder,
            name,
            folder=str(self.folder / version),
            trust=str(self.trust),
            certificate=str(self.certificate),
            authority=str(self.authority),
            concurrency=64,
            port=port,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("gateway")
    private, trust = new_key(folder)
    for version in ("1", "2"):
        sign(write_folder(folder / version, version), private)
    return Place(folder, trust, *write_certificates(folder))


@pytest.fixture(scope="module")
def served(place: Place) -> Iterator[Gateway]:
    with (
        place.server("stable", "1") as stable,
        place.server("next", "2") as other,
        gateway(place.folder, place.authority, place.certificate, {"a": [stable.port], "b": [other.port]}) as started,
    ):
        started.wait(a_srv01="UP", b_srv01="UP")
        yield started


def test_slot_a_serves_at_first(served: Gateway) -> None:
    load = served.load(40)
    assert load.statuses == {200: 40}
    assert load.versions == {"1": 40}


def test_weights_90_and_10_share_the_requests(served: Gateway) -> None:
    assert served.program("weights", "digits", "90", "10").returncode == 0
    load = served.load(400)
    assert load.statuses == {200: 400}
    assert load.versions["2"] == pytest.approx(40, abs=8)


def test_weights_are_in_the_state_file(served: Gateway) -> None:
    assert served.program("weights", "digits", "70", "30").returncode == 0
    assert {name: row["weight"] for name, row in served.servers().items()} == {"a-srv01": 70, "b-srv01": 30}
    rows = [line.split() for line in (served.folder / "haproxy.state").read_text().splitlines()[2:] if line]
    assert {row[3]: row[7] for row in rows} == {"a-srv01": "70", "b-srv01": "30"}


def test_a_server_with_another_port_is_removed_from_the_state_file(served: Gateway) -> None:
    """HAProxy takes the port of the state file: a changed port would have no effect."""
    configuration, other = served.folder / "haproxy.cfg", served.folder / "other.cfg"
    assert served.program("weights", "digits", "70", "30").returncode == 0
    assert served.program("prune", str(configuration)).stdout == "unchanged\n"
    (server,) = [row for row in served.settings.services[0].servers if row.slot == "b"]
    other.write_text(configuration.read_text().replace(f"127.0.0.1:{server.port}", "127.0.0.1:1"))
    assert served.program("prune", str(other)).stdout == "changed\n"
    text = (served.folder / "haproxy.state").read_text()
    assert "a-srv01" in text and "b-srv01" not in text


@pytest.mark.parametrize(
    "words",
    [
        ("weights", "other", "1", "1"),
        ("weights", "digits", "0", "0"),
        ("weights", "digits", "101", "0"),
        ("drain", "digits", "c"),
        ("stop",),
    ],
)
def test_a_change_that_would_stop_a_service_is_refused(served: Gateway, words: tuple[str, ...]) -> None:
    done = served.program(*words)
    assert done.returncode == 1
    assert done.stderr.startswith("landbridge-model-gateway: ")


def test_only_accounts_of_the_service_reach_it(served: Gateway) -> None:
    assert served.get("POST", INFER, BODY) == 200
    assert served.get("POST", INFER, BODY, token="") == 401
    assert served.get("POST", INFER, BODY, token="guessed") == 401
    assert served.get("POST", INFER, BODY, token=STRANGER) == 403


def test_other_paths_and_long_requests_end_at_the_gateway(served: Gateway) -> None:
    for path in ("/metrics", "/v2", "/v2/models/other/infer", "/v2/models/digitsx"):
        assert served.get("GET", path) == 404
    assert served.get("POST", INFER, "x" * 5000) == 413


def test_a_killed_server_gives_no_client_an_error(place: Place) -> None:
    with place.server("left", "1") as left, place.server("killed", "1") as killed:
        ports = {"a": [left.port, killed.port]}
        with gateway(place.folder, place.authority, place.certificate, ports) as started:
            started.wait(a_srv01="UP", a_srv02="UP")

            async def kill_under_load() -> dict[int, int]:
                loading = asyncio.create_task(started.loading(600))
                await _answered(killed, loading)
                killed.process.kill()
                return dict((await loading).statuses)

            assert asyncio.run(kill_under_load()) == {200: 600}
            started.wait(a_srv02="DOWN")


def test_a_rolling_change_gives_no_client_an_error(place: Place) -> None:
    """The next version starts in slot b, gets all requests, and the server of slot a drains and ends."""
    with place.server("old", "1") as old, place.server("new", "2") as new:
        ports = {"a": [old.port], "b": [new.port]}
        with gateway(place.folder, place.authority, place.certificate, ports) as started:
            started.wait(a_srv01="UP", b_srv01="UP")

            async def change_under_load() -> tuple[dict[int, int], int]:
                loading = asyncio.create_task(started.loading(600))
                await _answered(old, loading)
                done = await asyncio.to_thread(started.program, "weights", "digits", "0", "100")
                assert done.returncode == 0, done.stderr
                old.process.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(old.process.wait, 60) == 0
                load = await loading
                return dict(load.statuses), load.versions["2"]

            statuses, answered_by_new = asyncio.run(change_under_load())
            assert statuses == {200: 600}
            assert answered_by_new > 0


def test_a_draining_server_gives_no_client_an_error(place: Place) -> None:
    """One of two servers of a slot gets SIGTERM: it is not ready first, and ends when its requests have ended."""
    with place.server("stays", "1") as stays, place.server("drains", "1") as drains:
        ports = {"a": [stays.port, drains.port]}
        with gateway(place.folder, place.authority, place.certificate, ports) as started:
            started.wait(a_srv01="UP", a_srv02="UP")

            async def drain_under_load() -> dict[int, int]:
                loading = asyncio.create_task(started.loading(600))
                await _answered(drains, loading)
                drains.process.send_signal(signal.SIGTERM)
                return dict((await loading).statuses)

            assert asyncio.run(drain_under_load()) == {200: 600}
            assert drains.process.wait(60) == 0


async def _answered(server: ModelServer, loading: "asyncio.Task[Load]") -> None:
    """Wait until a server has answered requests of the load."""
    while server.log.read_text().count("\n") < 20:
        assert not loading.done(), loading.result()
        await asyncio.sleep(0.01)
