"""The node's GPUs, as nvidia-smi tells of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from node_health import mig
from node_health.problem import Problem
from node_health.run import Output, run

# Fields of `nvidia-smi --query-gpu`. Width is what the link has now, generation what this slot allows: the present one
# falls while a GPU idles.
_FIELDS = (
    "index",
    "pci.bus_id",
    "name",
    "memory.total",
    "driver_version",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "ecc.errors.uncorrected.volatile.total",
    "clocks_event_reasons.hw_thermal_slowdown",
    "retired_pages.pending",
)
_ROWS = ("gpu_bus_id", "remapped_rows.pending", "remapped_rows.failure")
#: nvidia-smi(1), RETURN VALUE: a GPU has fallen off the bus or cannot be reached any more.
_LOST = 15
_BUS = re.compile(r"GPU\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9])")
_LINK = re.compile(r"Link \d+: *([0-9.]+) GB/s")
# The driver uses the difference between nvidia-smi's memory size and the data sheet's.
_MEMORY_SHARE = 0.98
Row = Mapping[str, str]


def check(wanted: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Problems and warnings. `wanted` is `gpus` of what is expected, with `driver_branch` beside it."""
    answer = _query("gpu", _FIELDS)
    unreachable = _unreachable(answer, int(wanted["count"]))
    if unreachable is not None:
        return [unreachable], []
    rows = _rows(answer.text, _FIELDS)
    problems = [*_there(rows, wanted), *_each(rows, wanted), *_memory_errors(wanted, rows)]
    parts, cut = mig.check(wanted["mig"]) if wanted.get("mig") else ([], set())
    problems += parts
    if wanted.get("links") and rows:
        problems += _links(int(wanted["links"]), cut)
    return problems, list(_warnings(rows, wanted))


def _query(what: str, fields: tuple[str, ...]) -> Output:
    return run(["nvidia-smi", f"--query-{what}={','.join(fields)}", "--format=csv,noheader,nounits"])


def _rows(text: str, fields: tuple[str, ...]) -> list[Row]:
    cut = (line.split(", ") for line in text.splitlines())
    return [
        {name: values[at].strip() for at, name in enumerate(fields)} for values in cut if len(values) == len(fields)
    ]


def _unreachable(answer: Output, count: int) -> Problem | None:
    """Return the problem that keeps nvidia-smi from answering, or None."""
    if answer.code is None:
        return Problem("gpu", "nvidia-smi does not end", "reboot")
    if answer.code == _LOST or "GPU is lost" in answer.text or "Unable to determine the device handle" in answer.text:
        found = _BUS.search(answer.text)
        where = f" at {_short(found.group(1))}" if found else ""
        return Problem("gpu", f"one of {count} is off the bus{where}", "reboot")
    if answer.code == 127:
        return Problem("driver", "nvidia-smi is not there", "inspect")
    if answer.code != 0:
        return Problem("driver", answer.first_line or f"nvidia-smi ended with {answer.code}", "inspect")
    return None


def _there(rows: list[Row], wanted: Mapping[str, Any]) -> Iterator[Problem]:
    if len(rows) != int(wanted["count"]):
        yield Problem("gpu", f"{len(rows)} of {wanted['count']} are there", "reboot")
    branch = str(wanted.get("driver_branch", ""))
    versions = sorted({row["driver_version"] for row in rows})
    if branch and any(version.split(".")[0] != branch for version in versions):
        yield Problem("driver", f"version {versions[0]} is not of branch {branch}", "inspect")


