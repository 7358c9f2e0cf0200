"""`landbridge image verify`: the program runs on a machine that has nothing of Landbridge."""

import json
from pathlib import Path

import pytest

from landbridge.findings import DataPath
from tests.unit.core.samples import changed
from tests.unit.live.conftest import as_json, run

SKIP: DataPath = ("aws", "node_checks")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment file; ssh is a program that runs the remote command on this machine."""
    ssh = tmp_path / "bin/ssh"
    ssh.parent.mkdir()
    # The options, --, the host and the command.
    ssh.write_text(
        '#!/bin/sh\nfor word in "$@"; do case $word in *@down) echo no route to host >&2; exit 255;; esac; done\n'
    )
    ssh.write_text(ssh.read_text() + 'eval "command=\\${$#}"\nexec sh -c "$command"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:/usr/sbin:/usr/bin:/sbin:/bin")
    path = tmp_path / "Pulumi.test.yaml"
    path.write_text(changed({}))
    return path


def test_a_machine_without_anything_is_told_what_it_lacks(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, output = as_json(capsys, "image", "verify", "--host", "me@node", "--pool", "p5", "--file", str(file))
    checks = {lack["check"] for lack in output["lacks"]}
    assert status == 1 and {"driver", "efa", "fabric-manager", "units", "files"} <= checks
    assert not checks & {"gpus", "efa-devices", "pool"}
    assert not list(Path("/tmp").glob("tmp.*/node_verify"))
    status, text, _ = run(
        capsys, "image", "verify", "--host", "me@node", "--running", "--pool", "p5", "--file", str(file)
    )
    assert status == 1 and "0 of 8 GPUs answer" in text and "0 of 32 EFA devices" in text


def test_a_machine_that_does_not_answer_is_no_lack(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, errors = run(capsys, "image", "verify", "--host", "me@down", "--file", str(file))
    assert status == 2 and "no route to host" in errors
    status, text, errors = run(capsys, "image", "verify", "--pool", "p6", "--file", str(file))
    assert status == 2 and "aws.pools has no p6" in text + errors


def test_every_check_that_is_skipped_leaves_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from landbridge.environment.aws.images import NodeCheck

    file.write_text(changed({SKIP: {"skip": list(NodeCheck.__args__)}}))  # type: ignore[attr-defined]
    status, output = as_json(capsys, "image", "verify", "--host", "me@node", "--file", str(file))
    assert (status, output) == (0, {"environment": "test", "host": "me@node", "lacks": []})
    assert json.dumps(output)
