"""Common code of the stand-ins on a node: the machine's description with its current faults."""

import json
import sys
from pathlib import Path

FOLDER = Path("/usr/local/lib/lab/hardware")
# Not under /run: faulty hardware stays faulty after a reboot.
FAULTS = Path("/var/lib/lab/faults.json")
# Driver release on disk when the node booted (nspawn/machine/hardware.py); if absent, the machine description's.
LOADED = Path("/run/lab-driver")
KNOWN = {
    "absent": list,  # GPUs that are missing on the PCI bus
    "lost": list,  # GPUs that fell off the bus while the driver used them
    "width": dict,  # GPU: lanes
    "generation": dict,  # GPU: PCIe generation of its slot
    "memory": dict,  # GPU: MiB
    "uncorrected": dict,  # GPU: uncorrected errors since its reset
    "pending": list,  # GPUs with memory whose remapping needs a reset
    "unremapped": list,  # GPUs with memory that could not be remapped
    "thermal": list,  # GPUs with thermal slowdown
    "links": dict,  # GPU: number of inactive links
    "fabric": dict,  # GPU: state of its registration with the fabric, such as In Progress
    "recovery": dict,  # GPU: action that the driver requires, such as Reset; "" if the driver does not have the field
    "values": dict,  # GPU: texts by field, such as {"memory.total": "[Unknown Error]"} of a GPU that does not answer
    "inforom": list,  # GPUs whose infoROM is corrupted: nvidia-smi answers, and ends with 14
    "ports": list,  # adapters without a link
    "slow": dict,  # adapter: Gb/s
    "driver": str,  # driver version, other than the machine's
    "use": dict,  # GPU: utilisation in percent, memory in MiB and power in watts; [0, 0, 70] by default
    "processes": int,  # number of processes with a CUDA context
    "replays": dict,  # GPU: repeated transfers over PCIe since the driver was loaded
    "link_errors": dict,  # GPU: replays of its first NVLink
    "unloaded": bool,  # the driver's module is not loaded
}


def machine():
    return json.loads((FOLDER / "machine.json").read_text())


def loaded():
    """Return the release of the driver's modules in the kernel; None if they are not loaded."""
    present_faults = faults()
    if present_faults["unloaded"]:
        return None
    return present_faults["driver"] or (LOADED.read_text().strip() if LOADED.exists() else machine()["driver"])


def library():
    """Return the release of the driver's libraries: the installed package's (hardware/packages), else the modules'."""
    file = FOLDER / "library"
    return loaded() if faults()["driver"] or not file.exists() else file.read_text().strip()


def faults():
    """Return the faults, empty by default. An unknown fault ends the program, because it is a mistake in a test."""
    present_faults = json.loads(FAULTS.read_text()) if FAULTS.exists() else {}
    for name, value in present_faults.items():
        if name not in KNOWN or not isinstance(value, KNOWN[name]):
            sys.exit(f"lab: no such fault: {name}={value!r}")
    return {name: present_faults.get(name, kind()) for name, kind in KNOWN.items()}
