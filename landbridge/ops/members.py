"""Nodes that join or leave a running cluster: edits of the environment file, and reasons why a node may not leave.
Pure.
"""

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from landbridge.environment import Environment, Loaded
from landbridge.environment.file.load import load_text
from landbridge.environment.file.members import Joining, node_addresses, with_nodes, without_nodes
from landbridge.ops.nodes import ScontrolNode
from landbridge.plan.site.firewall import node_ranges

ADD, REMOVE = Path("ansible/playbooks/add_node.yml"), Path("ansible/playbooks/remove_node.yml")
#: States with which a job holds a node.
_BUSY = frozenset({"ALLOCATED", "MIXED", "COMPLETING"})
_OUT = frozenset({"DRAIN", "DOWN"})


@dataclass(frozen=True, slots=True)
class Edited:
    """File before and after an edit; `names` are the affected nodes, `addresses` theirs where the file has them."""

    path: Path
    before: str
    after: str
    names: tuple[str, ...]
    addresses: dict[str, str]

    @property
    def difference(self) -> str:
        """Return the change as `diff -u` shows it; empty where there is none."""
        before, after = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, str(self.path), str(self.path), n=1))

    def loaded(self) -> Loaded:
        """Return the changed environment, to be checked before the file is written."""
        return load_text(self.after, self.path)


def joined(path: Path, text: str, joining: Joining) -> Edited:
    """Return the file with the nodes added; nodes that it has already stay as they are. Raises FindingsError."""
    addresses = node_addresses(text, str(path))
    missing = tuple(name for name in joining.names if name not in addresses)
    after = text
    if missing:
        after = with_nodes(text, str(path), replace(joining, names=missing))
    return Edited(path, text, after, joining.names, _among(node_addresses(after, str(path)), joining.names))


def left(path: Path, text: str, names: Sequence[str]) -> Edited:
    """Return the file without the nodes; nodes that it does not have change nothing. Raises FindingsError."""
    addresses = node_addresses(text, str(path))
    after = without_nodes(text, str(path), [name for name in names if name in addresses])
    return Edited(path, text, after, tuple(names), _among(addresses, names))


def add_limit(environment: Environment, names: Iterable[str]) -> str:
    """Return Ansible's --limit for new nodes: the nodes, the controllers, and the DNS servers."""
    servers = environment.onprem is not None and environment.dns is not None
    return ",".join([*names, "slurm_controller", *(["site_dns"] if servers else [])])


def unheard_of(before: Environment, after: Environment) -> tuple[str, ...]:
    """Return the networks of nodes that the other hosts' firewalls do not admit yet; none where the role hardening sets
    no firewall.
    """
    if not after.hosts.hardening or after.hosts.firewall.mode == "off":
        return ()
    known_ranges = node_ranges(before)
    new = (
        node_range
        for node_range in node_ranges(after)
        if not any(node_range.subnet_of(other) for other in known_ranges)
    )
    return tuple(str(one) for one in new)


def kept(rows: Iterable[ScontrolNode], names: Collection[str]) -> tuple[str, ...]:
    """Return the reasons why nodes may not leave yet, a sentence each: a job runs there, or may start there."""
    kept_lines = []
    for row in rows:
        states = set(row.state.split("+"))
        if row.name in names and states & _BUSY:
            kept_lines.append(f"{row.name} is {row.state.lower()}: its jobs have to end first")
        elif row.name in names and not states & _OUT:
            kept_lines.append(
                f'{row.name} is {row.state.lower()}: landbridge node drain {row.name} --reason "leaves the cluster"'
            )
    return tuple(kept_lines)


def _among(addresses: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: addresses[name] for name in names if name in addresses}
