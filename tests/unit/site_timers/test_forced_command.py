"""The forced command and its root service, as real processes with a real socket: words of the list and no others."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from landbridge.ops import host_access
from tests.unit.core.samples import ROOT

FILES = ROOT / "ansible/roles/host_access/files"
UUID = "GPU-11111111-2222-3333-4444-555555555555"
OURS = "landbridge: health: draining; xid 95; do: reset"
#: Stand-in of scontrol, nvidia-smi and systemctl: it writes its words into a file.
PROGRAM = """#!/bin/sh
name=$(basename "$0")
[ "$name" != nvidia-smi ] || trap '[ ! -e {folder}/inforom ] || {{ echo "WARNING: infoROM is corrupted at gpu 0000:1B:00.0"; exit 14; }}' EXIT
echo "$name $*" >> {folder}/calls
case "$name $*" in
  scontrol*) cat {folder}/nodes.json ;;
  *query-gpu=uuid*) echo {uuid} ;;
  *query-compute-apps*) cat {folder}/processes ;;
  "systemctl is-active --quiet nvidia-"*) exit 0 ;;
  "systemctl stop nvidia-persistenced"|"systemctl start nvidia-dcgm") [ ! -e {folder}/broken ] ;;
  "systemctl is-active"*) exit 3 ;;
  *gpu-reset*) echo "GPU 0 was successfully reset" ;;
