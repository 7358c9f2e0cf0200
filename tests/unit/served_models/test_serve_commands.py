"""Commands of `landbridge serve` with the role's program and a real HAProxy: orders, drains, findings and exit statuses."""

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.live.models.registry import ModelRegistry
from landbridge.plan.serving.gateway_state import state_findings
from landbridge.serving.follow.config import load_follow_config, read_hosts_until
from landbridge.serving.follow.passes import FollowPass
from landbridge.serving.follow.placement import Placement, RegistryAliases
from landbridge.serving.follow.record import read_placement, write_placement
from tests.unit.served_models.folders import new_key, sign, write_folder
from tests.unit.served_models.gateway import PROGRAM, Gateway, gateway
from tests.unit.served_models.processes import ModelServer, model_server
from tests.unit.served_models.site_ca import write_certificates

ROOT = Path(__file__).parents[3]
FILE = str(ROOT / "tests/unit/rules/full.yaml")


@dataclass
class ServeCommands:
    """Commands at a gateway. The program ssh of the operator's machine runs the role's program here."""

    folder: Path
    gateway: Gateway
    server: ModelServer

    def run(self, *words: str, code: int = 0) -> Result:
        """Run a command, and compare its exit status."""
        result = CliRunner().invoke(build(), ["serve", *words, "--file", FILE])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    def orders(self) -> object:
        """Return the orders of the operator."""
        return json.loads((self.folder / "orders.json").read_text())["scale"]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeCommands]:
    folder = tmp_path_factory.mktemp("commands")
    private, trust = new_key(folder)
    authority, certificate = write_certificates(folder)
    model = sign(write_folder(folder / "1", "1"), private)
    services = [{"name": "digits", "hosts": ["srv01", "srv02"]}]
    (folder / "follow.json").write_text(json.dumps({"services": services, "state": str(folder)}))
    places = {"trust": str(trust), "certificate": str(certificate), "authority": str(authority)}
    with (
        model_server(folder, "a", folder=str(model), **places) as server,
        gateway(folder, authority, certificate, {"a": [server.port, 9]}) as started,
        pytest.MonkeyPatch.context() as patch,
    ):
        (folder / "ssh").write_text(
            f'#!/bin/sh\nwhile [ "$1" != sudo ]; do shift; done; shift 2\nexec {sys.executable} {PROGRAM} "$@"\n'
        )
        (folder / "ssh").chmod(0o755)
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        patch.setenv("LANDBRIDGE_GATEWAY_SOCKET", started.settings.socket)
        patch.setenv("LANDBRIDGE_GATEWAY_STATE", started.settings.state_file)
        patch.setenv("LANDBRIDGE_GATEWAY_FOLLOW", str(folder / "follow.json"))
        patch.setenv("LANDBRIDGE_GATEWAY_ORDERS", str(folder / "orders.json"))
        patch.setenv("LANDBRIDGE_GATEWAY_INSTANCES", str(folder / "instances.json"))
        started.wait(a_srv01="UP", a_srv02="DOWN")
        yield ServeCommands(folder, started, server)


def test_scale_stop_and_start_are_orders(commands: ServeCommands) -> None:
    commands.run("scale", "digits", "1")
    assert commands.orders() == {"digits": 1}
    commands.run("stop", "digits")
    assert commands.orders() == {"digits": 0}
    commands.run("start", "digits")
    assert commands.orders() == {}
    assert "digits has 2 hosts, not 3" in commands.run("scale", "digits", "3", code=1).output
    assert 'did you mean "digits"?' in commands.run("start", "digit", code=1).output


def test_a_drained_host_gets_no_requests_and_the_last_one_is_kept(commands: ServeCommands) -> None:
    refused = commands.run("drain", "srv01", code=1).output
    assert "digits would have no model server without srv01" in refused
    assert "known: srv01, srv02" in commands.run("drain", "srv09", code=1).output
    commands.run("drain", "srv01", "--force")
    assert commands.gateway.servers()["a-srv01"]["state"].startswith("DRAIN")
    commands.run("drain", "srv01", "--undo")
    assert commands.gateway.servers()["a-srv01"]["state"] == "UP"


