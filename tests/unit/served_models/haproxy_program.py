"""HAProxy of Debian, without its service: the system's, or unpacked with its libraries into the cache of this user."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from landbridge.paths import cache_dir

#: Libraries of Debian 12's and 13's package that a machine without HAProxy often lacks.
_LIBRARIES = ("liblua5.3-0", "liblua5.4-0", "libopentracing-c-wrapper0", "libopentracing1")


@cache
def haproxy_program() -> tuple[Path, Mapping[str, str]]:
    """Return the program, and the environment in which it finds its libraries."""
    if installed := shutil.which("haproxy"):
        return Path(installed), dict(os.environ)
    root = cache_dir() / "debian-programs" / "haproxy"
    program = root / "usr" / "sbin" / "haproxy"
    libraries = sorted(root.glob("usr/lib/*-linux-gnu"))
    if not program.exists() or not libraries:
        root.mkdir(parents=True, exist_ok=True)
        for package in ("haproxy", *_LIBRARIES):
            download = subprocess.run(
                ["apt-get", "download", package], cwd=root, capture_output=True, text=True, timeout=300
            )
            # A release has some of the libraries only.
            assert download.returncode == 0 or package != "haproxy", download.stderr
        for archive in sorted(root.glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", archive.name, "."], cwd=root, check=True, timeout=300)
            archive.unlink()
        libraries = sorted(root.glob("usr/lib/*-linux-gnu"))
    return program, {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}
