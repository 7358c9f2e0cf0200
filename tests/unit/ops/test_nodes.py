"""Commands `landbridge node`: reading of Slurm's nodes, messages, and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.ops.nodes import node_rows, refused_reason, why
from landbridge.ops.scontrol import ScontrolError, local, over_ssh
from tests.unit.core.samples import environment

XID = "landbridge:xid:79 at 0000:1b:00; do: reboot (and 2 more)"
NODES: list[dict[str, Any]] = [
    {"name": "dgx01", "state": ["IDLE", "DRAIN"], "reason": XID, "reason_set_by_user": "root", "reason_changed_at": {"set": True, "number": 1795295096}},
    {"name": "dgx02", "state": ["MIXED"], "reason": XID, "reason_changed_at": {"set": True, "number": 1795295096}},
    {"name": "dgx03", "state": ["IDLE", "DRAIN"], "reason": "new fans", "reason_set_by_user": "kim", "reason_changed_at": 1795295096},
    {"name": "dgx04", "state": ["DOWN", "NOT_RESPONDING"], "reason": "Not responding", "reason_changed_at": {"set": False, "number": 0}},
]  # fmt: skip


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a stand-in of scontrol on PATH that answers like these nodes; return the file with its received commands."""
    (tmp_path / "nodes.json").write_text(json.dumps({"nodes": NODES}))
    program = tmp_path / "scontrol"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = show ] && exec cat {tmp_path}/nodes.json\nprintf "%s|" "$@" >> {tmp_path}/told\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "told"


def landbridge(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["node", *words])
    return done.exit_code, done.output


def test_list_shows_reasons_of_drained_and_down_nodes_alone(slurm: Path) -> None:
    code, output = landbridge("list")
    assert code == 1
    assert [line.split(maxsplit=2) for line in output.splitlines()] == [
        ["dgx01", "idle+drain", f"2026-11-21 21:04Z {XID}"],
        ["dgx02", "mixed"],
        ["dgx03", "idle+drain", "2026-11-21 21:04Z new fans"],
        ["dgx04", "down+not_responding", "Not responding"],
    ]
    rows = json.loads(landbridge("list", "--format", "json")[1])
    assert [(row["name"], row["drained"], row["check"], row["action"]) for row in rows] == [
        ("dgx01", True, "xid", "reboot"),
        ("dgx02", False, None, None),
        ("dgx03", True, None, None),
        ("dgx04", False, None, None),
    ]


def test_why_explains_the_reason_and_the_next_action(slurm: Path) -> None:
    code, output = landbridge("why", "dgx01")
    assert code == 0
    assert "Xid 79: GPU has fallen off the bus" in output and "reboot the node" in output and "by root" in output
    explanations = {row.name: why(row) for row in node_rows({"nodes": NODES})}
    assert explanations["dgx02"].meaning == "it is in service"
    assert explanations["dgx03"].meaning == "kim drained it: new fans" and "resume dgx03" in explanations["dgx03"].step
    assert "down" in explanations["dgx04"].meaning
    assert json.loads(landbridge("why", "dgx[01,03]", "--format", "json")[1])[1]["node"]["by"] == "kim"


def test_why_refers_to_the_repair_of_a_node() -> None:
    reason = "landbridge: health: resetting; xid 48 at 0000:1b:00; do: reset"
    (node,) = node_rows({"nodes": [{"name": "dgx05", "state": ["IDLE", "DRAIN"], "reason": reason}]})
    explanation = why(node)
    assert explanation.meaning == "landbridge health repairs it: resetting; xid 48 at 0000:1b:00; do: reset"
    assert explanation.step == "see its state: landbridge health why dgx05"


@pytest.mark.parametrize(
    ("start", "command"),
    [("landbridge: configure: ", "landbridge configure"), ("landbridge: restart: ", "reboot_nodes.yml")],
)
def test_why_names_the_command_whose_drain_it_is(start: str, command: str) -> None:
    row = {
        "name": "dgx05",
        "state": ["IDLE", "DRAIN"],
        "reason": f"{start}driver 580 is installed",
        "reason_set_by_user": "root",
    }
    (node,) = node_rows({"nodes": [row]})
    explained = why(node)
    assert explained.meaning == f"{command} drained it for a restart: driver 580 is installed"
    assert "run it again" in explained.step and refused_reason(str(row["reason"])) is not None


def test_drain_and_resume_send_one_command_to_slurm(slurm: Path) -> None:
    assert landbridge("drain", "dgx02", "--reason", "new fans")[0] == 0
    assert slurm.read_text() == "update|nodename=dgx02|state=drain|reason=new fans|"
    slurm.write_text("")
    assert landbridge("resume", "dgx[01-03]")[0] == 0
    assert slurm.read_text() == "update|nodename=dgx01,dgx03|state=undrain|"
    slurm.write_text("")
    assert "nothing is drained" in landbridge("resume", "dgx04")[1]
    assert slurm.read_text() == ""


@pytest.mark.parametrize("reason", ["", "  ", "landbridge:gpu:mine", "two\nlines", "it's hot"])
def test_a_reason_must_be_an_operators(slurm: Path, reason: str) -> None:
    assert refused_reason(reason)
    assert landbridge("drain", "dgx02", "--reason", reason)[0] == 2
    assert not slurm.exists()


def test_unknown_nodes_and_a_silent_slurm_end_with_2(slurm: Path) -> None:
    assert landbridge("why", "dgx09") == (2, "landbridge: Slurm knows no dgx09\n")
    assert landbridge("drain", "dgx[1", "--reason", "x")[0] == 2
    (slurm.parent / "scontrol").write_text("#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n")
    assert landbridge("list") == (2, "landbridge: Unable to contact slurm controller\n")
    (slurm.parent / "scontrol").unlink()
    assert landbridge("list")[0] == 2
    with pytest.raises(ScontrolError, match="name the environment"):
        local(["show"])


def test_the_backup_controller_is_queried_if_the_primary_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *10.20.0.11*) exit 255;; esac\necho here\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    services = {"controller": ["ctl01", "db01"], "login": ["login01"]}
    scontrol = over_ssh(environment({("onprem", "services"): services}))
    assert scontrol(["show", "nodes", "two words"]) == "here\n"
    commands = (tmp_path / "asked").read_text().splitlines()
    assert [line.rpartition("-- ")[2] for line in commands] == [
        f"ansible@10.20.0.{last} sudo --non-interactive scontrol show nodes 'two words'" for last in (11, 12)
    ]


def test_a_node_with_a_fault_beyond_the_failure_budget_is_listed_and_explained() -> None:
    text = "landbridge:recovery:GPU 0 needs: Reset; do: reset (not drained: health checks have drained 1 nodes, the failure budget)"
    rows = node_rows(
        {
            "nodes": [
                {"name": "dgx01", "state": ["MIXED"], "reason": "", "comment": text},
                {"name": "dgx02", "state": ["IDLE"], "reason": "", "comment": "on loan"},
                {"name": "dgx03", "state": ["IDLE", "DRAIN"], "reason": "new fans", "comment": text},
            ]
        }
    )
    assert [row.withheld for row in rows] == [text, "", ""]
    assert why(rows[0]).meaning == f"it is in service with a fault: {text}"
    assert "inspect the nodes that health checks have drained" in why(rows[0]).step
