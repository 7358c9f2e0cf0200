"""Values of all GPUs from one call of nvidia-smi, which takes most of its processor time to open the GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from node_health.run import Output, run

# Fields of `nvidia-smi --query-gpu`: the link's present width, and the generation that its slot permits, since the
# present generation falls while a GPU is idle.
HEALTH = (
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
#: Fields of `--query-remapped-rows`. Driver 580 also has them in `--query-gpu`, with `pci.bus_id` for the first.
ROWS = ("gpu_bus_id", "remapped_rows.pending", "remapped_rows.failure")
#: Registration of a GPU with the NVLink fabric, which Fabric Manager configures; CUDA fails with error 802 before it ends.
FABRIC = ("index", "fabric.state", "fabric.status")
RECOVERY = ("index", "gpu_recovery_action")
USE = ("index", "pci.bus_id", "uuid", "utilization.gpu", "memory.used", "power.draw")
#: Fields that all GPUs of a node have, or none; a GPU with MIG may lack some. Others depend on the use of the GPU.
COMMON = (*HEALTH[3:], *ROWS[1:], "fabric.state", "gpu_recovery_action")
_GROUPS = (HEALTH, ROWS, FABRIC, RECOVERY, USE)
#: All fields that one pass needs.
ALL = tuple(dict.fromkeys((*HEALTH, *ROWS[1:], *FABRIC, *RECOVERY, *USE)))
#: Exit code and text of nvidia-smi for a field that the driver does not have (recorded with driver 580.159.04).
_REFUSED, _REFUSAL = 2, "is not a valid field to query"
#: Texts for a value that the GPU, its configuration or the driver does not have. Source: nvidia-smi(1); NVML API
#: reference, nvmlReturn_t (NOT_SUPPORTED, DEPRECATED, FUNCTION_NOT_FOUND), whose texts nvidia-smi prints in brackets.
_ABSENT = {"", "n/a", "not supported", "requested functionality has been deprecated", "function not found", "unknown"}
#: Exit code and line of nvidia-smi for a corrupted infoROM. Source: nvidia-smi(1), RETURN VALUE.
_CORRUPTED, _INFOROM = 14, re.compile(r"^WARNING: infoROM is corrupted at gpu (\S+)", re.MULTILINE)
Row = Mapping[str, str]


class Values:
    """Values of one pass. If the driver lacks one of the fields, each group of them has a call of its own."""

    def __init__(self) -> None:
        self._all: Output | None = None
        self._groups: dict[tuple[str, ...], Output] = {}

    def get(self, fields: tuple[str, ...]) -> tuple[Output, list[Row]]:
        """Return nvidia-smi's output and the values of one group of fields by GPU."""
        if self._all is None:
            self._all = _ask("gpu", ALL)
        if _is_refusal(self._all):
            if fields not in self._groups:
                self._groups[fields] = _ask("remapped-rows" if fields == ROWS else "gpu", fields)
            output = self._groups[fields]
            return output, rows(output.text, fields) if output.code == 0 else []
        if self._all.code != 0:
            return self._all, []
        return self._all, [{**row, "gpu_bus_id": row["pci.bus_id"]} for row in rows(self._all.text, ALL)]

    def failures(self) -> list[Output]:
        """Return the outputs of groups that have no answer, unless the driver does not have one of their fields."""
        outputs = (self.get(fields)[0] for fields in _GROUPS)
        return [output for output in outputs if output.code != 0 and not _is_refusal(output)]

    def whole(self) -> list[Row]:
        """Return all values by GPU that the driver has, in the order of the GPUs."""
        groups = [self.get(fields)[1] for fields in _GROUPS]
        count = len(groups[0])
        return [
            {name: value for group in groups if len(group) == count for name, value in group[row].items()}
            for row in range(count)
        ]


def state(text: str) -> Literal["known", "absent", "unreadable"]:
    """Return whether a value of nvidia-smi is known, absent, or `unreadable`: an error of the GPU instead of the value.

    Errors are texts in brackets, such as `[Unknown Error]` and `[GPU requires reset]`, and `ERR!`. nvidia-smi prints them
    with exit code 0.
    """
    if text.strip("[] ").lower() in _ABSENT:
        return "absent"
    return "unreadable" if text.startswith("[") or "ERR!" in text else "known"


def number(text: str) -> float | None:
    """Return the number, or None for an absent or unreadable value."""
    try:
        return float(text)
    except ValueError:
        return None


def rows(text: str, fields: tuple[str, ...]) -> list[Row]:
    """Return the values by field of each line that has all of them."""
    lines_of_values = (line.split(", ") for line in text.splitlines())
    return [
        {name: values[index].strip() for index, name in enumerate(fields)}
        for values in lines_of_values
        if len(values) == len(fields)
    ]


def _is_refusal(output: Output) -> bool:
    return output.code == _REFUSED and _REFUSAL in output.text


def smi(*words: str) -> Output:
    """Run nvidia-smi. A corrupted infoROM is code 0, and the answer has a line with the GPU: its other values are printed."""
    output = run(["nvidia-smi", *words])
    return Output(0, output.text) if output.code == _CORRUPTED else output


def corrupted(text: str) -> list[str]:
    """Return the PCI addresses of the GPUs whose infoROM is corrupted."""
    return _INFOROM.findall(text)


def _ask(topic: str, fields: tuple[str, ...]) -> Output:
    return smi(f"--query-{topic}={','.join(fields)}", "--format=csv,noheader,nounits")
