"""Slurm's source archive: downloaded once, and used only with the expected checksum."""

import hashlib
import urllib.error
import urllib.request
from pathlib import Path

from landbridge.realise.slurm_packages.errors import PackagesError

_BLOCK = 1 << 20


def checked(path: Path, sha256: str) -> Path:
    """Return the archive, whose bytes have this checksum. Raises PackagesError for another."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise PackagesError(f"{path}: {error.strerror}", "name a file that can be read: --source FILE") from None
    if digest.hexdigest() != sha256:
        message = f"{path} has the wrong checksum: SHA-256 {digest.hexdigest()} instead of {sha256}"
        raise PackagesError(message, "get it again, from where the checksum is published")
    return path


def fetch(address: str, sha256: str, folder: Path) -> Path:
    """Download the archive into `folder`, under the name that the address gives it. Raises PackagesError."""
    path = folder / address.rpartition("/")[2]
    if path.is_file():
        return checked(path, sha256)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    try:
        with urllib.request.urlopen(address, timeout=60) as answer, temporary.open("wb") as file:
            while block := answer.read(_BLOCK):
                file.write(block)
    except (urllib.error.URLError, OSError) as error:
        temporary.unlink(missing_ok=True)
        raise PackagesError(f"{address}: {error}", "get the archive by hand, and name it: --source FILE") from None
    checked(temporary, sha256)
    return temporary.replace(path)
