"""Service of a model server's host at a real TLS export, killed before any of its effects: the slots end as they would have."""

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from landbridge.serving.follow.config import load_follow_config
from landbridge.serving.follow.export import ModelExport
from landbridge.serving.follow.placement import Placement, RegistryAliases
from landbridge.serving.follow.record import write_placement
from landbridge.serving.host.config import load_host_config
from landbridge.serving.host.daemon import HostPass
from landbridge.serving.host.gateway_export import GatewayExport
from tests.unit.served_models.folders import new_key, onnx_bytes, sign, write_folder
from tests.unit.served_models.gateway import STRANGER, gateway
from tests.unit.served_models.site_ca import write_certificates


class Killed(BaseException):
    """End of the service between two effects."""


class ExportedHost:
    """Host before the export of a placement. Its systemctl writes the version with which a unit was restarted."""

    def __init__(self, folder: Path, port: int, authority: Path, trust: Path) -> None:
        self.folder, self.port, self.authority, self.trust = folder, port, authority, trust
        self.lines: list[str] = []

    def one_pass(self, name: str) -> dict[str, str]:
        """Make a pass of a new process on a host of this name; return the versions of the links and of the units."""
        place = self.folder / name / "digits"
        place.mkdir(parents=True, exist_ok=True)
        program = self.folder / name / "systemctl"
        program.write_text(
            f'#!/bin/sh\ncd {place}\ncase $1 in restart) readlink "$2" > "$2.unit";; disable) rm -f "$3.unit";; esac\n'
        )
        program.chmod(0o755)
        service = {"model": "digits", "data_class": "internal", "account": "", "units": {"a": "a", "b": "b"}}
        content = {"host": "srv01", "gateway": "localhost", "address": "127.0.0.1", "port": self.port}
        content |= {
            "token": "",
            "authority": str(self.authority),
            "trust": str(self.trust),
            "models": str(place.parent),
        }
        file = self.folder / name / "host.json"
        file.write_text(json.dumps({**content, "services": {"digits": service}, "systemctl": str(program)}))
        config = load_host_config(file)
        HostPass(config, GatewayExport(config, STRANGER), self.lines.append).run()
        return state_of(place)

    def export(self, **slots: str) -> None:
        """Set the placement."""
        placement = Placement({"a": "", "b": ""} | slots, "1")
        write_placement(self.folder / "follow/digits.json", placement, RegistryAliases("1"))


def state_of(place: Path) -> dict[str, str]:
    """Return the version of each link and of each unit, and the versions on the disk."""
    links = {path.name: path.readlink().name for path in place.iterdir() if path.is_symlink()}
    units = {path.name: path.read_text().strip() for path in place.glob("*.unit")}
    versions = " ".join(sorted(path.name for path in place.iterdir() if path.name.isdigit()))
    return {**links, **units, "versions": versions}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExportedHost]:
    folder = tmp_path_factory.mktemp("export")
    private, trust = new_key(folder)
    authority, certificate = write_certificates(folder)
    models = folder / "follow/models/digits"
    for version in ("1", "2"):
        sign(write_folder(models / version, version), private)
    write_folder(models / "3", "3")
    sign(write_folder(models / "4", "4", data_class="restricted"), private)
    sign(write_folder(models / "5", "6"), private)
    (models / "5/model.onnx").write_bytes(b"other")
    service = {"name": "digits", "model": "digits", "registry": "", "backend": "", "hosts": ["srv01"], "servers": []}
    settings = {"services": [{**service, "p95_ms": 1, "canary": {}}], "account": "", "trust": str(trust)}
    settings |= {"socket": "", "state_file": "", "export": str(folder / "export.sock"), "state": str(folder / "follow")}
    (folder / "follow.json").write_text(json.dumps(settings | {"orders": str(folder / "orders.json")}))
    places = {"export": str(folder / "export.sock"), "exporter": "other"}
    with (
        ModelExport(load_follow_config(folder / "follow.json"), 0o600) as server,
        gateway(folder, authority, certificate, {"a": [9]}, places) as started,
    ):
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield ExportedHost(folder, started.port, authority, trust)
        server.shutdown()


