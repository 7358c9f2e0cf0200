"""Dumps of a control plane in a folder: their checksums, their age, and the check that each can be read.

As a program: `python -m landbridge.ops.site_loss.dumps seal|verify FOLDER`.
"""

import gzip
import hashlib
import re
import sys
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

SUMS = "SHA256SUMS"
#: First bytes of pg_dump's custom format. Source: PostgreSQL, src/bin/pg_dump/pg_backup_archiver.c.
_POSTGRESQL = b"PGDMP"
#: Last line of a complete dump. Source: mariadb-dump(1), --dump-date.
_MARIADB_END = b"-- Dump completed"
_TIME = re.compile(r"-periodic-(\d{8}T\d{6})")
_BLOCK = 1 << 20


def slurm_dump(folder: Path) -> str | None:
    """Return the name of the newest dump of Slurm's accounting database below the folder; None without one. A last dump of an
    earlier move of the control plane is older than the periodic dumps after it.
    """
    dumps = list((folder / "slurm").glob("*.sql.gz"))
    return max(dumps, key=lambda path: (_made_at(path), path.name)).name if dumps else None


def made_at(folder: Path) -> float | None:
    """Return the time of Slurm's newest dump, in seconds since 1970; None without one."""
    name = slurm_dump(folder)
    return None if name is None else _made_at(folder / "slurm" / name)


def _made_at(dump: Path) -> float:
    """Return the time in the name of a periodic dump; that of the file for a last dump, which is copied when it is made."""
    match = _TIME.search(dump.name)
    if match is None:
        return dump.stat().st_mtime
    return datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp()


def seal(folder: Path) -> None:
    """Write the checksums of all files. Raises ValueError for a file that is not complete."""
    problems = list(unreadable(folder))
    if problems:
        raise ValueError("; ".join(problems))
    lines = [f"{_sum(path)}  {path.relative_to(folder)}\n" for path in _files(folder)]
    partial = folder / f".{SUMS}"
    partial.write_text("".join(lines))
    partial.replace(folder / SUMS)


def problems_of(folder: Path) -> Iterator[str]:
    """Yield the reasons for which the folder does not replace the databases."""
    sums = folder / SUMS
    if not sums.is_file():
        yield f"{folder} has no {SUMS}: the last dumps are not complete"
        return
    expected = {name: digest for digest, _, name in (line.partition("  ") for line in sums.read_text().splitlines())}
    present = {str(path.relative_to(folder)): path for path in _files(folder)}
    yield from (f"{name} is missing" for name in expected if name not in present)
    for name, path in present.items():
        if name in expected and _sum(path) != expected[name]:
            yield f"{name} is not the file that was written"
    if slurm_dump(folder) is None:
        yield "there is no dump of Slurm's accounting database"
    yield from unreadable(folder)


def unreadable(folder: Path) -> Iterator[str]:
    """Yield a sentence for each dump that is cut off or of another format."""
    for path in _files(folder):
        if path.name.endswith(".sql.gz") and not _is_complete(path):
            yield f"{path.name} is cut off"
        elif path.suffix == ".dump":
            with path.open("rb") as file:
                if file.read(len(_POSTGRESQL)) != _POSTGRESQL:
                    yield f"{path.name} is no dump of PostgreSQL"


def _is_complete(path: Path) -> bool:
    tail = b""
    try:
        with gzip.open(path) as file:
            while block := file.read(_BLOCK):
                tail = (tail + block)[-200:]
    except (OSError, EOFError, zlib.error):
        return False
    return _MARIADB_END in tail


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name.removeprefix(".") != SUMS)


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str]) -> int:
    """Write or verify the checksums of a folder."""
    command, folder = arguments[0], Path(arguments[1])
    try:
        if command == "seal":
            seal(folder)
            return 0
        problems = list(problems_of(folder))
    except (OSError, ValueError) as error:
        problems = [str(error)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
