"""Findings about what slurmd reads on its node: plugins, sockets and limits, and the files that slurmctld sends there.

Source: slurm.schedmd.com/configless_slurm.html; facts: existing_slurm.yaml.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from landbridge.catalog.slurm.existing import NodeSetting, existing_slurm
from landbridge.catalog.slurm.keys import slurm_keys
from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.entries import Pair, Position
from landbridge.existing_slurm.read import PLUGSTACK
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity

_PATH = re.compile(r"""(?:^|[\s=:,"'])(/[^\s"',;:)]+)""")
_PLUGIN = re.compile(r"\s*(required|optional|include)\s+(\S+)", re.IGNORECASE)


def node_file_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about settings of slurmd and the files beside slurm.conf."""
    facts = existing_slurm()
    yield from _settings(cluster.settings, facts.settings)
    yield from _settings(cluster.cgroup, facts.cgroup)
    yield from _unknown(cluster.settings, (*slurm_keys().slurm_conf, *slurm_keys().removed))
    yield from _unknown(cluster.cgroup, (*slurm_keys().cgroup_conf, *slurm_keys().removed))
    folder = posixpath.dirname(cluster.conf)
    for name, effect in facts.files.items():
        path = posixpath.join(folder, name)
        if text := cluster.texts.get(path):
            yield from _file(path, text, effect, facts.paths)
    path = posixpath.join(folder, PLUGSTACK)
    for number, line in _lines(cluster.texts.get(path, "")):
        if (match := _PLUGIN.match(line)) is not None:
            yield _plugin(Position(path, number, match.start(1) + 1), match[1].casefold(), match[2])


def _settings(settings: Mapping[str, tuple[Pair, ...]], rows: Iterable[NodeSetting]) -> Iterator[Finding]:
    for row in rows:
        for key in row.keys:
            for pair in settings.get(key.casefold(), ())[-1:]:
                if not row.is_silent(pair.value):
                    message = f"{key}={pair.value}: {row.effect}"
                    yield placed("setting-on-cloud-nodes", row.severity, pair.at, message, row.fix)


def _unknown(settings: Mapping[str, tuple[Pair, ...]], known: Iterable[str]) -> Iterator[Finding]:
    names = {key.casefold() for key in known}
    for key, pairs in settings.items():
        if key not in names:
            message = f"{pairs[0].key} is no setting that Landbridge knows: it is valid for nodes in AWS too"
            fix = "look in slurm.conf(5) of your release what slurmd needs for it, and add that to the node image"
            yield placed("unknown-setting", Severity.WARNING, pairs[0].at, message, fix)


def _file(path: str, text: str, effect: str, present: tuple[str, ...]) -> Iterator[Finding]:
    name, first, has_paths = posixpath.basename(path), 0, False
    for number, line in _lines(text):
        if line.lstrip().casefold().startswith("nodename"):
            continue
        first = first or number
        for match in _PATH.finditer("" if name.endswith(".lua") else line):
            if not any(match[1] == folder or match[1].startswith(f"{folder}/") for folder in present):
                has_paths = True
                message = f"{match[1]} is not on nodes in AWS, and slurmctld sends {name} there"
                fix = f"begin lines of {name} with NodeName= of the site's nodes if it permits that, or add it to the node image"
                at = Position(path, number, match.start(1) + 1)
                yield placed("path-on-cloud-nodes", Severity.WARNING, at, message, fix)
    if first and not has_paths:
        message = f"slurmctld sends {name} to nodes in AWS: {effect}"
        yield placed("file-on-cloud-nodes", Severity.INFO, Position(path, first, 1), message, "nothing to do if so")


def _plugin(at: Position, word: str, value: str) -> Finding:
    if word == "include":
        message = f"files of include {value} are not read; SPANK plugins that they name are not on nodes in AWS"
        fix = "nothing to do if there is none; else write them into plugstack.conf as optional, and add them to the node image"
        return placed("spank-include", Severity.WARNING, at, message, fix)
    if word == "required":
        message = f"the SPANK plugin {value} is required and not on nodes in AWS: every job there fails"
        fix = "write optional instead of required, and add the plugin to the node image at this path"
        return placed("spank-required", Severity.ERROR, at, message, fix)
    message = f"the SPANK plugin {value} is not on nodes in AWS: its options have no effect there"
    fix = "add the plugin to the node image at this path, built for the same release of Slurm"
    return placed("spank-optional", Severity.WARNING, at, message, fix)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line without its comment."""
    for number, line in enumerate(text.splitlines(), start=1):
        if content := re.sub(r"(?<!\\)#.*", "", line).rstrip():
            yield number, content
