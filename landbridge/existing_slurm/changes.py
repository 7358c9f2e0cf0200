"""Lines of a cluster's own files that change, and the difference as a patch.

Lists of words get the words that bursting needs; the nodes' lines come after `Include landbridge.conf`, so that no
NodeName=DEFAULT or PartitionName=DEFAULT line of the site is valid for the pools.
"""

import difflib
import posixpath
from collections.abc import Iterator, Mapping

from landbridge import hostlist
from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.entries import Pair
from landbridge.findings import Finding, Severity
from landbridge.plan.slurm.existing import CONF, GRES, TOPOLOGY, TOPOLOGY_YAML

#: Keys whose value is a list of words. Source: slurm.conf(5).
_LISTS = ("GresTypes", "AccountingStorageTRES", "SlurmctldParameters", "ReconfigFlags", "PrivateData")
_NOTE = "# Added by Landbridge."


def own_keys(cluster: ExistingCluster, keys: tuple[str, ...], several_prologs: bool) -> tuple[str, ...]:
    """Return the keys that the cluster's slurm.conf sets, so that landbridge.conf may not set them again."""
    repeatable = ("PrologSlurmctld",) if several_prologs else ()
    return tuple(key for key in keys if cluster.pair(key) is not None and key not in repeatable)


def new_texts(
    cluster: ExistingCluster, needed: Mapping[str, str], files: Mapping[str, str]
) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """Return the new text of each file that changes, and what must be changed by hand.

    `needed` are the settings of bursting, `files` those that Landbridge adds beside slurm.conf.
    """
    findings: list[Finding] = []
    folder = posixpath.dirname(cluster.conf)
    lines = {file: text.splitlines(keepends=True) for file, text in cluster.texts.items()}
    replacements = [*_merged_lists(cluster, needed), *_listed_partitions(cluster)]
    findings += _kept_words(cluster, needed)
    for pair, value in replacements:
        _replace(lines, folder, pair, value, findings)
    # After the replacements, because these change line numbers.
    conf = lines[cluster.conf]
    at = len(conf) if cluster.first_nodes_line is None else cluster.first_nodes_line - 1
    _end_line(conf)
    conf[at:at] = [f"{_NOTE}\n", f"Include {CONF}\n"]
    for name, included in (("gres.conf", GRES), ("topology.conf", TOPOLOGY)):
        if included in files:
            _end_line(lines.setdefault(posixpath.join(folder, name), []))
            lines[posixpath.join(folder, name)] += [f"{_NOTE}\n", f"Include {included}\n"]
    if TOPOLOGY_YAML in files:
        yaml = lines[posixpath.join(folder, "topology.yaml")]
        _end_line(yaml)
        yaml += [f"{_NOTE}\n", *(line for line in files[TOPOLOGY_YAML].splitlines(keepends=True) if line[0] != "#")]
    texts = {file: "".join(changed) for file, changed in lines.items()}
    return {file: text for file, text in texts.items() if text != cluster.texts.get(file)}, tuple(findings)


def patch(cluster: ExistingCluster, texts: Mapping[str, str]) -> str:
    """Return the difference for `patch -p1` in the folder of slurm.conf; `patch -R -p1` takes it back."""
    folder, parts = posixpath.dirname(cluster.conf), []
    for file, text in sorted(texts.items()):
        name, before = posixpath.relpath(file, folder or "."), cluster.texts.get(file)
        old_name = "/dev/null" if before is None else f"a/{name}"
        old, new = (before or "").splitlines(keepends=True), text.splitlines(keepends=True)
        for line in difflib.unified_diff(old, new, old_name, f"b/{name}"):
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _merged_lists(cluster: ExistingCluster, needed: Mapping[str, str]) -> Iterator[tuple[Pair, str]]:
    for key in _LISTS:
        pair = cluster.pair(key)
        if pair is None or key not in needed:
            continue
        present = [word.strip() for word in pair.value.split(",") if word.strip()]
        names = {_name(word) for word in present}
        missing = [word for word in needed[key].split(",") if _name(word) not in names]
        if missing:
            yield pair, ",".join([*present, *missing])


def _kept_words(cluster: ExistingCluster, needed: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding for each word with a value for which bursting would use another one."""
    for key in _LISTS:
        pair, wanted = cluster.pair(key), {_name(word): word for word in needed.get(key, "").split(",")}
        for word in [] if pair is None else [word.strip() for word in pair.value.split(",")]:
            if pair is not None and wanted.get(_name(word), word).casefold() != word.casefold():
                message = f"{key} has {word}, which stays; Landbridge uses {wanted[_name(word)]}"
                fix = f"write {wanted[_name(word)]}, unless the other value is needed"
                yield placed("kept-word", Severity.INFO, pair.value_at, message, fix)


def _name(word: str) -> str:
    return word.partition("=")[0].casefold()


def _listed_partitions(cluster: ExistingCluster) -> Iterator[tuple[Pair, str]]:
    """Yield the Nodes of partitions with ALL, replaced by their present nodes; once if a DEFAULT line has it."""
    replaced = set()
    for partition in cluster.partitions:
        pair = partition.pairs.get("nodes")
        if pair is None or pair.at in replaced:
            continue
        if any(word.strip().casefold() == "all" for word in pair.value.split(",")):
            replaced.add(pair.at)
            yield pair, hostlist.compress(partition.nodes)


def _replace(lines: dict[str, list[str]], folder: str, pair: Pair, value: str, findings: list[Finding]) -> None:
    """Replace a value in its physical line. A value over several lines, or in a file elsewhere, is changed by hand."""
    file, number, start = pair.value_at.file, pair.value_at.line, pair.value_at.column - 1
    line = lines[file][number - 1]
    end = start + len(pair.value)
    is_beside = not posixpath.relpath(file, folder or ".").startswith("..")
    if is_beside and line[start:end] == pair.value:
        lines[file][number - 1] = f"{line[:start]}{value}{line[end:]}"
        return
    message = f"{pair.key} cannot be changed by the patch: its value is in several lines, or in another folder"
    findings.append(
        placed("change-by-hand", Severity.WARNING, pair.value_at, message, f"write {pair.key}={value} by hand")
    )


def _end_line(lines: list[str]) -> None:
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
