"""Signed APT repository: flat suites like NVIDIA's, below the wheelhouse that the relay serves to nodes.

The name of a repository's folder is the hash of its content, so that labs of several checkouts share one cache.
"""

import gzip
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.hardware.packages.deb import Package
from sandbox.hardware.packages.installers import installers
from sandbox.hardware.packages.rows import suites
from sandbox.nspawn.host import shell
from sandbox.nspawn.host import wheelhouse as wheels
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.network.relay import WHEELS_PORT

KEY = "lab-packages.asc"
#: File names of NVIDIA's public keys: CUDA's for Debian 13 and for Ubuntu 24.04, DOCA's, the toolkit's.
_KEY_NAMES = ("8793F200.pub", "3bf863cc.pub", "GPG-KEY-Mellanox.pub", "gpgkey", "fsx-ubuntu-public-key.asc")
_UNUSED_SECONDS = 86_400
_FORMAT = "5"
#: Labels of the Release files by suite; the CUDA repositories of all distributions have one.
_CUDA_SUITES, _CUDA_LABEL = ("debian", "ubuntu"), "NVIDIA CUDA"


@dataclass(frozen=True)
class Repository:
    """Published repository: its folder and its public key."""

    path: Path
    key: str

    def address(self, operator: str, suite: str) -> str:
        """Return the URI of a suite for apt (distribution `./`), at the operator's address of the node's segment."""
        return f"http://{operator}:{WHEELS_PORT}/{self.path.parent.name}/{self.path.name}/{suite}/"

    def key_address(self, operator: str) -> str:
        """Return the URI of the public key: in the repository, as NVIDIA's is."""
        return f"http://{operator}:{WHEELS_PORT}/{self.path.parent.name}/{self.path.name}/{KEY}"


def publish(lab: Layout) -> Repository:
    """Build and sign the repository unless one of the same content exists; return it."""
    content = {suite: [(package, package.archive()) for package in rows] for suite, rows in suites().items()}
    digest = hashlib.sha256(_FORMAT.encode())
    for suite, rows in sorted(content.items()):
        digest.update(suite.encode() + b"".join(archive for _, archive in rows))
    beside = installers()
    for path, data in sorted(beside.items()):
        digest.update(path.encode() + data)
    folder = wheels.house(lab) / "packages"
    target = folder / digest.hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with locked(lab.wheels / "packages.lock"):
        if not target.exists():
            _build(folder / f".{target.name}.{os.getpid()}", target, content, beside)
        target.touch()
        _prune(folder, target)
    return Repository(target, (target / KEY).read_text())


def index(rows: Sequence[tuple[Package, bytes]]) -> str:
    """Return the content of the file Packages."""
    paragraphs = []
    for package, archive in rows:
        digest = hashlib.sha256(archive).hexdigest()
        paragraphs.append(f"{package.control}Filename: ./{package.file_name}\nSize: {len(archive)}\nSHA256: {digest}\n")
    return "\n".join(paragraphs)


def release(suite: str, packages: bytes, compressed: bytes) -> str:
    """Return the content of the file Release, with NVIDIA's Origin and the Label of the repository."""
    label = _CUDA_LABEL if suite.startswith(_CUDA_SUITES) else suite
    rows = ((packages, "Packages"), (compressed, "Packages.gz"))
    sums = "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for data, name in rows)
    date = time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime())
    return f"Origin: NVIDIA\nLabel: {label}\nSuite: {suite}\nArchitectures: all amd64\nDate: {date}\nSHA256:\n{sums}"


def _build(
    work: Path, target: Path, content: dict[str, list[tuple[Package, bytes]]], beside: Mapping[str, bytes]
) -> None:
    shutil.rmtree(work, ignore_errors=True)
    try:
        for suite, rows in content.items():
            suite_folder = work / suite
            suite_folder.mkdir(parents=True)
            for package, archive in rows:
                (suite_folder / package.file_name).write_bytes(archive)
            packages = index(rows).encode()
            compressed = gzip.compress(packages, mtime=0)
            (suite_folder / "Packages").write_bytes(packages)
            (suite_folder / "Packages.gz").write_bytes(compressed)
            (suite_folder / "Release").write_text(release(suite, packages, compressed))
        for path, data in beside.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_bytes(data)
        _sign(work, list(content))
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sign(work: Path, names: Sequence[str]) -> None:
    """Sign every suite with a new key, of which only the public part is kept."""
    # Not below the work folder: the path of the agent's unix socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="lab-gpg-") as home:
        gpg = ["gpg", "--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]
        try:
            shell.run([*gpg, "--quick-generate-key", "lab packages <lab@example.org>", "ed25519", "sign", "never"])
            shell.run([*gpg, "--armor", "--output", str(work / KEY), "--export"])
            for name in names:
                for key_name in _KEY_NAMES:
                    shutil.copy(work / KEY, work / name / key_name)
                source = work / name / "Release"
                shell.run([*gpg, "--clearsign", "--output", str(source.with_name("InRelease")), str(source)])
        finally:
            shell.run(["gpgconf", "--homedir", home, "--kill", "gpg-agent"], check=False)


def _prune(folder: Path, current: Path) -> None:
    """Delete repositories that were not requested for a day, except `current`."""
    limit = time.time() - _UNUSED_SECONDS
    for path in folder.iterdir():
        if path != current and path.is_dir() and path.stat().st_mtime < limit:
            shutil.rmtree(path, ignore_errors=True)
