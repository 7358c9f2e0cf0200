"""Paths of a lab's files and names of its kernel objects.

Several labs can run on one machine: the variable LANDBRIDGE_LAB selects one, and its name is the prefix of its network
namespaces and of its cgroup folder. Labs share images and caches, which are addressed by their content.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sandbox.nspawn.errors import LabError

DEFAULT_LAB = "landbridge"


def _xdg(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default) / "landbridge"


@dataclass(frozen=True)
class Layout:
    """One lab's name and folders."""

    name: str
    state: Path
    cache: Path

    @property
    def nodes(self) -> Path:
        return self.state / "nodes"

    @property
    def images(self) -> Path:
        return self.cache / "images"

    @property
    def apt(self) -> Path:
        return self.cache / "apt"

    @property
    def wheels(self) -> Path:
        return self.cache / "wheels"

    @property
    def private_key(self) -> Path:
        return self.state / "id_ed25519"

    @property
    def public_key(self) -> Path:
        return self.state / "id_ed25519.pub"

    @property
    def netns(self) -> str:
        """Name of the network namespace that contains the bridges and the operator's addresses."""
        return self.name

    def node_netns(self, node: str) -> str:
        """Return the name of a node's namespace. The dot separates names of lab `a`'s nodes from lab `a-b`."""
        return f"{self.name}.{node}"

    def node(self, node: str) -> Path:
        return self.nodes / node


def layout(name: str | None = None) -> Layout:
    """Return the layout of lab `name`, else of the lab in LANDBRIDGE_LAB, else of the default lab."""
    chosen = name or os.environ.get("LANDBRIDGE_LAB") or DEFAULT_LAB
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", chosen):
        raise LabError(f"'{chosen}' cannot name a lab", "use a-z, 0-9 and '-', starting with a letter")
    folder = "lab" if chosen == DEFAULT_LAB else f"lab-{chosen}"
    return Layout(
        name=chosen,
        state=_xdg("XDG_STATE_HOME", ".local/state") / folder,
        cache=_xdg("XDG_CACHE_HOME", ".cache"),
    )
