"""Common code of the stand-ins on a node: the machine's description with its current faults."""

import json
import sys
from pathlib import Path

FOLDER = Path("/usr/local/lib/lab/hardware")
# Broken hardware is broken after a restart, too.
FAULTS = Path("/var/lib/lab/faults.json")
# The release that was on disk when the node booted (hardware.py); absent: the one that the machine came with.
LOADED = Path("/run/lab-driver")
KNOWN = {
    "absent": list,  # GPUs that the bus no longer finds
    "lost": list,  # GPUs that fell off the bus while the driver had them
    "width": dict,  # GPU: lanes
    "generation": dict,  # GPU: generation its slot allows
    "memory": dict,  # GPU: MiB
    "uncorrected": dict,  # GPU: uncorrected errors since its reset
    "pending": list,  # GPUs with memory that waits for a reset
    "unremapped": list,  # GPUs with memory that could not be remapped
    "thermal": list,  # GPUs that slow themselves down
    "links": dict,  # GPU: how many links are inactive
    "ports": list,  # adapters without a link
    "slow": dict,  # adapter: Gb/s
    "driver": str,  # another version than the machine's
    "unloaded": bool,  # the driver's module is not there
}


def machine():
    return json.loads((FOLDER / "machine.json").read_text())


def loaded():
    """The release of the driver's modules in the kernel; None where there are none."""
    found = faults()
    if found["unloaded"]:
        return None
    return found["driver"] or (LOADED.read_text().strip() if LOADED.exists() else machine()["driver"])


def library():
    """The release of the driver's libraries: of the package (sandbox/hardware/packages), else as loaded."""
    file = FOLDER / "library"
    return loaded() if faults()["driver"] or not file.exists() else file.read_text().strip()


def faults():
    """Return the faults, empty by default. An unknown fault ends the program, because it is a mistake in a test."""
    found = json.loads(FAULTS.read_text()) if FAULTS.exists() else {}
    for name, value in found.items():
        if name not in KNOWN or not isinstance(value, KNOWN[name]):
            sys.exit(f"lab: no such fault: {name}={value!r}")
    return {name: found.get(name, kind()) for name, kind in KNOWN.items()}
