"""Lab node: interfaces, image and hardware, stored as one JSON file in its folder."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.network.bridges import LabInterface


@dataclass(frozen=True)
class LabNode:
    """Definition of one lab node."""

    name: str
    nics: tuple[LabInterface, ...]
    routes: tuple[str, ...] = ()
    image: str = "base"
    hostname: str = ""
    # The operator's address on the node's first segment, where package cache and wheelhouse are served.
    operator: str = ""
    gpus: int = 0
    # Platform in the catalogue; empty for a machine without GPU hardware.
    platform: str = ""
    # Folders of the node that are separate disks, on the host's file system rather than on the overlay.
    disks: tuple[str, ...] = ()
    file_handles: bool = field(default=False)

    @property
    def address(self) -> str:
        """First address of the first interface, without its prefix length."""
        return self.nics[0].addresses[0].partition("/")[0]


def save(lab: Layout, node: LabNode) -> None:
    (lab.node(node.name) / "node.json").write_text(json.dumps(asdict(node), indent=1))


def load(lab: Layout, name: str) -> LabNode:
    """Return the node's definition. Raise LabError if it was never created."""
    path = lab.node(name) / "node.json"
    try:
        raw = json.loads(path.read_text())
    except FileNotFoundError:
        known = ", ".join(names(lab)) or "none"
        raise LabError(f"there is no node '{name}'", f"nodes of this lab: {known}") from None
    raw["nics"] = tuple(LabInterface(nic["bridge"], tuple(nic["addresses"])) for nic in raw["nics"])
    for key in ("routes", "disks"):
        raw[key] = tuple(raw[key])
    return LabNode(**raw)


def names(lab: Layout) -> list[str]:
    """Return the names of the created nodes, sorted."""
    return sorted(path.parent.name for path in lab.nodes.glob("*/node.json"))


def folder(lab: Layout, name: str) -> Path:
    return lab.node(name)
