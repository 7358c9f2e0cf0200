"""Programs of Debian's Prometheus packages, without their services: unpacked into the cache of this user."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

from landbridge.paths import cache_dir


@cache
def debian_program(package: str, program: str) -> Path:
    """Return a program of the system, or one from the package, which apt-get downloads once."""
    if installed := shutil.which(program):
        return Path(installed)
    root = cache_dir() / "debian-programs" / package
    unpacked = root / "usr" / "bin" / program
    if not unpacked.exists():
        root.mkdir(parents=True, exist_ok=True)
        for command in (["apt-get", "download", package], ["sh", "-c", f"dpkg-deb --extract {package}_*.deb ."]):
            done = subprocess.run(command, cwd=root, capture_output=True, text=True)
            assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        for archive in root.glob("*.deb"):
            archive.unlink()
    return unpacked
