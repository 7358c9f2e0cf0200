"""HAProxy: the system's, or Debian's package unpacked with its libraries into the cache of this user."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from landbridge.paths import cache_dir
from sandbox.demo.report import DemoError

#: Libraries of Debian 12's and 13's package that a machine without HAProxy often lacks.
_LIBRARIES = ("liblua5.3-0", "liblua5.4-0", "libopentracing-c-wrapper0", "libopentracing1")


@cache
def haproxy_program() -> tuple[Path, Mapping[str, str]]:
    """Return the program, and the environment in which it finds its libraries. Raises DemoError if it cannot be had."""
    if installed := shutil.which("haproxy"):
        return Path(installed), dict(os.environ)
    root = cache_dir() / "debian-programs" / "haproxy"
    program = root / "usr" / "sbin" / "haproxy"
    try:
        if not program.exists():
            _unpack(root)
    except (OSError, subprocess.SubprocessError) as error:
        raise DemoError(f"HAProxy is absent, and apt-get does not download it: {error}", "install haproxy") from None
    libraries = sorted({str(path.parent) for path in root.rglob("*.so.*")})
    return program, {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}


def _unpack(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    for package in ("haproxy", *_LIBRARIES):
        # A release has some of the libraries only.
        subprocess.run(
            ["apt-get", "download", package],
            cwd=root,
            capture_output=True,
            timeout=300,
            check=package == "haproxy",
        )
    for archive in sorted(root.glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", archive.name, "."], cwd=root, check=True, timeout=300)
        archive.unlink()
