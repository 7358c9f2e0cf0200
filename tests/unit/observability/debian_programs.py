"""Programs of Debian's packages, without their services: unpacked into the cache of this user."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from landbridge.paths import cache_dir


@cache
def debian_program(package: str, program: str) -> Path:
    """Return a program of the system, or one from the package, which apt-get downloads once."""
    if installed := shutil.which(program):
        return Path(installed)
    return unpacked_packages((package,)) / "usr" / "bin" / program


def unpacked_packages(*alternatives: Sequence[str]) -> Path:
    """Return a folder with one package of each group of alternatives, complete also if a run before was ended or failed."""
    root = cache_dir() / "debian-programs" / "+".join(names[0] for names in alternatives)
    if root.exists():
        return root
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as temporary:
        folder = Path(temporary) / "unpacked"
        folder.mkdir()
        for names in alternatives:
            _download(names, folder)
        for archive in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", archive.name, "."], cwd=folder, check=True)
            archive.unlink()
        try:
            os.rename(folder, root)
        except OSError:
            # Another process was first.
            assert root.exists()
    return root


def _download(names: Sequence[str], folder: Path) -> None:
    errors = []
    for name in names:
        done = subprocess.run(["apt-get", "download", name], cwd=folder, capture_output=True, text=True)
        if done.returncode == 0:
            return
        errors.append(done.stderr)
    raise AssertionError(f"apt-get download {' '.join(names)}: {errors}")
