"""Source archive of Slurm, downloaded once, and used only with the expected checksum."""

import hashlib
import urllib.error
import urllib.request
from pathlib import Path

from landbridge.realise.slurm_packages.errors import PackagesError

_BLOCK_BYTES = 1 << 20


def checked(path: Path, sha256: str) -> Path:
    """Return the archive if it has this SHA-256 checksum. Raises PackagesError for another one."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise PackagesError(f"{path}: {error.strerror}", "name a file that can be read: --source FILE") from None
    if digest.hexdigest() != sha256:
        message = f"{path} has the wrong checksum: SHA-256 {digest.hexdigest()} instead of {sha256}"
        raise PackagesError(message, "download it again from the site that publishes the checksum")
    return path


def fetch(address: str, sha256: str, folder: Path) -> Path:
    """Download the archive into `folder`, under the last part of its address. Raises PackagesError."""
    path = folder / address.rpartition("/")[2]
    if path.is_file():
        return checked(path, sha256)
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    try:
        with urllib.request.urlopen(address, timeout=60) as response, temporary.open("wb") as file:
            while block := response.read(_BLOCK_BYTES):
                file.write(block)
    except (urllib.error.URLError, OSError) as error:
        temporary.unlink(missing_ok=True)
        raise PackagesError(f"{address}: {error}", "download the archive by hand, and pass it: --source FILE") from None
    checked(temporary, sha256)
    return temporary.replace(path)
