"""Addition and removal of nodes in an environment file: only the text of these nodes changes.

The new text is parsed again and compared with the expected data: a file with an unsupported layout is rejected with a
hint for a manual change, and never partly changed.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from itertools import pairwise
from typing import Any

from landbridge import hostlist
from landbridge.environment.file.edit import plain, refused, replaced
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.source import Source, read
from landbridge.environment.file.suppressions import with_moved_suppressions
from landbridge.environment.onprem.onprem import NodeGroup
from landbridge.findings import DataPath, Finding, FindingsError

NODES: DataPath = (*ROOT, "onprem", "nodes")
_NUMBERED = re.compile(r"(.*?)(\d+)")
#: Keys that a new group copies from a group of the same platform.
_SHARED = ("features", "local_scratch", "hardware")
#: Operating system of a group without the key.
_DEFAULT_SYSTEM = NodeGroup.model_fields["os"].default
Group = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """Nodes to add. None: platform and rack of the nodes with the same name stem, the address after theirs, and the
    operating system of the similar nodes.
    """

    names: tuple[str, ...]
    address: IPv4Address | None = None
    platform: str | None = None
    rack: str | None = None
    os: str | None = None


def with_nodes(text: str, file: str, joining: Joining) -> str:
    """Return the text with the nodes added: to the group that they continue, else as a new group.

    Raises FindingsError for existing names, for an address or platform that cannot be derived, and for a layout that
    cannot be changed automatically.
    """
    source, groups = _read(text, file)
    names_in_file = {name for group in groups for name in _names(group)}
    present = [name for name in joining.names if name in names_in_file]
    if present:
        message = f"{', '.join(present)} {'is' if len(present) == 1 else 'are'} in the file already"
        raise refused(source, "node-known", message, NODES, "landbridge node list shows its state in Slurm")
    at = _like(groups, joining.names[0])
    model = groups[at] if at is not None else {}
    if at is not None and _continues(model, joining):
        written = _written([*_names(model), *joining.names])
        changed = _set(source, text.splitlines(keepends=True), (*NODES, at), {"hosts": written})
        return _checked(source, changed, [*groups[:at], {**model, "hosts": written}, *groups[at + 1 :]])
    new = _group(source, model, joining)
    system = _system(source, groups, joining, str(new["platform"]))
    return _as_a_group(source, text, groups, new if system is None else {**new, "os": system})


def without_nodes(text: str, file: str, names: Sequence[str]) -> tuple[str, tuple[Finding, ...]]:
    """Return the text without these nodes, and a finding for each suppression of a group that moved; every other node
    keeps its address, so that a group may become two.

    Raises FindingsError for an unknown name, for the last node, and for a layout that cannot be changed automatically.
    """
    moves = [[index] for index in range(len(_read(text, file)[1]))]
    for name in names:
        text, at, parts = _without(text, file, name)
        moves = [
            [
                new
                for index in group
                for new in (range(at, at + parts) if index == at else [index + (parts - 1) * (index > at)])
            ]
            for group in moves
        ]
    return with_moved_suppressions(text, file, {NODES: moves})


def node_addresses(text: str, file: str) -> dict[str, str]:
    """Return the address of each node by name, in the file's order."""
    _, groups = _read(text, file)
    return {
        name: str(IPv4Address(group["address"]) + offset)
        for group in groups
        for offset, name in enumerate(_names(group))
    }


def _read(text: str, file: str) -> tuple[Source, list[Group]]:
    source = read(text, file)
    if source.data is None:
        raise FindingsError(source.findings)
    value: Any = source.data
    for part in NODES:
        value = value.get(part) if isinstance(value, dict) else None
    groups = value if isinstance(value, list) else []
    for index, group in enumerate(groups):
        try:
            IPv4Address(group["address"])
            hostlist.expand(group["hosts"])
        except (AddressValueError, hostlist.HostlistError, TypeError, KeyError):
            path, fix = (*NODES, index), "run landbridge check for its findings"
            raise refused(source, "edit-group", "this group of nodes cannot be read", path, fix) from None
    return source, groups


def _like(groups: Sequence[Group], name: str) -> int | None:
    """Return the index of the last group whose node names have the same stem."""
    stem = _stem(name)
    return next((at for at in reversed(range(len(groups))) if stem == _stem(_names(groups[at])[-1])), None)


def _continues(group: Group, joining: Joining) -> bool:
    """Return true if the nodes continue the group's names and addresses, with the same platform and rack."""
    names = _names(group)
    row = [names[-1], *joining.names]
    if any(_next(name) != other for name, other in pairwise(row)):
        return False
    following = IPv4Address(group["address"]) + len(names)
    platform, rack, system = group["platform"], _rack(group), group.get("os", _DEFAULT_SYSTEM)
    same = (joining.platform or platform, joining.rack or rack, joining.os or system) == (platform, rack, system)
    return same and joining.address in (None, following)


def _group(source: Source, model: Group, joining: Joining) -> Group:
    """Return the nodes as a new group."""
    platform = joining.platform or model.get("platform")
    if platform is None:
        message = f"the platform of {', '.join(joining.names)} is not known"
        raise refused(source, "node-platform", message, NODES, "give it: --platform dgx-h100")
    if joining.address is None:
        message = f"{joining.names[0]} does not follow the existing nodes, so its address is not known"
        raise refused(source, "node-address", message, NODES, "give it: --address 10.20.1.40")
    group: Group = {"hosts": _written(joining.names), "platform": platform, "address": str(joining.address)}
    rack = joining.rack or model.get("rack")
    if rack is not None:
        group["rack"] = rack
    if platform == model.get("platform"):
        group |= {key: deepcopy(model[key]) for key in _SHARED if key in model}
    return group


