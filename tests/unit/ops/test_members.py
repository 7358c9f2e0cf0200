"""Commands `landbridge node add` and `remove`: the change shown, checks before the file is written, and refusals."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.findings import FindingsError
from landbridge.ops.members import add_limit, reasons_to_stay
from landbridge.ops.nodes import node_rows
from tests.unit.core.samples import ROOT, environment

STATES = {"dgx01": ["IDLE"], "dgx02": ["IDLE", "DRAIN"]}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the sandbox's environment, and a stand-in of ssh that answers as its controller would."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    answers = {"nodes": [{"name": name, "state": state} for name, state in STATES.items()]}
    (tmp_path / "nodes.json").write_text(json.dumps(answers))
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nexec cat {tmp_path}/nodes.json\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    path = tmp_path / "Pulumi.acme.yaml"
    path.write_text((ROOT / "stacks/Pulumi.sandbox.yaml").read_text())
    path.chmod(0o640)
    return path


def landbridge(file: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["node", *words, "-f", str(file)])
    return done.exit_code, done.output


def changed(output: str) -> list[str]:
    return [line for line in output.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def test_add_shows_the_change_and_the_next_command_and_writes_only_with_the_option(file: Path) -> None:
    before = file.read_text()
    code, output = landbridge(file, "add", "dgx03")
    assert code == 0 and file.read_text() == before
    assert changed(output) == [
        '-        - {hosts: "dgx[01-02]", platform: dgx-h100, address: 10.20.1.11, rack: r1}',
        '+        - {hosts: "dgx[01-03]", platform: dgx-h100, address: 10.20.1.11, rack: r1}',
    ]
    assert "ansible/playbooks/add_node.yml --limit dgx03,slurm_controller" in output
    assert landbridge(file, "add", "dgx03", "--write")[0] == 0
    assert file.read_text() == before.replace("dgx[01-02]", "dgx[01-03]") and file.stat().st_mode & 0o777 == 0o640
    code, output = landbridge(file, "add", "dgx[02-03]", "--write")
    assert code == 0 and "is unchanged" in output and changed(output) == []


def test_a_link_stays_a_link_and_a_read_only_file_is_not_replaced(file: Path) -> None:
    target = file.rename(file.with_name("shared.yaml"))
    file.symlink_to(target.name)
    before = target.read_text()
    target.chmod(0o440)
    with pytest.raises(FindingsError, match="read-only"):
        CliRunner().invoke(build(), ["node", "add", "dgx03", "--write", "-f", str(file)], catch_exceptions=False)
    assert file.read_text() == before
    target.chmod(0o640)
    assert landbridge(file, "add", "dgx03", "--write")[0] == 0
    assert file.is_symlink() and target.read_text() == before.replace("dgx[01-02]", "dgx[01-03]")


def test_a_file_that_would_be_wrong_is_not_written(file: Path) -> None:
    before = file.read_text()
    code, output = landbridge(file, "add", "far1", "--platform", "dgx-h100", "--address", "10.99.0.1", "--write")
    assert code == 1 and "address-in-site" in output and file.read_text() == before
    code, output = landbridge(file, "add", "far1", "--platform", "abacus", "--address", "10.20.9.1", "--write")
    assert code == 1 and "abacus" in output and file.read_text() == before
    assert landbridge(file, "add", "far1", "--address", "10.20.9")[0] == 2
    assert landbridge(file, "add", "dgx[", "--write")[0] == 2
    assert landbridge(file.with_name("Pulumi.none.yaml"), "add", "dgx03")[0] == 2


def test_a_node_leaves_only_when_it_is_out_of_service_and_without_jobs(file: Path) -> None:
    before = file.read_text()
    code, output = landbridge(file, "remove", "dgx01", "--write")
    assert code == 1 and "dgx01 is idle: landbridge node drain dgx01" in output and file.read_text() == before
    assert landbridge(file, "remove", "dgx01")[0] == 0 and file.read_text() == before
    assert landbridge(file, "remove", "dgx02", "--write")[0] == 0
    assert file.read_text() == before.replace("dgx[01-02]", "dgx01")
    answer = {"nodes": [{"name": name, "state": state} for name, state in (("a", ["MIXED", "DRAIN"]), ("b", ["DOWN"]))]}
    assert reasons_to_stay(node_rows(answer), ("a", "b")) == ("a is mixed+drain: its jobs have to end first",)


def test_a_silent_slurm_keeps_every_node(file: Path) -> None:
    (file.parent / "ssh").write_text("#!/bin/sh\necho 'no route to host' >&2; exit 255\n")
    before = file.read_text()
    code, output = landbridge(file, "remove", "dgx02", "--run")
    assert code == 2 and "no route to host" in output and file.read_text() == before


def test_dns_servers_are_in_the_limit_of_a_new_node() -> None:
    assert add_limit(environment(), ["dgx03"]) == "dgx03,slurm_controller"
    with_dns = environment({("dns",): {"servers": ["gw01"], "upstream": ["10.20.0.2"]}})
    assert add_limit(with_dns, ["dgx03", "dgx04"]) == "dgx03,dgx04,slurm_controller,site_dns"


def test_a_network_that_firewalls_do_not_know_is_named(file: Path) -> None:
    far = ("add", "dgx03", "--address", "10.20.7.11")
    # The sandbox has no firewall on its hosts, unlike other environments.
    hosts = re.compile(r"^    hosts: .*\n", re.MULTILINE)
    assert hosts.search(file.read_text()) and "no node has been" not in landbridge(file, *far)[1]
    file.write_text(hosts.sub("", file.read_text()))
    code, output = landbridge(file, *far)
    assert code == 0 and "no node has been in 10.20.7.0/24 yet" in output
    assert "no node has been" not in landbridge(file, "add", "dgx03")[1]
