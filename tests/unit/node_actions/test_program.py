"""The program of a node's scripts against an emulated S3, with the role of the plan: order, checksum, failure, limits."""

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.node_actions.node import HUB, ROLES, Node, boot, planned, put, script

FIRST = '#!/bin/sh\necho "$LANDBRIDGE_EVENT of $LANDBRIDGE_POOL in $LANDBRIDGE_REGION: $2"\necho first >> "$1"\n'
SECOND = '#!/usr/bin/env python3\nimport sys\nprint("second", file=open(sys.argv[1], "a"))\n'
LOST = 'echo "console: no such driver"; exit 3\n'


def start(cloud: EmulatorProcess, root: Path, *entries: tuple[str, dict[str, Any]], event: str = "node_start") -> Node:
    """Boot a node whose pool has these scripts for an event; S3 has their texts."""
    node = boot(cloud, root, planned(cloud, {event: [entry for _, entry in entries]}))
    put(cloud, {entry["script"].split("/", 3)[3]: text for text, entry in entries})
    return node


def trace(node: Node) -> Path:
    """Return the file into which the scripts of a test write."""
    return node.root / "trace/order"


def ended(node: Node, event: str = "node_start") -> str:
    """Run an event that must end the node; return the reason, which Slurm, console and journal have."""
    completed = node.run(event)
    assert completed.returncode == 1, completed
    assert node.calls[0] == f"scontrol update nodename={os.uname().nodename} state=down reason={node.reason}"
    assert "ClusterName=test" in node.calls and node.calls[-1] == "systemctl --no-block poweroff"
    assert node.reason[:400] in completed.stderr and node.console.endswith(f"{completed.stderr.splitlines()[0]}\n")
    return node.reason


@pytest.mark.parametrize("event", ["node_start", "node_configured"])
def test_scripts_run_in_order_with_arguments_and_their_log_is_for_root(
    cloud: EmulatorProcess, tmp_path: Path, event: str
) -> None:
    order = str(tmp_path / "trace/order")
    first = script(FIRST, "nodes/first.sh", arguments=[order, "two words; $(true)"])
    node = start(cloud, tmp_path, first, script(SECOND, "nodes/second", arguments=[order]), event=event)
    other = {"node_start": "node_configured", "node_configured": "node_start"}[event]
    assert node.run(other).returncode == 0 and not trace(node).exists()
    completed = node.run(event)
    assert completed.returncode == 0, completed
    assert trace(node).read_text() == "first\nsecond\n"
    log = tmp_path / f"var/log/landbridge/{event}-1-first.sh.log"
    assert log.read_text() == f"{event} of p5 in us-east-1: two words; $(true)\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert node.calls == [] and node.console == ""
    assert node.run(event).returncode == 0, "a second boot runs them again"
    assert trace(node).read_text() == "first\nsecond\n" * 2


def test_a_wrong_checksum_of_any_script_runs_none(cloud: EmulatorProcess, tmp_path: Path) -> None:
    order = str(tmp_path / "trace/order")
    node = start(cloud, tmp_path, script(FIRST, "first.sh", arguments=[order, "x"]), script(SECOND, "second"))
    put(cloud, {"second": SECOND + "# changed\n"})
    reason = ended(node)
    assert reason.startswith("landbridge: action: node_start second: s3://acme-scripts/second has the sha256 ")
    assert not trace(node).exists() and not (tmp_path / "var").exists()


def test_a_script_that_fails_ends_the_node_and_the_end_of_its_log_is_on_the_console(
    cloud: EmulatorProcess, tmp_path: Path
) -> None:
    noise = "#!/bin/sh\nyes noise | head -n 9000\nprintf '\\033[31m'; " + LOST
    order = str(tmp_path / "trace/order")
    after = script(SECOND, "second", arguments=[order])
    node = start(cloud, tmp_path, script(noise, "setup.sh"), after, event="node_configured")
    assert ended(node, "node_configured") == "landbridge: action: node_configured setup.sh: exit status 3"
    lines = node.console.splitlines()
    assert lines[-2:] == ["[31mconsole: no such driver", node.reason] and 100 < len(node.console) < 5000
    log = (tmp_path / "var/log/landbridge/node_configured-1-setup.sh.log").read_text()
    assert len(log.splitlines()) == 9001 and not trace(node).exists()


