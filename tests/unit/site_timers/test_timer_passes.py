"""Passes of the timers with the variables and files of their units, without a home directory, with stand-ins of Slurm and ssh."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from landbridge.ops.timer_metrics import write_timer
from tests.unit.core.samples import ROOT, changed, environment
from tests.unit.site_timers.test_timers_plan import TIMERS

UUID = "GPU-11111111-2222-3333-4444-555555555555"
#: Slurm with two nodes, whose state is in a file.
SCONTROL = """#!{python}
import json, sys
path = "{folder}/nodes.json"
nodes = json.load(open(path))
words = sys.argv[1:]
with open("{folder}/calls", "a") as calls:
    print("scontrol", *words, file=calls)
if words[0] == "update":
    values = dict(word.split("=", 1) for word in words[1:])
    for node in nodes["nodes"]:
        if node["name"] == values["nodename"] and values["state"] == "drain":
            node.update(state=["IDLE", "DRAIN"], reason=values["reason"])
    json.dump(nodes, open(path, "w"))
elif words[:2] == ["show", "nodes"]:
    print(json.dumps({{"nodes": [node for node in nodes["nodes"] if words[2] in ("--json", node["name"])]}}))
elif words[:2] == ["show", "jobs"]:
    print(json.dumps({{"jobs": []}}))
"""
#: Node that answers the words of the forced command.
SSH = """#!{python}
import sys
with open("{folder}/calls", "a") as calls:
    print("ssh", *sys.argv[-2:], file=calls)
if sys.argv[-1] == "facts" and sys.argv[-2].endswith(".11"):
    print(open("{folder}/facts.json").read())
elif sys.argv[-1].startswith("reset"):
    sys.exit("processes hold a GPU: 1")
elif sys.argv[-1] != "reboot":
    sys.exit(255)
"""


@dataclass(frozen=True)
class Unit:
    """Unit of a timer: its files, and the variables of its environment."""

    folder: Path

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        variables = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "HOME": "/nonexistent",
            "LANDBRIDGE_HOST_ACCESS": str(self.folder / "access.json"),
            "CREDENTIALS_DIRECTORY": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CACHE_HOME": str(self.folder / "state"),
        }
        file = self.folder / "Pulumi.test.yaml"
        line = [sys.executable, "-B", "-m", "landbridge.cli.main", *words, "-f", str(file)]
        return subprocess.run(
            [*line, "--metrics", str(self.folder / "metrics/x.prom")],
            cwd="/",
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    @property
    def metrics(self) -> dict[str, float]:
        text = (self.folder / "metrics/x.prom").read_text()
        return {name: float(value) for name, value in re.findall(r"^(landbridge\S+) (\S+)$", text, re.MULTILINE)}


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    folder = tmp_path
    for name in ("bin", "state", "metrics"):
        (folder / name).mkdir()
    for name, text in (("scontrol", SCONTROL), ("ssh", SSH)):
        path = folder / "bin" / name
        path.write_text(text.format(python=sys.executable, folder=folder))
        path.chmod(0o755)
    settings = {"account": "landbridge-access", "known_hosts": str(folder / "known_hosts"), "port": 22}
    (folder / "access.json").write_text(json.dumps(settings))
    (folder / "Pulumi.test.yaml").write_text(changed(TIMERS))
    idle = {"state": ["IDLE"], "reason": ""}
    (folder / "nodes.json").write_text(json.dumps({"nodes": [{"name": name, **idle} for name in ("dgx01", "dgx02")]}))
    gpu = {
        "index": "0",
        "pci_bus_id": "00000000:0F:00.0",
        "uuid": UUID,
        "serial": "1",
        "name": "H",
        "vbios_version": "",
    }
    problem = {"check": "xid", "detail": "95 at 0000:0f:00", "action": "reset", "event": True, "at": 1_790_000_000}
    result = {"at": 1_790_000_000, "problems": [problem]}
    facts = {"gpus": [gpu], "processes": 0, "booted_at": 1_780_000_000, "counters": [], "result": result}
    (folder / "facts.json").write_text(json.dumps(facts))
    (folder / "calls").touch()
    return Unit(folder)


def test_a_pass_of_health_drains_and_asks_the_nodes_own_program_for_repairs(unit: Unit) -> None:
    done = unit.run("health", "step", "--run")
    # The second node does not answer.
    assert done.returncode == 1 and "dgx02: did not answer" in done.stderr, done.stdout + done.stderr
    assert [call for call in unit.calls if not call.endswith((" facts", "--json", "reservation"))] == [
        "scontrol update nodename=dgx01 state=drain reason=landbridge: health: draining; xid 95 at 0000:0f:00; do: reset",
        f"ssh landbridge-access@10.20.1.11 reset {UUID}",
        # The node refuses the reset: it has to restart, which a later pass observes.
        "ssh landbridge-access@10.20.1.11 reboot",
    ]
    assert unit.metrics['landbridge_health_nodes{state="rebooting"}'] == 1
    assert unit.metrics['landbridge_timer_unanswered{timer="health"}'] == 1
    assert unit.metrics['landbridge_timer_interval_seconds{timer="health"}'] == 420
    count = len(unit.calls)
    # The next pass waits for the restart, and asks for nothing but facts.
    assert unit.run("health", "step", "--run").returncode == 1
    assert {call.rpartition(" ")[2] for call in unit.calls[count:]} <= {"facts", "--json", "reservation"}


def test_a_pass_of_idle_gpus_uses_slurm_of_its_own_host(unit: Unit) -> None:
    done = unit.run("idle", "step", "--run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert unit.calls == ["scontrol show jobs --json"]
    assert unit.metrics['landbridge_timer_interval_seconds{timer="idle"}'] == 600
    assert 'landbridge_timer_completed_timestamp_seconds{timer="idle"}' in unit.metrics


def test_timers_of_several_mlflow_servers_have_series_of_their_own(tmp_path: Path) -> None:
    for name in ("landbridge-timer-cost", "landbridge-timer-cost-mlflow-restricted", "other"):
        write_timer(tmp_path / f"{name}.prom", environment(TIMERS), "cost", 1.0, 0, {})
    labels = re.findall(r'timestamp_seconds\{timer="(.+)"', "".join(map(Path.read_text, sorted(tmp_path.iterdir()))))
    assert labels == ["cost-mlflow-restricted", "cost", "cost"]
