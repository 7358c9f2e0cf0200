"""A node for the health checks without a lab: the lab's stand-ins of hardware, and a stand-in of scontrol."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "ansible/roles/node_health/files"))

from node_health import host  # noqa: E402
from node_health import run as runner  # noqa: E402

from sandbox.hardware import faults  # noqa: E402
from sandbox.hardware.install import FOLDER, install  # noqa: E402

_SCONTROL = """#!/usr/bin/python3
import json, sys
path = {path!r}
node = json.load(open(path))
if node.get("busy"):
    sys.exit("slurm_load_node: Unable to contact slurm controller (connect failure)")
if sys.argv[1] == "show":
    present = {{"name": "node", **node, "reason_changed_at": {{"set": True, "infinite": False, "number": node.get("changed", 0)}}}}
    # Without a name: all nodes.
    print(json.dumps({{"nodes": [present] if sys.argv[3] == "node" else [*node.get("others", []), present]}}))
else:
    if node.get("refuses"):
        sys.exit("slurm_update error: Invalid user id")
    update = dict(word.split("=", 1) for word in sys.argv[2:])
    flags = set(node["state"]) - {{"DRAIN"}}
    if update.get("state") == "drain":
        flags.add("DRAIN")
    elif "state" in update:
        assert update["state"] == "undrain"
    elif "DRAIN" in node["state"]:
        flags.add("DRAIN")
    # A state leaves the reason as it is.
    node["reason"] = update.get("reason", node["reason"])
    node["comment"] = update.get("comment", node.get("comment", ""))
    if "reason" in update:
        node["changed"] = node.get("clock", 100)
    # Another node drains itself at the same time.
    node["others"] = node.get("others", []) + (node.pop("meanwhile", []) if flags != set(node["state"]) else [])
    node["state"] = sorted(flags)
    node["updates"] = node.get("updates", 0) + 1
    json.dump(node, open(path, "w"))
"""


@dataclass(frozen=True)
class Standins:
    """Files of the simulated node: its description, faults, kernel log and Slurm record."""

    root: Path

    @property
    def log(self) -> Path:
        return self.root / "kmsg"

    def become(self, platform: str) -> None:
        """Install the stand-ins of this platform; paths in the programs are moved below `root`."""
        install(self.root, "node", platform)
        for path in self.root.rglob("*"):
            if path.is_file() and path.name in ("nvidia-smi", "ibstat", "lab_hardware.py", "lab_mig.py"):
                text = path.read_text().replace(f"/{FOLDER}", str(self.root / FOLDER))
                for file in (faults.FILE, "/run/lab-mig.json"):
                    text = text.replace(file, str(self.root / Path(file).name))
                path.write_text(text)

    def inject(self, **injected: Any) -> None:
        (self.root / "faults.json").write_text(json.dumps(injected))

    def slurm(self, **fields: Any) -> dict[str, Any]:
        """Change Slurm's record of the node by `fields` and return it."""
        path = self.root / "slurm.json"
        record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"state": ["IDLE"], "reason": ""}
        if fields:
            path.write_text(json.dumps(record | fields))
        return record | fields


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Standins:
    """Return a healthy dgx-h100 that is idle in Slurm."""
    machine = Standins(tmp_path)
    machine.become("dgx-h100")
    machine.log.write_text("")
    machine.slurm(state=["IDLE"])
    program = tmp_path / "usr/bin/scontrol"
    program.write_text(_SCONTROL.format(path=str(tmp_path / "slurm.json")))
    program.chmod(0o755)
    (tmp_path / "dev").mkdir()
    for name in ("nvidiactl", "nvidia-uvm"):
        (tmp_path / "dev" / name).touch()
    monkeypatch.setattr(host, "DEV", tmp_path / "dev")
    monkeypatch.setattr(runner, "PATH", f"{tmp_path}/usr/bin:{tmp_path}/usr/sbin:/usr/bin:/bin")
    return machine
