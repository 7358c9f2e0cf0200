"""Paths of a lab's files and names of its kernel objects.

Several labs can live on one machine: the variable LANDBRIDGE_LAB names the one in use, and the name is the prefix of
its network namespaces and its cgroup folder. Images and caches are shared, being addressed by their content.
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
        """The namespace that holds the bridges and the operator's addresses."""
        return self.name

    def node_netns(self, node: str) -> str:
        """A dot separates lab and node: no node of lab `a` can carry the name of lab `a-b`."""
        return f"{self.name}.{node}"

    def node(self, node: str) -> Path:
        return self.nodes / node


def layout(name: str | None = None) -> Layout:
    """The lab called `name`, else the one LANDBRIDGE_LAB names, else the default one."""
    chosen = name or os.environ.get("LANDBRIDGE_LAB") or DEFAULT_LAB
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", chosen):
        raise LabError(f"'{chosen}' cannot name a lab", "use a-z, 0-9 and '-', starting with a letter")
    folder = "lab" if chosen == DEFAULT_LAB else f"lab-{chosen}"
    return Layout(
        name=chosen,
        state=_xdg("XDG_STATE_HOME", ".local/state") / folder,
        cache=_xdg("XDG_CACHE_HOME", ".cache"),
    )
