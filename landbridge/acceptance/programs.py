"""Programs that the rungs need on a node, and the launcher of MPI ranks: known before the first rung runs. Pure.

nccl-tests spans several processes with MPI only. Source: nccl-tests, README.md, Build; Slurm's MPI guide; Open MPI 5
documentation, Launching with Slurm: it has no PMI-1 and PMI-2 any more; MPICH's own PMI works with Slurm's plugin pmi2.
Run on 2026-11-25 with Slurm 24.11.5 and two nodes: MPICH 4.2 with pmi2, Open MPI 5.0.7 with mpirun in an allocation.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from landbridge.acceptance.outputs import Unreadable
from landbridge.acceptance.result import AcceptanceCheck
from landbridge.acceptance.rungs import AUTO, MPIRUN, PROGRAMS, AcceptanceSettings, Rung

#: Shared libraries of MPI implementations, by the start of their names.
_LIBRARIES = {"libmpi.so.40": "Open MPI", "libmpi.so.12": "MPICH", "libmpich.so": "MPICH"}
#: Launchers of the ranks of an implementation, the best first: plugins of srun, and mpirun.
_LAUNCHERS = {"Open MPI": ("pmix", MPIRUN), "MPICH": ("pmi2",)}


@dataclass(frozen=True, slots=True)
class NodePrograms:
    """Programs on a node with their paths, empty if absent; MPI and missing libraries of nccl-tests; srun's plugins."""

    paths: Mapping[str, str]
    library: str = ""
    lacking: tuple[str, ...] = field(default=())
    plugins: tuple[str, ...] = field(default=())

    @property
    def implementation(self) -> str:
        """Return the MPI implementation of nccl-tests; empty if it was built without MPI."""
        return next((name for start, name in _LIBRARIES.items() if self.library.startswith(start)), self.library)

    def launcher(self, given: str) -> str:
        """Return the launcher of MPI ranks; empty if none can start them. `given`: the operator's, or auto."""
        wanted = (given,) if given != AUTO else _LAUNCHERS.get(self.implementation, ())
        return next((name for name in wanted if self._has(name)), "")

    def _has(self, launcher: str) -> bool:
        if launcher == MPIRUN:
            return all(self.paths.get(name) for name in (MPIRUN, "srun"))
        # Without a list of plugins, srun itself reports an unknown one.
        return not self.plugins or launcher.partition("_v")[0] in self.plugins


def plugins_line(listed: str) -> str:
    """Return the output of `srun --mpi=list` as the line that `node_programs` reads.

    One plugin a line below a title, which 22.05 and earlier print with `srun: ` before each line.
    """
    words = [line.removeprefix("srun:").strip() for line in listed.splitlines()]
    known = [word for word in words if re.fullmatch(r"none|pmi2|pmix(_v\d+)?|cray_shasta", word)]
    return f"plugins {' '.join(known)}\n"


def node_programs(text: str) -> NodePrograms:
    """Parse the output of the script. Raises Unreadable."""
    paths: dict[str, str] = {}
    others: dict[str, list[str]] = {"library": [], "lacks": [], "plugins": []}
    for line in text.splitlines():
        word, _, remainder = line.partition(" ")
        if word == "program":
            name, _, path = remainder.partition(" ")
            paths[name] = path.strip()
        elif word in others:
            others[word] += remainder.split()
    if not paths:
        raise Unreadable("the list of programs is empty")
    return NodePrograms(paths, next(iter(others["library"]), ""), tuple(others["lacks"]), tuple(others["plugins"]))


def programs_checks(
    listed: NodePrograms, rungs: Iterable[Rung], settings: AcceptanceSettings, nodes: int
) -> tuple[AcceptanceCheck, ...]:
    """Return one check for each program of these rungs, and one of the MPI launcher if a rung spans several of `nodes`.

    A missing program is not judged: it is not a fault of the node, and no rung above runs on the node.
    """
    needed = [rung for rung in rungs if rung is not PROGRAMS]
    checks = [_program(listed, name) for name in dict.fromkeys(rung.program for rung in needed)]
    if nodes > 1 and any(not rung.alone for rung in needed) and listed.paths.get("all_reduce_perf"):
        checks.append(_mpi(listed, settings.mpi))
    return tuple(checks)


def missing(checks: Sequence[AcceptanceCheck]) -> str:
    """Return the sentence that names what is missing; empty if nothing is."""
    names = [f"{check.name}: {check.measured}" for check in checks if not check.passed]
    return f"missing: {'; '.join(names)}" if names else ""


def _program(listed: NodePrograms, name: str) -> AcceptanceCheck:
    path = listed.paths.get(name, "")
    if not path:
        return AcceptanceCheck(name, "not on the node", None)
    if name == "all_reduce_perf" and listed.lacking:
        return AcceptanceCheck(name, f"{path} needs {', '.join(listed.lacking)}, not on the node", None)
    return AcceptanceCheck(name, path, True)


def _mpi(listed: NodePrograms, given: str) -> AcceptanceCheck:
    launcher, plugins = listed.launcher(given), ", ".join(listed.plugins)
    if launcher:
        library = listed.implementation or "a library that is not known"
        with_plugin = launcher if launcher == MPIRUN else f"srun --mpi={launcher}"
        return AcceptanceCheck("MPI", f"{with_plugin} starts all_reduce_perf with {library}", True)
    if given == MPIRUN:
        text = "mpirun and srun are not both on the node"
    elif given != AUTO:
        text = f"Slurm has no plugin {given}, only {plugins}"
    elif not listed.library:
        text = "all_reduce_perf was built without MPI, which it needs between nodes"
    else:
        wanted = " or ".join(_LAUNCHERS.get(listed.implementation, ())) or "a launcher that is not known: give --mpi"
        text = f"all_reduce_perf with {listed.implementation} needs {wanted}; Slurm's plugins are {plugins}"
    return AcceptanceCheck("MPI", text, None)