def killing(monkeypatch: pytest.MonkeyPatch, at: int) -> list[str]:
    """End the process before its effect number `at`; return the list of effects that were made."""
    effects: list[str] = []

    def before(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*arguments: Any, **options: Any) -> Any:
            if len(effects) == at:
                raise Killed
            effects.append(name)
            return real(*arguments, **options)

        return effect

    for owner, name in ((Path, "mkdir"), (Path, "rename"), (Path, "replace"), (Path, "symlink_to"), (Path, "unlink")):
        monkeypatch.setattr(owner, name, before(name, getattr(owner, name)))
    monkeypatch.setattr(Path, "write_text", before("write_text", Path.write_text))
    monkeypatch.setattr(subprocess, "run", before("run", subprocess.run))
    return effects


def test_a_kill_before_any_effect_changes_no_end(host: ExportedHost) -> None:
    wanted = []
    for slots in ({"a": "1"}, {"a": "1", "b": "2"}, {"b": "2"}):
        host.export(**slots)
        wanted.append(host.one_pass("whole"))
    assert wanted[0] == {"a": "1", "a.unit": "1", "versions": "1"}
    assert wanted[1] == {"a": "1", "a.unit": "1", "b": "2", "b.unit": "2", "versions": "1 2"}
    assert wanted[2] == {"b": "2", "b.unit": "2", "versions": "1 2"}
    for number, slots in enumerate(({"a": "1"}, {"a": "1", "b": "2"}, {"b": "2"})):
        host.export(**slots)
        for at in range(100):
            before = f"killed-{number}-{at}"
            for earlier in ({"a": "1"}, {"a": "1", "b": "2"})[:number]:
                host.export(**earlier)
                host.one_pass(before)
            host.export(**slots)
            with pytest.MonkeyPatch.context() as patch:
                effects = killing(patch, at + 4)
                try:
                    host.one_pass(before)
                    is_killed = False
                except Killed:
                    is_killed = True
            assert host.one_pass(before) == wanted[number], (at, effects)
            if not is_killed:
                break


def test_a_slot_that_was_filled_by_hand_keeps_its_server_until_it_gets_another_version(host: ExportedHost) -> None:
    host.export(a="1")
    host.one_pass("by-hand")
    place = host.folder / "by-hand/digits"
    (place / ".a.started").unlink()
    (place / "a.unit").write_text("by hand")
    assert host.one_pass("by-hand") == {"a": "1", "a.unit": "by hand", "versions": "1"}
    host.export(a="2")
    assert host.one_pass("by-hand") == {"a": "2", "a.unit": "2", "versions": "1 2"}


def test_a_version_that_was_deleted_and_created_again_replaces_the_files_of_its_number(host: ExportedHost) -> None:
    models = host.folder / "follow/models/digits"
    sign(write_folder(models / "8", "8"), host.folder / "signer.pem")
    for name in ("again", *(f"again-{at}" for at in range(20))):
        host.export(a="1", b="8")
        host.one_pass(name)
        (host.folder / name / "digits/b.unit").write_text("former files")
    shutil.rmtree(models / "8")
    sign(write_folder(models / "8", "8", onnx_bytes(80.0)), host.folder / "signer.pem")
    wanted = {"a": "1", "a.unit": "1", "b": "8", "b.unit": "8", "versions": "1 8"}
    for at in range(20):
        with pytest.MonkeyPatch.context() as patch:
            killing(patch, at + 4)
            with contextlib.suppress(Killed):
                host.one_pass(f"again-{at}")
    for name in ("again", *(f"again-{at}" for at in range(20))):
        assert host.one_pass(name) == wanted, name
        assert (host.folder / name / "digits/8/model.onnx").read_bytes() == onnx_bytes(80.0)
        assert not list((host.folder / name / "digits").glob(".[io]*ing"))
    (host.folder / "again/digits/b.unit").write_text("as it was")
    assert host.one_pass("again")["b.unit"] == "as it was", "the same files start nothing again"


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("3", "model.sig: status 404"),
        ("4", "has the class restricted"),
        ("5", "sha256|checksum|manifest"),
        ("7", "status 404"),
    ],
)
def test_a_version_that_is_not_verified_gets_no_slot(host: ExportedHost, version: str, reason: str) -> None:
    host.export(a="1", b=version)
    host.lines.clear()
    assert host.one_pass(f"refused-{version}") == {"a": "1", "a.unit": "1", "versions": "1"}
    assert any(re.search(reason, line) for line in host.lines), host.lines
