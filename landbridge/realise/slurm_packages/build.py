"""Package build with one call of mmdebstrap, whose root file system is always removed afterwards."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.catalog import slurm_sources
from landbridge.catalog.slurm.sources import BuildSystem
from landbridge.realise.slurm_packages.archive import checked, fetch
from landbridge.realise.slurm_packages.errors import PackagesError
from landbridge.realise.slurm_packages.repository import Added, add
from landbridge.realise.slurm_packages.sign import sign

#: Packages of the temporary system in addition to a compiler.
TOOLS = ("ca-certificates", "apt-utils", "debhelper", "fakeroot")
_INSIDE = Path(__file__).with_name("inside.sh")
KEY = "key.asc"


@dataclass(frozen=True)
class PackageBuild:
    """Build request: a version of the software for hosts of one operating system, from a given or downloaded archive.

    `mirrors` and `keyrings` replace the catalogue's, by archive (debian, ubuntu).
    """

    version: str
    system: str
    architecture: str
    mirrors: dict[str, str] = field(default_factory=dict)
    keyrings: dict[str, str] = field(default_factory=dict)
    source: Path | None = None
    sha256: str | None = None

    @property
    def facts(self) -> BuildSystem:
        """Return the operating system's facts. Raises PackagesError for an unknown one."""
        systems = slurm_sources().systems
        if self.system not in systems:
            raise PackagesError(f"packages are not built for {self.system}", f"use one of {', '.join(systems)}")
        return systems[self.system]

    @property
    def mirror(self) -> str:
        """Return the archive of the build dependencies. Raises PackagesError for an unknown architecture."""
        archive = self.facts.archive
        known = slurm_sources().build_archives[archive].mirrors
        if self.architecture not in known:
            fix = f"use one of {', '.join(known)}"
            raise PackagesError(f"packages are not built for the architecture {self.architecture}", fix)
        return self.mirrors.get(archive, known[self.architecture])

    @property
    def keyring(self) -> Path:
        """Return the keyring that verifies that archive."""
        archive = self.facts.archive
        return Path(self.keyrings.get(archive, slurm_sources().build_archives[archive].keyring))


@dataclass(frozen=True)
class Recipe:
    """Software that is built: how its source archive is found, and the command line of its build."""

    archive: Callable[[PackageBuild, Path], Path]
    command: Callable[[PackageBuild, Path, Path], list[str]]


def build(
    request: PackageBuild, into: Path, state: Path, report: Callable[[str], None], recipe: Recipe | None = None
) -> Path:
    """Build the packages of a recipe, Slurm's by default, add them to the repository `into`, sign it and return it.

    `state` keeps the source archive and the signing key. Needs mmdebstrap, and root or a kernel that permits user
    namespaces. Uses all processors for minutes. Raises PackagesError; the repository is changed only by a complete
    build, and keeps the packages of other systems, architectures and releases.
    """
    if not request.keyring.is_file():
        package = slurm_sources().build_archives[request.facts.archive].keyring_package
        raise PackagesError(f"{request.keyring} is missing", f"apt-get install {package}")
    recipe = recipe or Recipe(_archive, command)
    recipe.command(request, Path("archive"), Path("out"))  # Unknown systems are refused before a download.
    archive = recipe.archive(request, state)
    report(f"building {archive.name} for {request.system} ({request.architecture})")
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{request.facts.codename}-", dir=into) as folder:
        output = Path(folder) / "out"
        output.mkdir()
        _run(recipe.command(request, archive, output), Path(folder) / "log", report)
        if not (output / "Packages").is_file():
            raise PackagesError("the build produced no packages", "read its output")
        added = Added(request.facts.codename, (output / "release").read_text().strip(), request.architecture)
        release = add(into, added, output)
        sign(release, state / "keys", into / KEY)
    return into


def command(request: PackageBuild, archive: Path, output: Path) -> list[str]:
    """Return the command line: root file system, script that runs in it, and files that are copied out of it. Pure."""
    facts, plugins = request.facts, slurm_sources().plugins
    arguments = (archive.name, facts.codename, *plugins)
    return temporary_system(request, archive, output, _INSIDE, arguments, TOOLS, facts.components)


def temporary_system(
    request: PackageBuild,
    archive: Path,
    output: Path,
    script: Path,
    arguments: Sequence[str],
    packages: Sequence[str],
    components: Sequence[str],
) -> list[str]:
    """Return mmdebstrap's command line. `arguments` are those of the script, the first one is the archive's name. Pure."""
    facts = request.facts
    inside = f'chroot "$1" sh /build/{script.name} /build/{shlex.join(arguments)}'
    return [
        "mmdebstrap",
        "--variant=buildd",
        f"--architectures={request.architecture}",
        f"--keyring={request.keyring}",
        f"--include={','.join(packages)}",
        *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("doc", "man", "locale")),
        '--customize-hook=mkdir "$1/build"',
        f"--customize-hook=copy-in {archive} {script} /build",
        f"--customize-hook={inside}",
        f"--customize-hook=sync-out /build/out {output}",
        facts.suites[0],
        "/dev/null",
        *(f"deb {request.mirror} {suite} {' '.join(components)}" for suite in facts.suites),
    ]


def _archive(request: PackageBuild, state: Path) -> Path:
    archive_facts = slurm_sources().archives.get(request.version)
    sha256 = request.sha256 or (archive_facts.sha256 if archive_facts else None)
    if sha256 is None:
        fix = "pass the archive and the checksum that its authors publish: --source FILE --sha256 SUM"
        raise PackagesError(f"no archive of Slurm {request.version} is known", fix)
    if request.source is not None:
        return checked(request.source, sha256)
    if archive_facts is None:
        raise PackagesError(f"no address of the archive of Slurm {request.version} is known", "pass it: --source FILE")
    debian = request.mirrors.get("debian", slurm_sources().build_archives["debian"].mirrors["amd64"])
    return fetch(f"{debian}/{archive_facts.path}", sha256, state / "sources")


def _run(words: list[str], log: Path, report: Callable[[str], None]) -> None:
    """Run the command; its output goes to the log, and its steps are reported."""
    if shutil.which(words[0]) is None:
        raise PackagesError(f"{words[0]} is missing", f"apt-get install {words[0]}")
    with (
        log.open("w") as file,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process,
    ):
        for line in process.stdout or ():
            file.write(line)
            if line.startswith(("I: ", "E: ", "dpkg-buildpackage: info", "dpkg-deb: building", "landbridge: ")):
                report(line.strip())
    if process.returncode != 0:
        tail = "".join(log.read_text().splitlines(keepends=True)[-12:])
        raise PackagesError(f"the build ended with {process.returncode}:\n{tail}", "read the end of its output above")
