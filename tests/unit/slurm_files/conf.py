"""Reader and writer of Slurm's files, independent of the code of Landbridge."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from landbridge import hostlist, yaml_text

_WORD = re.compile(r"([A-Za-z][A-Za-z0-9]*)=(\S+)")
#: Keys that begin a line with several settings.
OBJECTS = frozenset({"NodeName", "PartitionName", "SwitchName", "BlockName"})


@dataclass(frozen=True)
class Line:
    """One line: its settings in sequence, or a comment; an empty line has neither."""

    words: tuple[tuple[str, str], ...] = ()
    comment: str | None = None

    @property
    def key(self) -> str:
        return self.words[0][0] if self.words else ""

    @property
    def fields(self) -> dict[str, str]:
        return dict(self.words)


def read(text: str) -> tuple[Line, ...]:
    """Return every line of slurm.conf, gres.conf, cgroup.conf or topology.conf; raise ValueError with an invalid line."""
    assert text.endswith("\n")
    return tuple(_line(line) for line in text.removesuffix("\n").split("\n"))


def write(lines: Sequence[Line]) -> str:
    """Return the lines as text, with one blank between settings."""
    return "".join((line.comment or " ".join(f"{key}={value}" for key, value in line.words)) + "\n" for line in lines)


def settings(text: str) -> dict[str, str]:
    """Return the settings that are no node, partition or switch lines; of a key with several lines, the first."""
    settings: dict[str, str] = {}
    for line in read(text):
        if line.words and line.key not in OBJECTS:
            settings.setdefault(*line.words[0])
    return settings


def objects(text: str, key: str) -> dict[str, dict[str, str]]:
    """Return the lines of one kind by the names in their host list."""
    objects = {}
    for line in read(text):
        if line.key == key:
            for name in hostlist.expand(line.words[0][1]):
                assert name not in objects, f"{name} has two lines"
                objects[name] = line.fields
    return objects


def write_topology(topologies: Sequence[dict[str, Any]]) -> str:
    """Return topology.yaml's text from its parsed YAML."""
    lines = ["---"]
    for topology in topologies:
        lines += [
            f"- topology: {topology['topology']}",
            f"  cluster_default: {str(topology['cluster_default']).lower()}",
        ]
        for kind, members in (("switches", topology.get("tree")), ("blocks", topology.get("block"))):
            if members is None:
                continue
            lines.append("  tree:" if kind == "switches" else "  block:")
            if kind == "blocks":
                lines += ["    block_sizes:", *(f"      - {size}" for size in members["block_sizes"])]
            lines.append(f"    {kind}:")
            for member in members[kind]:
                (first, name), *rest = member.items()
                lines += [f"      - {first}: {name}", *(f"        {key}: {value}" for key, value in rest)]
        if "flat" in topology:
            lines.append(f"  flat: {str(topology['flat']).lower()}")
    return "\n".join(lines) + "\n"


def read_and_write(name: str, text: str) -> str:
    """Return the file after it has been read and written."""
    if not name.endswith(".yaml"):
        return write(read(text))
    head, _, _ = text.partition("---\n")
    return head + write_topology(yaml_text.load(text))


def _line(text: str) -> Line:
    if not text or text.startswith("#"):
        return Line(comment=text)
    words = _WORD.findall(text)
    if " ".join(f"{key}={value}" for key, value in words) != text:
        raise ValueError(f"not a line of Slurm's: {text}")
    if words[0][0] not in OBJECTS and len(words) > 1:
        raise ValueError(f"two settings on one line: {text}")
    return Line(tuple(words))
