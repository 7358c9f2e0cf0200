"""Paths of a lab's files and names of its kernel objects.

Several labs can run on one machine: the variable LANDBRIDGE_LAB selects one, and its name is the prefix of its network
namespaces and of its cgroup folder, and determines its address on loopback. Labs share images and caches, which are
addressed by their content.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from sandbox.nspawn.errors import LabError

DEFAULT_LAB = "landbridge"
CHECKOUT = Path(__file__).resolve().parents[2]


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

    @property
    def operator_address(self) -> str:
        """Address on loopback for programs of this machine: 127.0.0.1 for the default lab, another one for each other name."""
        if self.name == DEFAULT_LAB:
            return "127.0.0.1"
        first, second = hashlib.sha256(self.name.encode()).digest()[:2]
        return f"127.{64 + first // 2}.{second}.1"

    @property
    def owner(self) -> Path:
        """File with the path of the checkout that started the lab."""
        return self.state / "checkout"

    def node_netns(self, node: str) -> str:
        """Return the name of a node's namespace. The dot separates names of lab `a`'s nodes from lab `a-b`."""
        return f"{self.name}.{node}"

    def node(self, node: str) -> Path:
        return self.nodes / node


def layout(name: str | None = None) -> Layout:
    """Return the layout of lab `name`, else of the lab in LANDBRIDGE_LAB, else of this checkout's lab.

    That is the default lab, unless another checkout has it or the folder of states is another one: then two labs of one name
    would share network namespaces.
    """
    chosen = name or os.environ.get("LANDBRIDGE_LAB") or _lab_of_checkout()
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", chosen):
        raise LabError(f"'{chosen}' cannot name a lab", "use a-z, 0-9 and '-', starting with a letter")
    return _named(chosen)


def _named(name: str) -> Layout:
    folder = "lab" if name == DEFAULT_LAB else f"lab-{name}"
    return Layout(
        name=name,
        state=_xdg("XDG_STATE_HOME", ".local/state") / folder,
        cache=_xdg("XDG_CACHE_HOME", ".cache"),
    )


def _lab_of_checkout() -> str:
    default = _named(DEFAULT_LAB)
    states = default.state.parent
    separate = _named(f"{DEFAULT_LAB}-{hashlib.sha256(f'{CHECKOUT} {states}'.encode()).hexdigest()[:6]}")
    if states != Path.home() / ".local/state/landbridge" or separate.state.exists():
        return separate.name
    owner = Path(default.owner.read_text()) if default.owner.exists() else CHECKOUT
    return default.name if owner == CHECKOUT or not owner.exists() else separate.name
