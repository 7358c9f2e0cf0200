"""HAProxy of Debian's package, unpacked into the cache of this user with the libraries that the system lacks."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from landbridge.paths import cache_dir

PACKAGES = ("haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1", "liblua5.4-0", "libopentracing1")


@cache
def haproxy_program() -> tuple[Path, dict[str, str]]:
    """Return the program and its environment: the system's, or one that apt-get downloads once."""
    if installed := shutil.which("haproxy"):
        return Path(installed), dict(os.environ)
    root = cache_dir() / "debian-programs" / "haproxy"
    program = root / "usr" / "sbin" / "haproxy"
    if not program.exists():
        root.mkdir(parents=True, exist_ok=True)
        for package in dict.fromkeys(PACKAGES):
            # A release has one of the two Lua libraries.
            subprocess.run(["apt-get", "download", package], cwd=root, capture_output=True, timeout=300, check=False)
        for archive in root.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", archive.name, "."], cwd=root, timeout=300, check=True)
            archive.unlink()
    libraries = {str(path.parent) for path in root.rglob("*.so.*")}
    return program, {**os.environ, "LD_LIBRARY_PATH": ":".join(sorted(libraries))}
