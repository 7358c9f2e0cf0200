"""Installation of the stand-ins into a node's files before it boots."""

import json
from importlib.resources import files
from pathlib import Path

from landbridge.catalog import platforms
from sandbox.hardware.machine import describe

FOLDER = "usr/local/lib/lab/hardware"
_PROGRAMS = files("sandbox.hardware") / "programs"
_UNIT = "nvidia-fabricmanager.service"
#: tmpfiles.d: the kernel log, which a container lacks. It is empty at each boot, as on a real machine.
KERNEL_LOG = "f /dev/kmsg 0644 root root -\n"
#: tmpfiles.d, at boot only: the modules in the kernel are those on disk at boot.
LOADED_DRIVER = f"C! /run/lab-driver - - - - /{FOLDER}/module\n"


def install(root: Path, node: str, platform: str, *, with_driver: bool = True) -> None:
    """Write the stand-ins of a machine of this platform below `root`.

    `with_driver`: with Fabric Manager, as an operating system with a preinstalled driver has it.
    """
    facts = platforms()[platform]
    description = describe(node, facts)
    _write(root / FOLDER / "machine.json", json.dumps(description, indent=1))
    for name in ("lab_hardware.py", "lab_mig.py", "lab_dcgm.py"):
        _copy(name, root / FOLDER / name)
    _copy("nvidia-smi", root / "usr/bin/nvidia-smi", 0o755)
    if description["ports"]:
        _copy("ibstat", root / "usr/sbin/ibstat", 0o755)
    if facts.fabric_manager and with_driver:
        _copy(_UNIT, root / "usr/lib/systemd/system" / _UNIT)
        link = root / "etc/systemd/system/multi-user.target.wants" / _UNIT
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(f"/usr/lib/systemd/system/{_UNIT}")


def _copy(name: str, target: Path, mode: int = 0o644) -> None:
    _write(target, (_PROGRAMS / name).read_text(), mode)


def _write(target: Path, content: str, mode: int = 0o644) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content)
    target.chmod(mode)
