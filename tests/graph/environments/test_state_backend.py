"""Pulumi's state on the operator's machine: passphrase, stale locks, and the project outside the checkout."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.environment.state import StateSettings
from landbridge.findings import FindingsError
from landbridge.paths import state_dir
from landbridge.realise.backend import (
    backend_variables,
    drop_dead_locks,
    drop_torn_attributes,
    has_local_stack,
    local_backend,
    passphrase_file,
)
from landbridge.realise.project import write_project
from tests.graph.conftest import SANDBOX


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_the_passphrase_is_created_once_and_only_its_owner_reads_it() -> None:
    file = passphrase_file("env")
    first = file.read_text()
    assert len(first) > 30 and file.stat().st_mode & 0o077 == 0
    assert passphrase_file("env").read_text() == first
    assert passphrase_file("other").read_text() != first


def test_an_organisations_own_backend_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "")
    assert backend_variables("env") == {"PULUMI_BACKEND_URL": "s3://states"}


def test_the_files_backend_is_used_and_another_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = StateSettings(backend="s3://states?region=us-east-1", secrets_provider="awskms://alias/states")
    assert backend_variables("env", shared) == {"PULUMI_BACKEND_URL": "s3://states?region=us-east-1"}
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://mine")
    with pytest.raises(FindingsError) as refused:
        backend_variables("env", shared)
    (finding,) = refused.value.findings
    assert finding.rule == "state-backend-differs" and "s3://mine" in finding.message and "unset" in str(finding.fix)
    with pytest.raises(FindingsError, match="file://"):
        backend_variables("env", StateSettings(backend="local"))


def test_a_shared_state_needs_a_provider_that_other_operators_have() -> None:
    without = backend_variables("env", StateSettings(backend="s3://states"))
    assert Path(without["PULUMI_CONFIG_PASSPHRASE_FILE"]).is_file()
    assert backend_variables("env", StateSettings(backend="local"))["PULUMI_BACKEND_URL"] == local_backend("env")


def test_a_stack_that_is_built_with_local_state_is_not_built_again_in_a_shared_one() -> None:
    folder = state_dir("env") / "pulumi" / ".pulumi" / "stacks" / "landbridge"
    folder.mkdir(parents=True)
    assert not has_local_stack("env", "env")
    for resources, built in (([], False), ([{"urn": "urn:pulumi:env::landbridge::aws:ec2/vpc:Vpc::env"}], True)):
        (folder / "env.json").write_text(json.dumps({"version": 3, "checkpoint": {"latest": {"resources": resources}}}))
        assert has_local_stack("env", "env") is built
    assert not has_local_stack("env", "env-cluster")


def test_only_locks_of_ended_processes_are_removed() -> None:
    folder = state_dir("env") / "pulumi" / ".pulumi" / "locks" / "organization" / "landbridge" / "env"
    folder.mkdir(parents=True)
    ended = subprocess.Popen(["true"])
    ended.wait()
    hostname = socket.gethostname()
    holders = {
        "dead": (ended.pid, hostname),
        "alive": (os.getpid(), hostname),
        "elsewhere": (ended.pid, "another-host"),
    }
    for name, (pid, host) in holders.items():
        (folder / f"{name}.json").write_text(json.dumps({"pid": pid, "hostname": host}))
    (folder / "odd.json").write_text("{")
    drop_dead_locks("env")
    assert sorted(path.stem for path in folder.glob("*.json")) == ["alive", "elsewhere", "odd"]


def test_half_written_attributes_are_removed_and_whole_ones_stay() -> None:
    folder = state_dir("env") / "pulumi" / ".pulumi" / "stacks" / "landbridge"
    folder.mkdir(parents=True)
    for name, text in {"whole.json": "{}", "whole.json.attrs": '{"md5": null}', "empty.json.attrs": ""}.items():
        (folder / name).write_text(text)
    (folder / "half.json.attrs").write_text('{"user.content')
    drop_torn_attributes("env")
    assert sorted(path.name for path in folder.iterdir()) == ["whole.json", "whole.json.attrs"]


def test_keys_that_pulumi_appends_are_kept_unless_the_file_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "Pulumi.mine.yaml"
    file.write_text(SANDBOX.read_text())
    monkeypatch.chdir(SANDBOX.parent)
    copy = write_project("mine", file) / "Pulumi.mine.yaml"
    with copy.open("a") as appended:
        appended.write("encryptionsalt: v1:theirs\n")
    file.write_text(file.read_text().replace("newcomer", "somebody"))
    write_project("mine", file)
    assert "somebody" in copy.read_text() and copy.read_text().count("encryptionsalt: v1:theirs") == 1

    file.write_text(file.read_text() + "\nencryptionsalt: v1:ours\n")
    write_project("mine", file)
    assert "v1:ours" in copy.read_text() and "v1:theirs" not in copy.read_text()


def test_a_fork_s_project_has_the_fork_s_name_and_each_of_its_stacks_a_file(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: acme\nmain: stacks\n")
    file = tmp_path / "Pulumi.mine.yaml"
    file.write_text(SANDBOX.read_text())
    for stack in ("mine-foundation", "mine-cluster"):
        folder = write_project("mine", file, stack)
        assert (folder / f"Pulumi.{stack}.yaml").read_text() == file.read_text()
    assert yaml_text.load((folder / "Pulumi.yaml").read_text())["name"] == "acme"
