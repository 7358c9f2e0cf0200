"""Debian package of one row of data: an archive in memory with reproducible bytes. Pure.

Source of the format: deb(5), deb-control(5).
"""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Time stamp in every package: its bytes must not depend on the time of the build.
_EPOCH = 1_700_000_000
_PROGRAMS = ("/usr/bin/", "/usr/sbin/", "/opt/")


@dataclass(frozen=True)
class Package:
    """A package; `fields` are further control fields, `files` are contents by path."""

    name: str
    version: str
    fields: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def control(self) -> str:
        """Control file; the architecture is `all`, because the package contains no machine code."""
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
        """File name in a repository: the version without its epoch."""
        return f"{self.name}_{self.version.partition(':')[2] or self.version}_all.deb"

    def archive(self) -> bytes:
        """Return the bytes of the .deb file."""
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
    """Return every parent folder of the files, parents first."""
    folders = {"."}
    for path in files:
        parts = path.split("/")[1:-1]
        folders |= {"/".join([".", *parts[: end + 1]]) for end in range(len(parts))}
    return sorted(folders)


def _entry(path: str, mode: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.mtime, entry.uname, entry.gname = kind, mode, _EPOCH, "root", "root"
    return entry