esac
"""


@dataclass
class Host:
    """Host with the role's program: settings, and stand-ins of the node's programs."""

    folder: Path
    words: dict[str, list[str]] = field(default_factory=dict)
    budget: int = 1

    def nodes(self, *nodes: Mapping[str, Any]) -> None:
        (self.folder / "nodes.json").write_text(json.dumps({"nodes": nodes}))

    def run(self, mode: str, text: str, stdin: bool) -> "subprocess.CompletedProcess[str]":
        settings = self.folder / "settings.json"
        settings.write_text(json.dumps({"words": self.words, "budget": self.budget}))
        options = ["--settings", str(settings), "--socket", self.socket, "--lock", str(self.folder / "lock")]
        variables = {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(FILES),
            "SLURMD_NODENAME": "dgx01",
            **({} if stdin else {"SSH_ORIGINAL_COMMAND": text}),
        }
        words = [sys.executable, "-sB", "-m", "host_access", mode, *options]
        given = text if stdin else None
        return subprocess.run(
            words,
            env=variables,
            input=given,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )

    def serve(self, text: str) -> dict[str, Any]:
        """Return the answer of the root service to the text of a connection."""
        done = self.run("serve", text + "\n", stdin=True)
        return dict(json.loads(done.stdout))

    def forced(self, text: str) -> "subprocess.CompletedProcess[str]":
        """Run the forced command with the words of an ssh client."""
        return self.run("forced", text, stdin=False)

    @property
    def socket(self) -> str:
        return str(self.folder / "s")

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def host(tmp_path: Path) -> Host:
    (tmp_path / "bin").mkdir()
    (tmp_path / "processes").write_text("")
    for name in ("scontrol", "nvidia-smi", "systemctl"):
        path = tmp_path / "bin" / name
        path.write_text(PROGRAM.format(folder=tmp_path, uuid=UUID))
        path.chmod(0o755)
    ready = Host(tmp_path, {"facts": ["/bin/echo", "facts of"], "rung": ["/bin/echo"], "reset": [], "reboot": []})
    ready.nodes({"name": "dgx01", "state": ["IDLE", "DRAIN"], "reason": OURS})
    return ready


ATTEMPTS = (
    "",
    "sh",
    "facts; id",
    "facts\nid",
    "facts id",
    " facts",
    "facts ",
    "FACTS",
    "$(id)",
    "facts $(id)",
    "facts --help",
    "/bin/sh -c id",
    "samples",
    "link",
    "scp -t /tmp",
    "sftp",
    "internal-sftp",
    "reset",
    "reset all",
    "reset GPU-1",
    f"reset {UUID};reboot",
    f"reset {UUID} --power",
    f"reset {UUID},",
    "reset " + ",".join([UUID] * 17),
    "reboot now",
    "reboot\x00",
    "rung dgx01",
    "rung -w dgx01",
    "rung dgx01 driver extra",
    "rung ../x driver",
    "rung dgx01 driver\n",
    "fаcts",
    "facts" + "A" * 5000,
)


@pytest.mark.parametrize("mode", ["forced", "serve"])
def test_words_that_are_not_on_the_list_are_refused_in_both_parts(host: Host, mode: str) -> None:
    for text in ATTEMPTS:
        if mode == "forced":
            if "\x00" in text:
                continue
            done = host.forced(text)
            seen = (done.returncode, done.stdout, "refused" in done.stderr)
        elif text.partition("\n")[0] in host.words or text == "rung dgx01 driver\n":
            # The service reads one line.
            continue
        else:
            answer = host.serve(text)
            seen = (answer["code"], answer["out"], "refused" in answer["err"])
        assert seen == (126, "", True), text[:60]
    assert host.calls == []


@pytest.fixture
def served(host: Host) -> Iterator[Host]:
    """Answer connections as systemd does: one process of the root service for each."""
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(host.socket)
        server.listen()

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, connection.makefile("r") as lines:
                    text = lines.readline()
                    connection.sendall(host.run("serve", text, stdin=True).stdout.encode())

        Thread(target=accept, daemon=True).start()
        yield host
        server.shutdown(socket.SHUT_RDWR)


def test_a_word_of_the_list_is_answered_with_the_status_of_its_program(served: Host) -> None:
    done = served.forced("facts")
    assert (done.returncode, done.stdout) == (0, "facts of\n")
    served.words["facts"] = ["/bin/sh", "-c", "echo part; echo reason >&2; exit 7"]
    done = served.forced("facts")
    assert (done.returncode, done.stdout, done.stderr) == (7, "part\n", "reason\n")
    assert host_access.ask("rung dgx01 driver", 60, served.socket) == (0, "dgx01 driver\n", "")


def test_bytes_that_are_no_text_are_refused(host: Host) -> None:
    assert host.serve("facts\udcff")["code"] == 126


def test_without_a_service_the_client_has_an_error_and_no_traceback(host: Host) -> None:
    done = host.forced("facts")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_a_reset_stops_and_starts_the_services_that_hold_the_gpus(host: Host) -> None:
    assert host.serve(f"reset {UUID}") == {"code": 0, "out": "GPU 0 was successfully reset\n", "err": ""}
    changes = [call for call in host.calls if "gpu-reset" in call or call.split()[1] in ("stop", "start")]
    assert changes == [
        "systemctl stop nvidia-dcgm",
        "systemctl stop nvidia-persistenced",
        f"nvidia-smi -i {UUID} --gpu-reset",
        "systemctl start nvidia-dcgm",
        "systemctl start nvidia-persistenced",
    ]


def test_services_are_started_also_if_one_does_not_stop_and_another_does_not_start(host: Host) -> None:
    (host.folder / "broken").touch()
    assert host.serve(f"reset {UUID}")["code"] == 1
    changes = [call for call in host.calls if "gpu-reset" in call or call.split()[1] in ("stop", "start")]
    assert changes[2:] == ["systemctl start nvidia-dcgm", "systemctl start nvidia-persistenced"]


def test_a_corrupted_inforom_prevents_no_reset(host: Host) -> None:
    (host.folder / "inforom").touch()
    assert host.serve(f"reset {UUID}")["code"] == 0
    (host.folder / "processes").write_text("628\n")
    assert host.serve(f"reset {UUID}")["err"] == "processes hold a GPU: 628\n"


def test_a_restart_is_asked_of_systemd(host: Host) -> None:
    assert host.serve("reboot")["code"] == 0
    assert host.calls[-1] == "systemctl --no-block reboot"


OTHER = {"name": "dgx02", "state": ["IDLE", "DRAIN"], "reason": OURS}
UNFIT: dict[str, tuple[list[dict[str, Any]], str]] = {
    "in service": ([{"name": "dgx01", "state": ["IDLE"], "reason": OURS}], "not drained by landbridge health"),
    "drained by a person": (
        [{"name": "dgx01", "state": ["IDLE", "DRAIN"], "reason": "disk is replaced"}],
        "not drained by landbridge health: disk is replaced",
    ),
    "drained for a restart": (
        [{"name": "dgx01", "state": ["IDLE", "DRAIN"], "reason": "landbridge: driver"}],
        "not drained by landbridge health",
    ),
    "with jobs": ([{"name": "dgx01", "state": ["MIXED", "DRAIN"], "reason": OURS}], "dgx01 has jobs"),
    "not known": ([OTHER], "Slurm has no node dgx01"),
    "budget": ([{"name": "dgx01", "state": ["IDLE", "DRAIN"], "reason": OURS}, OTHER], "the failure budget is 1"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_a_node_that_is_not_fit_is_not_repaired(host: Host, case: str) -> None:
    nodes, message = UNFIT[case]
    host.nodes(*nodes)
    for text in (f"reset {UUID}", "reboot"):
        answer = host.serve(text)
        assert answer["code"] == 1 and message in answer["err"], answer
    assert {call.split()[0] for call in host.calls} == {"scontrol"}


def test_gpus_with_processes_and_gpus_of_other_nodes_are_not_reset(host: Host) -> None:
    assert "this node has no" in host.serve(f"reset {UUID[:-1]}6")["err"]
    (host.folder / "processes").write_text("4242\n")
    assert "processes hold a GPU: 4242" in host.serve(f"reset {UUID}")["err"]
    assert not any("gpu-reset" in call or " stop " in call for call in host.calls)


def test_nodes_in_aws_do_not_count_in_the_budget(host: Host) -> None:
    cloud = {**OTHER, "state": ["IDLE", "DRAIN", "CLOUD"]}
    host.nodes({"name": "dgx01", "state": ["IDLE", "DRAIN"], "reason": OURS}, cloud)
    assert host.serve("reboot")["code"] == 0