def test_check_has_a_finding_of_each_fault(commands: ServeCommands) -> None:
    findings = json.loads(commands.run("check", "--format", "json").stdout)["findings"]
    assert [(each["rule"], each["severity"]) for each in findings] == [
        ("serve-server", "warning"),
        ("serve-follow", "warning"),
    ]
    write_placement(commands.folder / "digits.json", Placement({"a": "1", "b": ""}, "1"), RegistryAliases("2"))
    output = commands.run("check").output
    assert "a-srv02 is DOWN" in output and "version 2 is champion, and 1 serves" in output
    answer = json.loads(commands.gateway.program("list").stdout)
    for row in answer["servers"]:
        row["state"] = "DOWN"
    assert [each.rule for each in state_findings(["digits", "other"], answer)] == [
        "serve-down",
        "serve-champion",
        "serve-unknown",
    ]
    answer["followed"]["digits"]["by_load"] = {"hosts": 0}
    assert [(each.rule, each.severity.value) for each in state_findings(["digits"], answer)] == [
        ("serve-idle", "info"),
        ("serve-champion", "warning"),
    ]


def test_hosts_in_aws_run_for_the_ordered_minutes_and_other_orders_stay(commands: ServeCommands) -> None:
    assert "no hosts of model servers in AWS" in commands.run("wake", code=1).output
    (commands.folder / "instances.json").write_text("{}")
    commands.run("scale", "digits", "1")
    before = time.time()
    commands.run("wake", "30")
    until = read_hosts_until(commands.folder / "orders.json")
    assert before + 1800 <= until <= time.time() + 1800
    assert commands.orders() == {"digits": 1}
    commands.run("start", "digits")
    assert read_hosts_until(commands.folder / "orders.json") == until
    commands.run("wake", "0")
    assert read_hosts_until(commands.folder / "orders.json") <= time.time()


def test_without_hosts_in_aws_there_is_nothing_to_wake() -> None:
    file = ROOT / "stacks/Pulumi.sandbox.yaml"
    result = CliRunner().invoke(build(), ["serve", "wake", "--file", str(file)])
    assert result.exit_code == 1 and "serve-aws" in result.output


def test_the_hosts_by_load_are_printed(commands: ServeCommands) -> None:
    follow = commands.folder / "follow.json"
    before = follow.read_text()
    settings = json.loads(before)
    settings["services"][0]["scale"] = {"least": 0}
    follow.write_text(json.dumps(settings))
    (commands.folder / "scale-digits.json").write_text(json.dumps({"hosts": 1, "cold_seconds": 6.5}))
    assert "digits           1 of 2 hosts by load; the last start from zero took 6.5 s" in commands.run("status").output
    follow.write_text(before)


def test_while_the_registry_does_not_answer_its_last_aliases_count(commands: ServeCommands) -> None:
    gateway, port = commands.gateway, commands.server.port
    server = {"name": "a-srv01", "slot": "a", "host": "srv01", "url": f"https://localhost:{port}/metrics"}
    service = {"name": "digits", "model": "digits", "registry": "http://127.0.0.1:9", "backend": "model-digits"}
    service |= {"hosts": ["srv01"], "servers": [server], "p95_ms": 50, "canary": {}}
    content = {"services": [service], "account": "x", "trust": str(commands.folder / "trust.pem")}
    content |= {"authority": gateway.settings.authority, "socket": gateway.settings.socket, "export": "", "orders": ""}
    content |= {"state_file": gateway.settings.state_file, "state": str(commands.folder / "follow")}
    (commands.folder / "outage.json").write_text(json.dumps(content))
    config, lines = load_follow_config(commands.folder / "outage.json"), list[str]()
    last = RegistryAliases("1", "2")
    write_placement(config.state / "digits.json", Placement({"a": "1", "b": "2"}, "1"), last)
    gateway.program("weights", "digits", "100", "100")
    FollowPass(config, ModelRegistry, time.time, lines.append).run()
    assert gateway.servers()["a-srv01"]["weight"] == 256
    assert read_placement(config.state / "digits.json") == (Placement({"a": "1", "b": "2"}, "1"), last)
    assert any(line.startswith("digits: registry: http://127.0.0.1:9") for line in lines), lines


def test_without_an_answer_the_status_is_2(commands: ServeCommands, monkeypatch: pytest.MonkeyPatch) -> None:
    (commands.folder / "none").mkdir()
    (commands.folder / "none/ssh").write_text("#!/bin/sh\necho 'ssh: no route' >&2; exit 255\n")
    (commands.folder / "none/ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands.folder / 'none'}:{os.environ['PATH']}")
    assert "no route" in commands.run("check", code=2).output


def test_a_link_in_place_of_the_state_file_is_not_followed(commands: ServeCommands) -> None:
    other = commands.folder / "other"
    other.write_text("kept")
    state = Path(commands.gateway.settings.state_file)
    state.unlink(missing_ok=True)
    state.symlink_to(other)
    assert commands.gateway.program("save").returncode == 0
    assert other.read_text() == "kept" and not state.is_symlink()
