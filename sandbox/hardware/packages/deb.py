"""One Debian package from one row of data: an archive in memory, the same bytes each time. Pure.

Source of the format: deb(5), deb-control(5).
"""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field

#: In every package: nothing about a row may depend on when it was built.
_EPOCH = 1_700_000_000
_PROGRAMS = ("/usr/bin/", "/usr/sbin/", "/opt/")


@dataclass(frozen=True)
class Package:
    """A package; `fields` are control fields beyond name, version and architecture, `files` contents by path."""

    name: str
    version: str
    fields: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def control(self) -> str:
        """The control file; the architecture is `all`, because there is nothing of a machine in it."""
        rows = {
            "Package": self.name,
            "Version": self.version,
            "Architecture": "all",
            "Maintainer": "the lab <lab@example.org>",
            "Description": f"empty stand-in of {self.name}",
            **self.fields,
        }
        return "".join(f"{key}: {value}\n" for key, value in rows.items())

    @property
    def file_name(self) -> str:
        """As archives call it: without the epoch."""
        return f"{self.name}_{self.version.partition(':')[2] or self.version}_all.deb"

    def archive(self) -> bytes:
        """The .deb."""
        settings = "".join(f"{path}\n" for path in sorted(self.files) if path.startswith("/etc/"))
        control = {"./control": self.control} | ({"./conffiles": settings} if settings else {})
        members = {
            "debian-binary": b"2.0\n",
            "control.tar": _tar(control),
            "data.tar": _tar({f".{path}": content for path, content in self.files.items()}),
        }
        return b"!<arch>\n" + b"".join(_member(name, content) for name, content in members.items())


def _member(name: str, content: bytes) -> bytes:
    header = f"{name:<16}{_EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n"
    return header.encode() + content + b"\n" * (len(content) % 2)


def _tar(files: Mapping[str, str]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in _folders(files):
            archive.addfile(_entry(folder, 0o755, tarfile.DIRTYPE))
        for path, content in sorted(files.items()):
            data = content.encode()
            entry = _entry(path, 0o755 if path[1:].startswith(_PROGRAMS) else 0o644)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return target.getvalue()


def _folders(files: Mapping[str, str]) -> list[str]:
    """Every folder on the way to the files, parents first."""
    found = {"."}
    for path in files:
        parts = path.split("/")[1:-1]
        found |= {"/".join([".", *parts[: end + 1]]) for end in range(len(parts))}
    return sorted(found)


def _entry(path: str, mode: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.mtime, entry.uname, entry.gname = kind, mode, _EPOCH, "root", "root"
    return entry