def _system(source: Source, groups: Sequence[Group], joining: Joining, platform: str) -> str | None:
    """Return the operating system of a new group: that of the nodes with its name stem and platform, else of its
    platform, else of all nodes; None for the default one.
    """
    if joining.os is not None:
        return joining.os
    stem = _stem(joining.names[0])
    of_platform = [group for group in groups if group.get("platform") == platform]
    for similar in ([group for group in of_platform if _stem(_names(group)[-1]) == stem], of_platform, groups):
        systems = {group.get("os") for group in similar}
        if len(systems) == 1:
            return systems.pop()
        if systems:
            break
    if not groups:
        return None
    known = sorted({str(group.get("os", _DEFAULT_SYSTEM)) for group in groups})
    message = f"the operating system of {', '.join(joining.names)} is not known: the nodes have {' and '.join(known)}"
    raise refused(source, "node-os", message, NODES, f"give it: --os {known[0]}")


def _as_a_group(source: Source, text: str, groups: Sequence[Group], group: Group) -> str:
    line = f"- {_flow(group)}"
    lines = text.splitlines(keepends=True)
    if not groups:
        message = "no node is in the file yet, so there is no line to put this one after"
        raise refused(source, "edit-layout", message, NODES, f"write it under onprem.nodes: {line}")
    _, last, indent = _span(source, lines, len(groups) - 1, line)
    lines[last:last] = [f"{indent}{line}\n"]
    return _checked(source, "".join(lines), [*groups, group])


def _without(text: str, file: str, name: str) -> tuple[str, int, int]:
    """Return the text without a node, the index of its group, and the number of groups in its place."""
    source, groups = _read(text, file)
    at = next((index for index, group in enumerate(groups) if name in _names(group)), None)
    if at is None:
        fix = "landbridge show prints the nodes of the file"
        raise refused(source, "node-unknown", f"no node of the file is called {name}", NODES, fix)
    group, path = groups[at], (*NODES, at)
    names = _names(group)
    place = names.index(name)
    before, after = names[:place], names[place + 1 :]
    parts: list[Group] = []
    if before:
        parts.append({**group, "hosts": _written(before)})
    if after:
        address = str(IPv4Address(group["address"]) + place + 1)
        parts.append({**group, "hosts": _written(after), "address": address})
    lines = text.splitlines(keepends=True)
    if len(groups) == 1 and not parts:
        message = f"{name} is the last node; a file without nodes is another kind of site"
        raise refused(source, "node-last", message, path, "change onprem.nodes by hand")
    first, last, _ = _span(source, lines, at, "the group by hand, in two lines") if len(parts) != 1 else (0, 0, "")
    changed = text
    if len(parts) == 1:
        changed = _set(source, lines, path, parts[0])
    elif not parts:
        changed = "".join(lines[: first - 1] + lines[last:])
    else:
        # The second half is a copy of the group's lines with its hosts and address.
        second = _set(source, list(lines), path, parts[1]).splitlines(keepends=True)[first - 1 : last]
        start = _set(source, list(lines), path, parts[0]).splitlines(keepends=True)
        changed = "".join(start[:last] + second + start[last:])
    return _checked(source, changed, [*groups[:at], *parts, *groups[at + 1 :]]), at, len(parts)


def _set(source: Source, lines: list[str], path: DataPath, values: Group) -> str:
    """Return the text with the group's hosts and address of `values`; last one first, so that positions stay valid."""
    present: Any = source.data
    for part in path:
        present = present[part]
    keys = [key for key in ("hosts", "address") if key in values and values[key] != present[key]]
    for key in sorted(keys, key=lambda key: source.places[*path, key].value, reverse=True):
        line, column = source.places[*path, key].value
        lines[line - 1] = replaced(source, lines[line - 1], column - 1, present[key], values[key], (*path, key))
    return "".join(lines)


def _span(source: Source, lines: Sequence[str], index: int, by_hand: str) -> tuple[int, int, str]:
    """Return first and last line of a list item, from 1, and its indent. Raises FindingsError for `[{…}, {…}]`."""
    path = (*NODES, index)
    line, column = source.places[path].value
    before = lines[line - 1][: column - 1]
    if not re.fullmatch(r"\s*-\s+", before):
        message = "the nodes are not written one after another, each behind a dash"
        raise refused(source, "edit-layout", message, path, f"write {by_hand}")
    inside = [place for other, place in source.places.items() if other[: len(path)] == path]
    ends = [at[0] for place in inside for at in (place.key, place.value) if at is not None]
    return line, max(ends), before[: before.index("-")]


def _checked(source: Source, text: str, expected: Sequence[Group]) -> str:
    """Return the text if it parses to the expected nodes and no other value differs. Raises FindingsError otherwise."""
    data: Any = deepcopy(source.data)
    holder = data
    for part in NODES[:-1]:
        holder = holder[part]
    holder[NODES[-1]] = list(expected)
    if read(text, source.file).data != data:
        message = "the nodes are written in a way that cannot be changed here"
        raise refused(source, "edit-layout", message, NODES, "change the file by hand; nothing has been written")
    return text


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return plain(value)


def _names(group: Group) -> list[str]:
    return hostlist.expand(group["hosts"])


def _written(names: Sequence[str]) -> str:
    """Return the shortest host list with the same order, which is that of the addresses."""
    short = hostlist.compress(names)
    return short if hostlist.expand(short) == list(names) else ",".join(names)


def _rack(group: Group) -> Any:
    return group.get("rack", "rack1")


def _stem(name: str) -> str:
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else name


def _next(name: str) -> str:
    match = _NUMBERED.fullmatch(name)
    return f"{match[1]}{int(match[2]) + 1:0{len(match[2])}}" if match else ""
