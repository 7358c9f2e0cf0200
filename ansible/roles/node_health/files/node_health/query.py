"""Values of all GPUs from one call of nvidia-smi, which takes most of its processor time to open the GPUs."""

from __future__ import annotations

from collections.abc import Mapping

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
#: All fields that one pass needs.
ALL = tuple(dict.fromkeys((*HEALTH, *ROWS[1:], *FABRIC, *RECOVERY, *USE)))
#: Exit code and text of nvidia-smi for a field that the driver does not have (recorded with driver 580.159.04).
_REFUSED, _REFUSAL = 2, "is not a valid field to query"
Row = Mapping[str, str]


class Values:
    """Values of one pass. If the driver lacks one of the fields, each group of them has a call of its own."""

    def __init__(self) -> None:
        self._all: Output | None = None

    def get(self, fields: tuple[str, ...]) -> tuple[Output, list[Row]]:
        """Return nvidia-smi's output and the values of one group of fields by GPU."""
        if self._all is None:
            self._all = _ask("gpu", ALL)
        if self._all.code == _REFUSED and _REFUSAL in self._all.text:
            output = _ask("remapped-rows" if fields == ROWS else "gpu", fields)
            return output, rows(output.text, fields) if output.code == 0 else []
        if self._all.code != 0:
            return self._all, []
        return self._all, [{**row, "gpu_bus_id": row["pci.bus_id"]} for row in rows(self._all.text, ALL)]


def rows(text: str, fields: tuple[str, ...]) -> list[Row]:
    """Return the values by field of each line that has all of them."""
    lines_of_values = (line.split(", ") for line in text.splitlines())
    return [
        {name: values[index].strip() for index, name in enumerate(fields)}
        for values in lines_of_values
        if len(values) == len(fields)
    ]


def _ask(topic: str, fields: tuple[str, ...]) -> Output:
    return run(["nvidia-smi", f"--query-{topic}={','.join(fields)}", "--format=csv,noheader,nounits"])
