"""The signed repository: flat suites as NVIDIA's are, below the wheelhouse that the relay serves to nodes.

A repository's folder is named by its content, so that labs of several checkouts share one cache.
"""

import gzip
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.hardware.packages.deb import Package
from sandbox.hardware.packages.rows import suites
from sandbox.nspawn.host import shell
from sandbox.nspawn.host import wheelhouse as wheels
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.network.relay import WHEELS_PORT

KEY = "lab-packages.asc"
#: File name of the key beside NVIDIA's packages: CUDA's for Debian 13 and for Ubuntu 24.04, DOCA's, the toolkit's.
_KEY_NAMES = ("8793F200.pub", "3bf863cc.pub", "GPG-KEY-Mellanox.pub", "gpgkey")
_KEPT = 86_400
_FORMAT = "3"


@dataclass(frozen=True)
class Repository:
    """A published repository, as nodes see it."""

    path: Path
    key: str

    def address(self, operator: str, suite: str) -> str:
        """The URI of a suite for apt (its distribution is `./`), at the operator's address of the node's segment."""
        return f"http://{operator}:{WHEELS_PORT}/{self.path.parent.name}/{self.path.name}/{suite}/"

    def key_address(self, operator: str) -> str:
        """Path of the public key: beside the packages, as NVIDIA's."""
        return f"http://{operator}:{WHEELS_PORT}/{self.path.parent.name}/{self.path.name}/{KEY}"


def publish(lab: Layout) -> Repository:
    """Build the repository unless one of the same content is there, sign it, and return it."""
    content = {suite: [(package, package.archive()) for package in rows] for suite, rows in suites().items()}
    digest = hashlib.sha256(_FORMAT.encode())
    for suite, rows in sorted(content.items()):
        digest.update(suite.encode() + b"".join(archive for _, archive in rows))
    folder = wheels.house(lab) / "packages"
    target = folder / digest.hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with locked(lab.wheels / "packages.lock"):
        if not target.exists():
            _build(folder / f".{target.name}.{os.getpid()}", target, content)
        target.touch()
        _prune(folder, target)
    return Repository(target, (target / KEY).read_text())


def index(rows: Sequence[tuple[Package, bytes]]) -> str:
    """The file Packages."""
    paragraphs = []
    for package, archive in rows:
        digest = hashlib.sha256(archive).hexdigest()
        paragraphs.append(f"{package.control}Filename: ./{package.file_name}\nSize: {len(archive)}\nSHA256: {digest}\n")
    return "\n".join(paragraphs)


def release(suite: str, packages: bytes, compressed: bytes) -> str:
    """The file Release: NVIDIA's own says Origin and Label NVIDIA."""
    rows = ((packages, "Packages"), (compressed, "Packages.gz"))
    sums = "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for data, name in rows)
    date = time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime())
    return (
        f"Origin: NVIDIA\nLabel: NVIDIA CUDA\nSuite: {suite}\nArchitectures: all amd64\nDate: {date}\nSHA256:\n{sums}"
    )


def _build(work: Path, target: Path, content: dict[str, list[tuple[Package, bytes]]]) -> None:
    shutil.rmtree(work, ignore_errors=True)
    try:
        for suite, rows in content.items():
            own = work / suite
            own.mkdir(parents=True)
            for package, archive in rows:
                (own / package.file_name).write_bytes(archive)
            packages = index(rows).encode()
            compressed = gzip.compress(packages, mtime=0)
            (own / "Packages").write_bytes(packages)
            (own / "Packages.gz").write_bytes(compressed)
            (own / "Release").write_text(release(suite, packages, compressed))
        _sign(work, list(content))
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sign(work: Path, names: Sequence[str]) -> None:
    """Sign every suite with a key made for this repository alone, which is forgotten afterwards."""
    # Not below the work folder: a socket's path may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="lab-gpg-") as home:
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]
        try:
            shell.run([*gpg, "--quick-generate-key", "lab packages <lab@example.org>", "ed25519", "sign", "never"])
            shell.run([*gpg, "--armor", "--output", str(work / KEY), "--export"])
            for name in names:
                for own in _KEY_NAMES:
                    shutil.copy(work / KEY, work / name / own)
                source = work / name / "Release"
                shell.run([*gpg, "--clearsign", "--output", str(source.with_name("InRelease")), str(source)])
        finally:
            shell.run(["gpgconf", "--homedir", home, "--kill", "gpg-agent"], check=False)


def _prune(folder: Path, kept: Path) -> None:
    """Delete repositories that were not requested for a day."""
    limit = time.time() - _KEPT
    for path in folder.iterdir():
        if path != kept and path.is_dir() and path.stat().st_mtime < limit:
            shutil.rmtree(path, ignore_errors=True)
