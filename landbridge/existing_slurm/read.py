"""Reader of a cluster's files: slurm.conf with its includes, and the files beside it that slurmctld sends to nodes.

Source: slurm.conf(5), NodeName and PartitionName: values of a DEFAULT line are valid for later lines, until another
DEFAULT line changes them.
"""

import posixpath
from collections.abc import Iterator, Mapping

from landbridge.catalog.slurm.existing import existing_slurm
from landbridge.existing_slurm.cluster import ConfiguredNodes, ConfiguredPartition, ExistingCluster, by_key, placed
from landbridge.existing_slurm.entries import ConfLine, Opener, Pair, read_entries
from landbridge.existing_slurm.names import expand_names, members
from landbridge.findings import Finding, Severity
from landbridge.hostlist import HostlistError

#: First keys of lines with several pairs. Source: read_config.c, slurm_conf_options with a handler for a whole line.
_LINES = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname")


def read_cluster(conf: str, open_text: Opener) -> tuple[ExistingCluster, tuple[Finding, ...]]:
    """Return the cluster of a slurm.conf and the files beside it, and the parts that could not be read."""
    texts: dict[str, str] = {}

    def opened(path: str) -> str | None:
        text = open_text(path)
        if text is not None:
            texts[path] = text
        return text

    first, _ = read_entries(conf, opened)
    name = next((pair.value for pair in by_key(first).get("clustername", ())), "")
    entries, unread = read_entries(conf, opened, name)
    findings = list(unread)
    beside = {file: _optional(posixpath.join(posixpath.dirname(conf), file), opened, findings) for file in _BESIDE}
    for file in (PLUGSTACK, *existing_slurm().files):
        opened(posixpath.join(posixpath.dirname(conf), file))
    nodes = tuple(_nodes(entries, findings))
    names = tuple(dict.fromkeys(name for group in nodes for name in group.names))
    sets = _node_sets(entries, nodes, findings)
    lines = [entry.outer_line for entry in entries if entry.key in _LINES]
    cluster = ExistingCluster(
        conf=conf,
        settings=by_key(entry for entry in entries if entry.key not in _LINES),
        nodes=nodes,
        partitions=tuple(_partitions(entries, names, sets, findings)),
        gres=beside["gres.conf"],
        cgroup=by_key(beside["cgroup.conf"]),
        topology=beside["topology.conf"],
        topology_yaml=opened(posixpath.join(posixpath.dirname(conf), "topology.yaml")) is not None,
        first_nodes_line=min(lines, default=None),
        texts=texts,
    )
    return cluster, tuple(findings)


#: File of SPANK plugins.
PLUGSTACK = "plugstack.conf"
_BESIDE = ("gres.conf", "cgroup.conf", "topology.conf")


def _optional(path: str, open_text: Opener, findings: list[Finding]) -> tuple[ConfLine, ...]:
    if open_text(path) is None:
        return ()
    entries, unread = read_entries(path, open_text)
    findings += unread
    return entries


def _nodes(entries: tuple[ConfLine, ...], findings: list[Finding]) -> Iterator[ConfiguredNodes]:
    for name, pairs, entry in _with_defaults(entries, "nodename"):
        try:
            names = tuple(expand_names(name))
        except HostlistError as error:
            findings.append(_not_names(entry, error))
            continue
        yield ConfiguredNodes(names, pairs, entry.at)


def _node_sets(
    entries: tuple[ConfLine, ...], nodes: tuple[ConfiguredNodes, ...], findings: list[Finding]
) -> dict[str, tuple[str, ...]]:
    """Return the nodes of each NodeSet, by its nodes and by a feature of its nodes."""
    sets: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if entry.key != "nodeset":
            continue
        values = {pair.key.casefold(): pair.value for pair in entry.pairs}
        try:
            listed = expand_names(values["nodes"]) if values.get("nodes") else []
        except HostlistError as error:
            findings.append(_not_names(entry, error))
            listed = []
        feature = values.get("feature")
        with_feature = [
            name
            for group in nodes
            for name in group.names
            if feature and feature in (group.value("Features") or group.value("Feature")).split(",")
        ]
        sets[values["nodeset"]] = tuple(dict.fromkeys([*listed, *with_feature]))
    return sets


def _partitions(
    entries: tuple[ConfLine, ...],
    nodes: tuple[str, ...],
    sets: Mapping[str, tuple[str, ...]],
    findings: list[Finding],
) -> Iterator[ConfiguredPartition]:
    for name, pairs, entry in _with_defaults(entries, "partitionname"):
        text = pairs["nodes"].value if "nodes" in pairs else ""
        try:
            listed = tuple(members(text, nodes, sets)) if text else ()
        except HostlistError as error:
            findings.append(_not_names(entry, error))
            listed = ()
        yield ConfiguredPartition(name, listed, pairs, entry.at)


def _with_defaults(entries: tuple[ConfLine, ...], key: str) -> Iterator[tuple[str, dict[str, Pair], ConfLine]]:
    """Yield name, values and entry of each line of this key, with the values of the DEFAULT lines before it."""
    defaults: dict[str, Pair] = {}
    for entry in entries:
        if entry.key != key:
            continue
        name, values = entry.pairs[0].value, {pair.key.casefold(): pair for pair in entry.pairs[1:]}
        if name.casefold() == "default":
            defaults |= values
        else:
            yield name, {**defaults, **values}, entry


def _not_names(entry: ConfLine, error: HostlistError) -> Finding:
    fix = "write names as Slurm's host lists, such as cn[01-16]"
    return placed("not-a-host-list", Severity.ERROR, entry.at, str(error), fix)