def test_a_script_that_does_not_end_is_killed_with_its_children(cloud: EmulatorProcess, tmp_path: Path) -> None:
    waiting = f"#!/bin/sh\nsleep 3600 &\necho $! > {tmp_path}/trace/child\necho waiting\nwait\n"
    node = start(cloud, tmp_path, script(waiting, "wait.sh", timeout=2))
    assert ended(node) == "landbridge: action: node_start wait.sh: not ended after 2 s"
    assert "waiting" in node.console
    child = int((tmp_path / "trace/child").read_text())
    # Without an entry it has ended, and its parent has read its status.
    with contextlib.suppress(OSError):
        assert Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2].startswith("Z")


def test_a_missing_script_is_told_as_s3_tells_it_to_a_role_that_may_not_list(
    cloud: EmulatorProcess, tmp_path: Path
) -> None:
    node = start(cloud, tmp_path, script(FIRST, "first.sh"))
    client_of(cloud, "s3").delete_object(Bucket="acme-scripts", Key="first.sh")
    reason = ended(node)
    assert reason.endswith("AccessDenied: it is missing, or the nodes' role may not read it")


def test_another_object_of_the_bucket_is_not_readable(cloud: EmulatorProcess, tmp_path: Path) -> None:
    node = start(cloud, tmp_path, script(FIRST, "first.sh"))
    put(cloud, {"first.sh.bak": FIRST})
    pool = tmp_path / "etc/landbridge/pool.json"
    pool.write_text(pool.read_text().replace('"first.sh"', '"first.sh.bak"'))
    assert "AccessDenied" in ended(node)


@pytest.mark.parametrize("skipped", ["", "DecryptScripts"])
def test_a_script_in_the_hub_needs_the_key_of_its_class(cloud: EmulatorProcess, tmp_path: Path, skipped: str) -> None:
    text, entry = script("#!/bin/sh\nexit 0\n", "scripts/x.sh", bucket=HUB)
    node = boot(cloud, tmp_path, planned(cloud, {"node_start": [entry]}), skipped=skipped)
    put(cloud, {"scripts/x.sh": text}, HUB)
    assert node.run("node_start").returncode == (1 if skipped else 0)
    assert ("AccessDenied" in node.reason) if skipped else not node.calls


def test_a_script_without_an_interpreter_cannot_be_run(cloud: EmulatorProcess, tmp_path: Path) -> None:
    node = start(cloud, tmp_path, script("echo no interpreter\n", "x"))
    assert ended(node).startswith("landbridge: action: node_start x: cannot be run: Exec format error")


def test_a_script_that_is_too_large_is_not_read(cloud: EmulatorProcess, tmp_path: Path) -> None:
    node = start(cloud, tmp_path, script("#!/bin/sh\n#" + "x" * 2**24, "large"))
    assert "has 16777227 bytes, more than 16777216" in ended(node)


def test_a_node_that_is_kept_for_a_look_does_not_power_off(cloud: EmulatorProcess, tmp_path: Path) -> None:
    node = start(cloud, tmp_path, script("#!/bin/sh\nexit 1\n", "x"))
    settings = tmp_path / "etc/landbridge/node-verify.json"
    data = json.loads(settings.read_text())
    data["report"]["power_off"] = False
    settings.write_text(json.dumps(data))
    assert node.run("node_start").returncode == 1
    assert node.reason.endswith("exit status 1") and not any(call.startswith("systemctl") for call in node.calls)


def test_an_instance_without_a_pool_runs_nothing(cloud: EmulatorProcess, tmp_path: Path) -> None:
    node = start(cloud, tmp_path, script(FIRST, "first.sh"))
    (tmp_path / "etc/landbridge/pool.json").unlink()
    assert node.run("node_start").returncode == 0 and node.calls == []


def test_the_role_copies_every_module() -> None:
    role = ROLES / "node_actions"
    tasks = yaml_text.load((role / "tasks/main.yml").read_text())
    (copied,) = [task["loop"] for task in tasks if task["name"] == "Copy the modules"]
    assert sorted(copied) == sorted(path.stem for path in (role / "files/node_actions").glob("*.py"))
