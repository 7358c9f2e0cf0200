"""Two model gateways with a real registry: two HAProxy before the same model servers, one service that decides, and one that follows."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread

import pytest

from landbridge.live.models.moves import history
from landbridge.live.models.registry import ModelRegistry
from landbridge.serving.canary_controller.controller import stored
from landbridge.serving.follow.config import PeerGateway
from landbridge.serving.follow.export import ModelExport
from landbridge.serving.follow.lease import EXPIRE_SECONDS, LEASE_TAG, SETTLE_SECONDS
from landbridge.serving.follow.passes import FollowPass
from tests.unit.models.conftest import Operator, operator, registry_uri
from tests.unit.served_models.followed import FollowedSite, followed_site
from tests.unit.served_models.gateway import STRANGER, Gateway, gateway

__all__ = ["operator", "registry_uri"]
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
CLIENTS = 8


@dataclass
class Member:
    """Gateway of a pair: its HAProxy and its service."""

    name: str
    gateway: Gateway
    follow: FollowPass

    def weights(self) -> dict[str, int]:
        return {name: row["weight"] for name, row in self.gateway.servers().items()}

    def leads(self) -> bool:
        return (self.follow.config.state / "digits.leads").exists()


@dataclass
class Pair:
    """Site with two gateways. `ahead`: seconds that the clocks of leases are ahead."""

    site: FollowedSite
    members: list[Member]
    ahead: float = 0.0

    def passes(self, seconds: float = 0.0) -> None:
        """Run a pass of each service that runs, and of the host, after this time."""
        self.ahead += seconds
        for member in self.members:
            member.follow.run()
        self.site.host.run()

    def leader(self) -> Member:
        (leader,) = [member for member in self.members if member.leads()]
        return leader

    def other(self) -> Member:
        (other,) = [member for member in self.members if not member.leads()]
        return other


@pytest.fixture(scope="module")
def pair(operator: Operator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    place = tmp_path_factory.mktemp("pair")
    (place / "token").write_text(f"{STRANGER}\n")
    with ExitStack() as stack:
        (place / "one").mkdir()
        site = stack.enter_context(followed_site(place / "one", operator))
        first, config = site.gateway, site.config
        # The certificate and the ports of the first gateway; its files in another folder.
        (place / "two").mkdir()
        ports = {
            slot: [int(server.url.rpartition(":")[2].partition("/")[0])]
            for slot, server in zip("ab", config.services[0].servers, strict=True)
        }
        places = {"export": str(place / "two/export.sock"), "exporter": "other"}
        authority, certificate = Path(first.settings.authority), Path(first.settings.certificate)
        second = stack.enter_context(gateway(place / "two", authority, certificate, ports, places))
        members = []
        for name, other, mine in (("gwm01", second, first), ("gwm02", first, second)):
            settings = replace(
                config,
                host=name,
                peer=PeerGateway("localhost", "127.0.0.1", other.port, place / "token"),
                socket=Path(mine.settings.socket),
                state_file=Path(mine.settings.state_file),
                export=place / f"{name}.sock" if mine is first else Path(mine.settings.export),
                state=place / name,
            )
            members.append((name, mine, settings))
        # The export of the first gateway is that of its pair, at the path that its HAProxy has.
        whole = Pair(site, [])
        for name, mine, settings in members:
            settings = replace(settings, export=Path(mine.settings.export))
            follow = FollowPass(
                settings, ModelRegistry, site.follow.clock, site.lines.append, lambda: 1000.0 + whole.ahead
            )
            server = stack.enter_context(ModelExport(settings, 0o600))
            Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
            stack.callback(server.shutdown)
            whole.members.append(Member(name, mine, follow))
        yield whole


def test_one_of_both_leads(pair: Pair) -> None:
    pair.site.operator.promote(pair.site.publish("1"), "staging", "champion")
    pair.passes()
    assert not any(member.leads() for member in pair.members), "a claim is no lease yet"
    pair.passes(SETTLE_SECONDS + 1)
    assert pair.leader().name == "gwm01"
    assert ModelRegistry(pair.site.operator.uri).tags("digits")[LEASE_TAG].startswith("gwm01 ")


def test_the_other_gateway_has_the_same_placement_and_weights(pair: Pair) -> None:
    def same() -> bool:
        pair.passes(1.0)
        leader, other = pair.leader(), pair.other()
        return leader.weights() == other.weights() == {"a-srv01": 256, "b-srv01": 0}

    pair.site.until(same)
    states = [json.loads((member.follow.config.state / "digits.json").read_text()) for member in pair.members]
    assert states[0] == states[1]
    assert all((member.follow.config.state / "models/digits/1").exists() for member in pair.members)


def test_clients_lose_the_requests_in_flight_of_a_killed_gateway_and_no_other(pair: Pair) -> None:
    """The gateway that leads is killed under load, in a canary. The other one has the weights, then the lease, and ends the canary."""
    site, leader, other = pair.site, pair.leader(), pair.other()
    site.operator.promote(site.publish("2"), "staging")

    def is_begun() -> bool:
        pair.passes(1.0)
        return leader.weights()["b-srv01"] == other.weights()["b-srv01"] == 256

    site.until(is_begun)
    begun = stored(leader.follow.config.state / "canary-digits.json")
    copy = stored(other.follow.config.state / "canary-digits.json")
    assert begun is not None and copy is not None
    assert (copy.started_at, copy.outcome) == (begun.started_at, None)

    def requests() -> int:
        return sum(int(row["requests"]) for row in leader.gateway.servers().values())

    async def lost() -> tuple[dict[int, int], set[str]]:
        before = requests()
        load = asyncio.create_task(leader.gateway.loading(2000, CLIENTS, other.gateway))
        while await asyncio.to_thread(requests) < before + 200:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(leader.gateway.kill)
        result = await load
        return dict(result.statuses), set(result.versions)

    statuses, versions = asyncio.run(lost())
    assert set(statuses) <= {0, 200} and statuses.get(0, 0) <= CLIENTS, statuses
    print(f"a gateway killed under {CLIENTS} clients: {statuses}", file=sys.stderr)
    assert statuses.get(0, 0) > 0, "the gateway was killed under load"
    assert {"1", "2"} <= versions
    # Its service ended with it.
    pair.members.remove(leader)
    pair.passes(1.0)
    assert not other.leads()
    pair.passes(EXPIRE_SECONDS)
    assert not other.leads(), "a claim"
    pair.passes(SETTLE_SECONDS + 1)
    assert other.leads()
    assert stored(other.follow.config.state / "canary-digits.json") is not None

    def is_promoted() -> bool:
        pair.passes(1.0)
        other.gateway.load(100, CLIENTS)
        return site.aliases().get("champion") == "2"

    site.until(is_promoted)
    after = stored(other.follow.config.state / "canary-digits.json")
    assert after is None or after.started_at == begun.started_at, "the canary went on, and did not begin again"
    moves, faults = history(ModelRegistry(site.operator.uri), "digits")
    assert not faults
    assert len([move for move in moves if move.after == "2" and move.alias == "champion"]) == 1


def test_a_gateway_that_comes_back_follows(pair: Pair, tmp_path: Path) -> None:
    (other,) = pair.members
    back = FollowPass(
        replace(other.follow.config, host="gwm02" if other.name == "gwm01" else "gwm01", state=tmp_path),
        ModelRegistry,
        pair.site.follow.clock,
        pair.site.lines.append,
        other.follow.since_start,
    )
    for _ in range(12):
        pair.passes(5.0)
        back.run()
    assert other.leads() and not (tmp_path / "digits.leads").exists()
