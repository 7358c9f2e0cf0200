"""Package build: one call of mmdebstrap, whose root file system is always removed afterwards."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from landbridge.catalog import slurm_sources
from landbridge.plan.slurm.packages import built_release
from landbridge.realise.slurm_packages.archive import checked, fetch
from landbridge.realise.slurm_packages.errors import PackagesError
from landbridge.realise.slurm_packages.sign import sign

#: What the throw-away system has besides a compiler.
_TOOLS = ("ca-certificates", "apt-utils", "debhelper", "fakeroot")
_INSIDE = Path(__file__).with_name("inside.sh")
KEY = "key.asc"


@dataclass(frozen=True)
class PackageBuild:
    """Build request: a version of Slurm for hosts of one Debian release, from an archive that is named or
    downloaded.
    """

    version: str
    suite: str
    mirror: str
    source: Path | None = None
    sha256: str | None = None

    @property
    def codename(self) -> str:
        """Return the apt codename of the repository: `scheduler.slurm.packages_release`."""
        return built_release(self.version)


def build(order: PackageBuild, into: Path, state: Path, report: Callable[[str], None]) -> Path:
    """Build, sign and return the repository, `into`/<suite>. `state` keeps the archive and the signing key.

    Needs mmdebstrap, and root or a kernel that lets users have namespaces. Takes minutes of every processor there is. Raises
    PackagesError; what was in `into` before is replaced only by a whole repository.
    """
    archive = _archive(order, state)
    report(f"building {archive.name} for {order.suite}")
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{order.suite}-", dir=into) as folder:
        output = Path(folder) / "out"
        output.mkdir()
        _run(command(order, archive, output), Path(folder) / "log", report)
        release = output / "dists" / order.codename / "Release"
        if not release.is_file():
            raise PackagesError("the build produced no repository", "read its output")
        sign(release, state / "keys", output / KEY)
        target = into / order.suite
        if target.exists():
            shutil.rmtree(target)
        output.rename(target)
    target.chmod(0o755)
    return target


def command(order: PackageBuild, archive: Path, output: Path) -> list[str]:
    """Return the command line: the root file system, the script that runs in it, and the files copied out of it. Pure."""
    inside = f'chroot "$1" sh /build/{_INSIDE.name} /build/{archive.name} {order.codename}'
    return [
        "mmdebstrap",
        "--variant=buildd",
        f"--include={','.join(_TOOLS)}",
        *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("doc", "man", "locale")),
        '--customize-hook=mkdir "$1/build"',
        f"--customize-hook=copy-in {archive} {_INSIDE} /build",
        f"--customize-hook={inside}",
        f"--customize-hook=sync-out /build/out {output}",
        order.suite,
        "/dev/null",
        f"deb {order.mirror} {order.suite} main",
    ]


def _archive(order: PackageBuild, state: Path) -> Path:
    archive_facts = slurm_sources().archives.get(order.version)
    sha256 = order.sha256 or (archive_facts.sha256 if archive_facts else None)
    if sha256 is None:
        fix = "name the archive and its checksum, as its authors publish it: --source FILE --sha256 SUM"
        raise PackagesError(f"no archive of Slurm {order.version} is known", fix)
    if order.source is not None:
        return checked(order.source, sha256)
    if archive_facts is None:
        raise PackagesError(f"where the archive of Slurm {order.version} is, is not known", "name it: --source FILE")
    return fetch(f"{order.mirror}/{archive_facts.path}", sha256, state / "sources")


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
            if line.startswith(("I: ", "E: ", "dpkg-buildpackage: info", "dpkg-deb: building")):
                report(line.strip())
    if process.returncode != 0:
        tail = "".join(log.read_text().splitlines(keepends=True)[-12:])
        raise PackagesError(f"the build ended with {process.returncode}:\n{tail}", "read its last words above")
