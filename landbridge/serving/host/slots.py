"""Slots of a service on this host: the link of each, and its unit.

The file `.SLOT.started` has the version with which the unit was started last; it is empty while that changes, and absent for a slot
that was filled by hand. Every step may be repeated.
"""

import contextlib
import os
import subprocess
from pathlib import Path


class UnitError(Exception):
    """Unit that systemd did not start or stop; the message has the reason."""


def linked(place: Path, slot: str) -> str:
    """Return the version of a slot; empty without one."""
    link = place / slot
    return os.readlink(link) if link.is_symlink() else ""


def set_slot(systemctl: str, place: Path, slot: str, unit: str, version: str) -> bool:
    """Start a version in a slot, or empty it; return whether anything changed. Raises UnitError."""
    started = place / f".{slot}.started"
    if not version:
        if not linked(place, slot) and not started.exists():
            return False
        # The unit ends before its link: it is not ready first, and answers the requests that it has.
        _systemctl(systemctl, "disable", "--now", unit)
        _mark(place, slot)
        started.unlink(missing_ok=True)
        (place / slot).unlink(missing_ok=True)
        return True
    if linked(place, slot) == version and started.exists() and started.read_text() == version:
        return False
    if linked(place, slot) == version and not started.exists():
        # The slot was filled by hand: a running server is not restarted.
        _systemctl(systemctl, "enable", "--now", unit)
        started.write_text(version)
        return True
    started.write_text("")
    if linked(place, slot) != version:
        _mark(place, slot)
    new = place / f".{slot}.link"
    new.unlink(missing_ok=True)
    new.symlink_to(version)
    new.replace(place / slot)
    _systemctl(systemctl, "enable", unit)
    _systemctl(systemctl, "restart", unit)
    started.write_text(version)
    return True


def forget_start(place: Path, version: str) -> None:
    """Let the slot of a version start it again at its next pass."""
    for link in (path for path in place.iterdir() if path.is_symlink() and os.readlink(path) == version):
        (place / f".{link.name}.started").write_text("")


def _mark(place: Path, slot: str) -> None:
    """Set the modification time of a slot's folder: the version that had a slot last is kept for a rollback."""
    if linked(place, slot):
        with contextlib.suppress(FileNotFoundError):
            os.utime(place / linked(place, slot))


def _systemctl(program: str, *words: str) -> None:
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=180, check=False)
    if done.returncode != 0:
        raise UnitError(f"{' '.join(words)}: {' '.join(done.stderr.split())[-300:] or f'status {done.returncode}'}")
