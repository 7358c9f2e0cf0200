"""Cluster that runs already, as its files describe it: settings, nodes, partitions, devices and topology."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from landbridge.existing_slurm.entries import ConfLine, Pair, Position
from landbridge.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class ConfiguredNodes:
    """NodeName line: its names, and its values by lower-case key, with values of NodeName=DEFAULT lines before it."""

    names: tuple[str, ...]
    pairs: Mapping[str, Pair]
    at: Position

    def value(self, key: str, default: str = "") -> str:
        """Return the value of a key."""
        pair = self.pairs.get(key.casefold())
        return default if pair is None else pair.value


@dataclass(frozen=True, slots=True)
class ConfiguredPartition:
    """PartitionName line, like ConfiguredNodes. `nodes` is empty for a partition without any."""

    name: str
    nodes: tuple[str, ...]
    pairs: Mapping[str, Pair]
    at: Position


@dataclass(frozen=True, slots=True)
class ExistingCluster:
    """Files of a cluster. `settings` are slurm.conf's by lower-case key, in the file's order; Slurm uses the last value
    of a key that may have only one. A file that does not exist has no entries. `texts` are the files that were read.
    """

    conf: str
    settings: Mapping[str, tuple[Pair, ...]]
    nodes: tuple[ConfiguredNodes, ...]
    partitions: tuple[ConfiguredPartition, ...]
    gres: tuple[ConfLine, ...] = ()
    cgroup: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    topology: tuple[ConfLine, ...] = ()
    topology_yaml: bool = False
    first_nodes_line: int | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    def pair(self, key: str) -> Pair | None:
        """Return the last pair of a key of slurm.conf; None without one."""
        return next(reversed(self.settings.get(key.casefold(), ())), None)

    def value(self, key: str, default: str = "") -> str:
        """Return the value of a key of slurm.conf."""
        pair = self.pair(key)
        return default if pair is None else pair.value

    def words(self, key: str) -> list[str]:
        """Return the words of a comma-separated value in lower case, without what follows `=`."""
        return [word.strip().partition("=")[0].casefold() for word in self.value(key).split(",") if word.strip()]

    def at(self, *keys: str) -> Position:
        """Return the position of the first of these keys that slurm.conf has; else its beginning."""
        return next((pair.at for key in keys if (pair := self.pair(key))), Position(self.conf, 1, 1))

    @property
    def node_names(self) -> tuple[str, ...]:
        """Return the names of all nodes."""
        return tuple(dict.fromkeys(name for nodes in self.nodes for name in nodes.names))


def by_key(entries: Iterable[ConfLine]) -> dict[str, tuple[Pair, ...]]:
    """Return the pairs of all entries by lower-case key."""
    settings: dict[str, tuple[Pair, ...]] = {}
    for entry in entries:
        for pair in entry.pairs:
            key = pair.key.casefold()
            settings[key] = (*settings.get(key, ()), pair)
    return settings


def placed(rule: str, severity: Severity, at: Position, message: str, fix: str | None = None) -> Finding:
    """Return a finding at a position."""
    return Finding(rule, message, (), fix, severity).at(at.file, at.line, at.column)