def _each(rows: list[Row], wanted: Mapping[str, Any]) -> Iterator[Problem]:
    generations = Counter(row["pcie.link.gen.max"] for row in rows)
    usual = generations.most_common(1)[0][0] if generations else ""
    for row in rows:
        where = f"{row['index']} at {_short(row['pci.bus_id'])}"
        if _plain(str(wanted["type"])) not in _plain(row["name"]):
            yield Problem("model", f"GPU {where} is a {row['name']}, not a {wanted['name']}", "inspect")
        memory = _number(row["memory.total"])
        if memory is not None and memory < float(wanted["memory_mib"]) * _MEMORY_SHARE:
            yield Problem("memory", f"GPU {where} has {memory:.0f} of {wanted['memory_mib']} MiB", "repair")
        width = _number(row["pcie.link.width.current"])
        if width is not None and width < float(wanted.get("pcie_width", 0)):
            yield Problem("pcie", f"GPU {where} runs x{width:.0f} of x{wanted['pcie_width']}", "repair")
        # Slots of an older generation are a site's own choice; one GPU slower than its neighbours is none.
        if _below(row["pcie.link.gen.max"], usual):
            yield Problem("pcie", f"GPU {where} runs generation {row['pcie.link.gen.max']} of {usual}", "repair")
        errors = _number(row["ecc.errors.uncorrected.volatile.total"])
        if errors:
            yield Problem("ecc", f"GPU {where} has {errors:.0f} uncorrected errors since its reset", "reset")
        if row["clocks_event_reasons.hw_thermal_slowdown"] == "Active":
            yield Problem("thermal", f"GPU {where} slows itself down, too hot", "repair")


def _memory_errors(wanted: Mapping[str, Any], rows: list[Row]) -> Iterator[Problem]:
    """Memory that waits for a reset to be taken out of use, or that could not be. Source: NVIDIA, GPU memory error management."""
    if wanted.get("errors") != "row_remapping":
        for row in rows:
            if _yes(row["retired_pages.pending"]):
                yield Problem("pages", f"GPU {row['index']} has pages that a reset retires", "reset")
        return
    answer = _query("remapped-rows", _ROWS)
    if answer.code != 0:
        return
    for row in _rows(answer.text, _ROWS):
        where = _short(row["gpu_bus_id"])
        if _yes(row["remapped_rows.failure"]):
            yield Problem("rows", f"GPU at {where} could not remap a row", "repair")
        elif _yes(row["remapped_rows.pending"]):
            yield Problem("rows", f"GPU at {where} has a row that a reset remaps", "reset")


def _links(wanted: int, cut: set[str]) -> Iterator[Problem]:
    """NVLinks of each GPU that carry something. Only GPUs that nvidia-smi speaks of are judged, and none that is in parts.

    Source: MIG user guide, "Application Considerations": no peer-to-peer while a GPU is partitioned.
    """
    answer = run(["nvidia-smi", "nvlink", "--status"])
    if answer.code != 0:
        yield Problem("nvlink", answer.first_line or "nvidia-smi nvlink does not answer", "reset")
        return
    for part in re.split(r"^(?=GPU \d+:)", answer.text, flags=re.MULTILINE):
        if part.startswith("GPU "):
            active, number = len(_LINK.findall(part)), part[4 : part.index(":")]
            if active < wanted and number not in cut:
                yield Problem("nvlink", f"GPU {number} has {active} of {wanted} links", "reset")


def _warnings(rows: list[Row], wanted: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({row["name"] for row in rows} - {str(wanted["name"])}):
        yield f"GPUs call themselves {name}, not {wanted['name']}"
    generations = sorted({row["pcie.link.gen.max"] for row in rows})
    if generations and all(_below(found, str(wanted.get("pcie_generation", 0))) for found in generations):
        yield f"every GPU's slot allows generation {generations[-1]} of {wanted['pcie_generation']}"


def _short(bus: str) -> str:
    """`00000000:1B:00.0` as the kernel writes it."""
    domain, _, rest = bus.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _number(text: str) -> float | None:
    """Return the number; None for `[N/A]` and other text, because an unknown value is no fault."""
    try:
        return float(text)
    except ValueError:
        return None


def _below(text: str, limit: str) -> bool:
    found, most = _number(text), _number(limit)
    return found is not None and most is not None and found < most


def _yes(text: str) -> bool:
    return text.lower() in ("yes", "1")
