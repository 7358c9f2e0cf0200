"""APT repository of built packages: one suite for each operating system, with several releases and architectures.

Source of the format: wiki.debian.org/DebianRepository/Format.
"""

import gzip
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

_FRAGMENT = "Packages"


@dataclass(frozen=True)
class Added:
    """Result of one build: suite, release of Slurm, and processor architecture."""

    codename: str
    release: str
    architecture: str

    @property
    def folder(self) -> Path:
        """Return the folder of its packages in the repository."""
        return Path("pool") / self.codename / self.release / self.architecture


def add(repository: Path, added: Added, output: Path) -> Path:
    """Move a build's packages into the repository, write the suite's indices, and return its unsigned `Release` file.

    `output` has the packages and their index `Packages`. Packages of other builds stay.
    """
    target = repository / added.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    (output / "release").unlink(missing_ok=True)
    output.rename(target)
    target.chmod(0o755)
    return write_indices(repository, added.codename)


def write_indices(repository: Path, codename: str) -> Path:
    """Write `Packages` of each architecture and `Release` of a suite, from the builds in the pool."""
    by_architecture: dict[str, list[str]] = {}
    for fragment in sorted((repository / "pool" / codename).glob(f"*/*/{_FRAGMENT}")):
        folder = fragment.parent.relative_to(repository)
        text = fragment.read_text().replace("\nFilename: ./", f"\nFilename: {folder}/").strip()
        by_architecture.setdefault(fragment.parent.name, []).append(text)
    suite = repository / "dists" / codename
    sums: list[str] = []
    for architecture, fragments in sorted(by_architecture.items()):
        index = suite / "main" / f"binary-{architecture}"
        index.mkdir(parents=True, exist_ok=True)
        packages = "\n\n".join(fragments).encode() + b"\n"
        for name, data in (("Packages", packages), ("Packages.gz", gzip.compress(packages, mtime=0))):
            (index / name).write_bytes(data)
            sums.append(f" {hashlib.sha256(data).hexdigest()} {len(data)} main/binary-{architecture}/{name}\n")
    release = suite / "Release"
    release.write_text(release_text(codename, sorted(by_architecture), sums))
    return release


def release_text(codename: str, architectures: list[str], sums: list[str]) -> str:
    """Return the content of `Release`. Pure."""
    return (
        f"Origin: Landbridge\nLabel: Landbridge\nSuite: {codename}\nCodename: {codename}\n"
        f"Architectures: {' '.join(architectures)}\nComponents: main\nSHA256:\n{''.join(sums)}"
    )
