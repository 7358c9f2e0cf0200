"""Nodes that join or leave a running cluster: edits of the environment file, and reasons why a node may not leave.
Pure."""

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from landbridge.environment import Environment, Loaded
from landbridge.environment.file.load import load_text
from landbridge.environment.file.members import Joining, node_addresses, with_nodes, without_nodes
from landbridge.findings import Finding
from landbridge.ops.nodes import ScontrolNode
from landbridge.plan.network.node_networks import node_ranges

ADD, REMOVE = Path("ansible/playbooks/add_node.yml"), Path("ansible/playbooks/remove_node.yml")
#: States of a node with a job.
_BUSY = frozenset({"ALLOCATED", "MIXED", "COMPLETING"})
_OUT = frozenset({"DRAIN", "DOWN"})


@dataclass(frozen=True, slots=True)
class Edited:
    """Environment file before and after an edit; `names`: the affected nodes; `addresses`: their addresses in the file;
    `findings`: other changes that the edit needs.
    """

    path: Path
    before: str
    after: str
    names: tuple[str, ...]
    addresses: dict[str, str]
    findings: tuple[Finding, ...] = ()

    @property
    def difference(self) -> str:
        """Return the change in the form of `diff -u`; empty if there is none."""
        before, after = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, str(self.path), str(self.path), n=1))

    def loaded(self) -> Loaded:
        """Return the changed environment, for checks before the file is written."""
        return load_text(self.after, self.path)


def added(path: Path, text: str, joining: Joining) -> Edited:
    """Return the file with the nodes added; existing nodes are not changed. Raises FindingsError."""
    addresses = node_addresses(text, str(path))
    missing = tuple(name for name in joining.names if name not in addresses)
    after = text
    if missing:
        after = with_nodes(text, str(path), replace(joining, names=missing))
    return Edited(path, text, after, joining.names, _addresses_of(node_addresses(after, str(path)), joining.names))


def removed(path: Path, text: str, names: Sequence[str]) -> Edited:
    """Return the file without the nodes; missing nodes are ignored. Raises FindingsError."""
    addresses = node_addresses(text, str(path))
    after, findings = without_nodes(text, str(path), [name for name in names if name in addresses])
    return Edited(path, text, after, tuple(names), _addresses_of(addresses, names), findings)


def add_limit(environment: Environment, names: Iterable[str]) -> str:
    """Return Ansible's --limit for new nodes: the nodes, the controllers, and the DNS servers."""
    has_dns_servers = environment.onprem is not None and environment.dns is not None
    return ",".join([*names, "slurm_controller", *(["site_dns"] if has_dns_servers else [])])


def new_networks(before: Environment, after: Environment) -> tuple[str, ...]:
    """Return the networks of nodes that the other hosts' firewalls do not permit yet; empty if the role hardening
    configures no firewall.
    """
    if not after.hosts.hardening or after.hosts.firewall.mode == "off":
        return ()
    known_ranges = node_ranges(before)
    new_ranges = (
        node_range
        for node_range in node_ranges(after)
        if not any(node_range.subnet_of(other) for other in known_ranges)
    )
    return tuple(str(node_range) for node_range in new_ranges)


def reasons_to_stay(rows: Iterable[ScontrolNode], names: Collection[str]) -> tuple[str, ...]:
    """Return the reasons why nodes may not leave yet, one sentence each: a job runs there, or may start there."""
    reasons = []
    for row in rows:
        states = set(row.state.split("+"))
        if row.name in names and states & _BUSY:
            reasons.append(f"{row.name} is {row.state.lower()}: its jobs have to end first")
        elif row.name in names and not states & _OUT:
            reasons.append(
                f'{row.name} is {row.state.lower()}: landbridge node drain {row.name} --reason "leaves the cluster"'
            )
    return tuple(reasons)


def _addresses_of(addresses: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: addresses[name] for name in names if name in addresses}
