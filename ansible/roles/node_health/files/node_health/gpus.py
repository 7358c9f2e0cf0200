"""Checks of the node's GPUs with nvidia-smi."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from node_health import mig, query
from node_health.problem import Problem, read, write
from node_health.query import Row, Values
from node_health.run import Output

#: Exit code of nvidia-smi if a GPU has fallen off the bus. Source: nvidia-smi(1), RETURN VALUE.
_LOST = 15
#: Exit code of nvidia-smi if there is no GPU at all, with the text below (same section; seen with driver 580.159.04).
_NOT_FOUND = 6
_BUS = re.compile(r"GPU\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9])")
_LINK = re.compile(r"Link \d+: *([0-9.]+) GB/s")
# The driver uses the difference between nvidia-smi's memory size and the data sheet's.
_MEMORY_SHARE = 0.98


def check(
    expected: Mapping[str, Any], memory: Path | None = None, values: Values | None = None
) -> tuple[list[Problem], list[str]]:
    """Return problems and warnings. `expected`: the `gpus` of the node's expectations, and `driver_branch`.

    `memory`: a file that does not survive a reboot, for the start of registrations with the fabric.
    """
    values = values or Values()
    output, rows = values.get(query.HEALTH)
    unreachable = _unreachable(output, int(expected["count"]))
    if unreachable is not None:
        return [unreachable], []
    parts, partitioned = mig.check(expected["mig"]) if expected.get("mig") else ([], set())
    answering = [row for row in values.whole() if not _error(row)]
    warnings = [f"the infoROM of GPU {_short(bus)} is corrupted" for bus in query.corrupted(output.text)]
    warnings += _warnings(answering, expected)
    problems = [
        *_count_and_driver(rows, expected),
        *_without_answer(values, partitioned, int(expected["count"])),
        *_each_gpu(answering, expected),
        *_memory_errors(expected, answering, values, warnings),
        *parts,
    ]
    if expected.get("links") and rows:
        problems += _links(int(expected["links"]), [row["index"] for row in rows], partitioned)
    if expected.get("fabric"):
        problems += _fabric(float(expected.get("fabric_seconds", 0)), memory, values, warnings)
    return problems, warnings


def _unreachable(output: Output, count: int) -> Problem | None:
    """Return the problem that keeps nvidia-smi from answering, or None."""
    if output.code is None:
        return Problem("gpu", "nvidia-smi does not end", "reboot")
    if output.code == _LOST or "GPU is lost" in output.text or "Unable to determine the device handle" in output.text:
        match = _BUS.search(output.text)
        where = f" at {_short(match.group(1))}" if match else ""
        return Problem("gpu", f"one of {count} is off the bus{where}", "reboot")
    if output.code == _NOT_FOUND and "No devices were found" in output.text:
        return Problem("gpu", f"0 of {count} are there", "reboot")
    if output.code == 127:
        return Problem("driver", "nvidia-smi is not there", "inspect")
    if output.code != 0:
        return Problem("driver", output.first_line or f"nvidia-smi ended with {output.code}", "inspect")
    return None


def _count_and_driver(rows: list[Row], expected: Mapping[str, Any]) -> Iterator[Problem]:
    if len(rows) != int(expected["count"]):
        yield Problem("gpu", f"{len(rows)} of {expected['count']} are there", "reboot")
    branch = str(expected.get("driver_branch", ""))
    versions = sorted({row["driver_version"] for row in rows if query.state(row["driver_version"]) == "known"})
    if branch and any(version.split(".")[0] != branch for version in versions):
        yield Problem("driver", f"version {versions[0]} is not of branch {branch}", "inspect")


def _without_answer(values: Values, partitioned: set[str], count: int) -> Iterator[Problem]:
    """Yield queries without an answer, GPUs with an error instead of a value, and GPUs that lack a value of all others.

    A GPU whose firmware has stopped is still listed, and nvidia-smi ends with 0.
    """
    for output in values.failures():
        problem = _unreachable(output, count)
        if problem is not None:
            yield problem
    rows = values.whole()
    peers = [row for row in rows if not _error(row) and row["index"] not in partitioned]
    for row in rows:
        where = f"GPU {row['index']} at {_short(row['pci.bus_id'])}"
        if error := _error(row):
            yield Problem("gpu", f"{where} does not answer: {error}", "reset")
            continue
        others = [peer for peer in peers if peer is not row] if row in peers else []
        for field in query.COMMON:
            has = [query.state(other.get(field, "")) == "known" for other in others]
            if has and all(has) and query.state(row[field]) == "absent":
                yield Problem("gpu", f"{where} has no {field}, which the other GPUs have", "inspect")
                break


def _error(row: Row) -> str:
    return next((text for text in row.values() if query.state(text) == "unreadable"), "")


def _each_gpu(rows: list[Row], expected: Mapping[str, Any]) -> Iterator[Problem]:
    generations = Counter(row["pcie.link.gen.max"] for row in rows)
    usual = generations.most_common(1)[0][0] if generations else ""
    for row in rows:
        where = f"{row['index']} at {_short(row['pci.bus_id'])}"
        if _plain(str(expected["type"])) not in _plain(row["name"]):
            wanted = expected.get("name", expected["type"])
            yield Problem("model", f"GPU {where} is a {row['name']}, not a {wanted}", "inspect")
        memory = query.number(row["memory.total"])
        if memory is not None and memory < float(expected.get("memory_mib", 0)) * _MEMORY_SHARE:
            yield Problem("memory", f"GPU {where} has {memory:.0f} of {expected['memory_mib']} MiB", "repair")
        width = query.number(row["pcie.link.width.current"])
        if width is not None and width < float(expected.get("pcie_width", 0)):
            yield Problem("pcie", f"GPU {where} runs x{width:.0f} of x{expected['pcie_width']}", "repair")
        # Slots of an older generation may be intended; one GPU slower than the others is not.
        if _below(row["pcie.link.gen.max"], usual):
            yield Problem("pcie", f"GPU {where} runs generation {row['pcie.link.gen.max']} of {usual}", "repair")
        errors = query.number(row["ecc.errors.uncorrected.volatile.total"])
        if errors and expected.get("errors") != "row_remapping":
            yield Problem("ecc", f"GPU {where} has {errors:.0f} uncorrected errors since its reset", "reset")
        if row["clocks_event_reasons.hw_thermal_slowdown"] == "Active":
            yield Problem("thermal", f"GPU {where} slows itself down, too hot", "repair")


def _memory_errors(
    expected: Mapping[str, Any], rows: list[Row], values: Values, warnings: list[str]
) -> Iterator[Problem]:
    """Yield problems of memory that a reset will retire or that could not be remapped.

    GPUs that remap rows: new jobs may start with a pending remap, and after an uncorrected error that the GPU contained;
    an error that requires a reset is reported as recovery action and as Xid (48, 64, 95, 140). Both are warnings.
    Source: NVIDIA GPU memory error management, error recovery and response flags.
    """
    if expected.get("errors") != "row_remapping":
        for row in rows:
            if _yes(row["retired_pages.pending"]):
                yield Problem("pages", f"GPU {row['index']} has pages that a reset retires", "reset")
        return
    for row in rows:
        errors = query.number(row["ecc.errors.uncorrected.volatile.total"])
        if errors:
            warnings.append(f"GPU {row['index']} has {errors:.0f} uncorrected memory errors since its reset")
    for row in values.get(query.ROWS)[1]:
        where = _short(row["gpu_bus_id"])
        if _yes(row["remapped_rows.failure"]):
            yield Problem("rows", f"GPU at {where} could not remap a row", "repair")
        elif _yes(row["remapped_rows.pending"]):
            warnings.append(f"GPU at {where} has a row that its next reset remaps")


def _links(expected: int, indices: Sequence[str], partitioned: set[str]) -> Iterator[Problem]:
    """Yield GPUs with too few active NVLinks, among those that are not partitioned.

    nvidia-smi does not list a GPU that has no link at all: driver 580.159.04 on one H200 without NVLink prints nothing
    and ends with 0 (recorded 2026-11-26).
    Source: MIG user guide, "Application Considerations": no peer-to-peer while a GPU is partitioned.
    """
    output = query.smi("nvlink", "--status")
    if output.code != 0:
        yield Problem("nvlink", output.first_line or "nvidia-smi nvlink does not answer", "reset")
        return
    active = {
        part[4 : part.index(":")]: len(_LINK.findall(part))
        for part in re.split(r"^(?=GPU \d+:)", output.text, flags=re.MULTILINE)
        if part.startswith("GPU ")
    }
    for index in indices:
        if index not in partitioned and active.get(index, 0) < expected:
            yield Problem("nvlink", f"GPU {index} has {active.get(index, 0)} of {expected} links", "reset")


def _fabric(grace: float, memory: Path | None, values: Values, warnings: list[str]) -> Iterator[Problem]:
    """Yield GPUs whose registration with the fabric has failed, or is in progress for longer than `grace` seconds.

    The state of the service says nothing about it: Fabric Manager may be active with GPUs that it never registers.
    A driver that does not have the fields refuses the query, and GPUs without a fabric have no state: no problem.
    Source: NVML API reference, nvmlGpuFabricInfo_t; nvidia-smi --help-query-gpu.
    """
    now, since = time.monotonic(), (read(memory) or {}) if memory is not None else {}
    waiting: dict[str, float] = {}
    for row in values.get(query.FABRIC)[1]:
        state, status, index = row["fabric.state"], row["fabric.status"], row["index"]
        if "Not Started" in state or "In Progress" in state:
            waiting[index] = float(since.get(index, now))
            if now - waiting[index] >= grace:
                yield Problem("fabric", f"GPU {index}: registration {state}", "reboot")
            else:
                warnings.append(f"GPU {index}: registration with the fabric {state}")
        elif "Completed" in state and "Success" not in status and query.state(status) == "known":
            yield Problem("fabric", f"GPU {index}: registration failed, {status}", "reboot")
    if memory is not None and waiting != since:
        write(memory, waiting)


def _warnings(rows: list[Row], expected: Mapping[str, Any]) -> Iterator[str]:
    names = {str(expected["name"])} if "name" in expected else {row["name"] for row in rows}
    for name in sorted({row["name"] for row in rows} - names):
        yield f"GPUs call themselves {name}, not {expected['name']}"
    generations = sorted({row["pcie.link.gen.max"] for row in rows})
    if generations and all(_below(generation, str(expected.get("pcie_generation", 0))) for generation in generations):
        yield f"every GPU's slot allows generation {generations[-1]} of {expected['pcie_generation']}"


def _short(bus: str) -> str:
    """Return a PCI address such as `00000000:1B:00.0` in the kernel's form."""
    domain, _, rest = bus.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _below(text: str, limit: str) -> bool:
    value, maximum = query.number(text), query.number(limit)
    return value is not None and maximum is not None and value < maximum


def _yes(text: str) -> bool:
    return text.lower() in ("yes", "1")
