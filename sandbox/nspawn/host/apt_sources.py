"""APT sources of this machine, read from its configuration.

The variable DEBIAN_MIRROR overrides all. On Debian the archives are read from apt's sources; elsewhere the archive is
the one that the machine's mmdebstrap or debootstrap uses by default.
"""

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import shell
from sandbox.nspawn.host.host_packages import find_program

STABLE = "trixie"
# Contains the current Slurm. Its pin priority is low: only packages pinned to it come from it.
TESTING = "forky"


@dataclass(frozen=True)
class Entry:
    """Entry of apt's sources: an archive and its configured suites."""

    uri: str
    suites: tuple[str, ...]


@dataclass(frozen=True)
class Archives:
    """URIs of Debian's archives, as this machine reaches them."""

    main: str
    security: str | None


def parse_one_line(text: str) -> list[Entry]:
    """Parse a sources.list file."""
    entries = []
    for line in text.splitlines():
        match = re.match(r"^\s*deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)", line)
        if match:
            entries.append(Entry(match[1].rstrip("/"), (match[2],)))
    return entries


def parse_deb822(text: str) -> list[Entry]:
    """Parse a .sources file (deb822)."""
    entries = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = "\n".join(line for line in paragraph.splitlines() if not line.startswith("#"))
        fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*((?:.*)(?:\n[ \t]+.*)*)", lines, re.M))
        if fields.get("Enabled", "yes").strip() == "no" or "deb" not in fields.get("Types", "").split():
            continue
        suites = tuple(fields.get("Suites", "").split())
        entries += [Entry(uri.rstrip("/"), suites) for uri in fields.get("URIs", "").split()]
    return entries


def choose(entries: Iterable[Entry], codename: str) -> Archives | None:
    """Return the archives for this Debian codename; None if the entries contain none."""
    main = security = None
    for entry in entries:
        if not entry.uri.startswith(("http://", "https://")):
            continue
        if codename in entry.suites or "stable" in entry.suites:
            main = main or entry.uri
        if any(suite.startswith((f"{codename}-security", "stable-security")) for suite in entry.suites):
            security = security or entry.uri
    return Archives(main, security) if main else None


def archives(root: Path = Path("/")) -> Archives:
    """Return the Debian archives for the nodes. Raise LabError if the machine's configuration contains none."""
    override = os.environ.get("DEBIAN_MIRROR")
    if override:
        return Archives(override.rstrip("/"), os.environ.get("DEBIAN_SECURITY_MIRROR"))
    release = _os_release(root)
    if release.get("ID") == "debian":
        archives = choose(_configured(root), release.get("VERSION_CODENAME", STABLE))
        if archives:
            return archives
    fallback = _builder_default()
    if fallback is None:
        raise LabError(
            "this machine's configuration names no Debian archive",
            "set DEBIAN_MIRROR to the address of one, as apt would write it",
        )
    return Archives(fallback, None)


def host_proxy() -> str | None:
    """Return the http proxy of the host's apt; None if it uses none."""
    output = shell.run(["apt-config", "shell", "PROXY", "Acquire::http::Proxy"], check=False).stdout
    value = next((word.partition("=")[2] for word in shlex.split(output)), "")
    return value if value not in ("", "DIRECT") else None


def _os_release(root: Path) -> dict[str, str]:
    words = shlex.split((root / "etc/os-release").read_text(), comments=True)
    return dict(word.split("=", 1) for word in words if "=" in word)


def _configured(root: Path) -> list[Entry]:
    folder = root / "etc/apt"
    entries: list[Entry] = []
    for path in sorted([folder / "sources.list", *folder.glob("sources.list.d/*.list")]):
        if path.exists():
            entries += parse_one_line(path.read_text())
    for path in sorted(folder.glob("sources.list.d/*.sources")):
        entries += parse_deb822(path.read_text())
    return entries


def _builder_default() -> str | None:
    """Return the default archive of the machine's mmdebstrap or debootstrap; None without either."""
    candidates = [find_program("mmdebstrap"), f"/usr/share/debootstrap/scripts/{STABLE}"]
    for path in (Path(candidate) for candidate in candidates if candidate):
        if path.exists():
            match = re.search(r"https?://[\w./-]+/debian(?=['\"\s])", path.read_text(errors="replace"))
            if match:
                return match[0]
    return None
