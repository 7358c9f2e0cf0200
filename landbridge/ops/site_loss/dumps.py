"""Dumps of a control plane in a folder: their checksums, their age, and the check that each is complete.

PostgreSQL's dumps are read to their ends by pg_restore on the host of the databases: when they are written
(landbridge_mlflow_upgrade.py) and before a restore (restore_dumps.yml of the role mlflow). Here their first bytes are compared.

As a program: `python -m landbridge.ops.site_loss.dumps seal|verify FOLDER`, or `... dumps check PATH...` for single dumps and folders.
"""

import gzip
import hashlib
import re
import sys
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

SUMS = "SHA256SUMS"
#: Last line of a complete dump, with its end, and the time in it. Source: mariadb-dump(1), --dump-date; client/mysqldump.c, write_footer.
_MARIADB_END = re.compile(rb"(?:\A|\n)-- Dump completed(?: on (\d{4}-\d\d-\d\d [ \d]\d:\d\d:\d\d))?\n\Z")
#: First bytes of pg_dump's custom format. Source: PostgreSQL, src/bin/pg_dump/pg_backup_archiver.c, WriteHead.
_POSTGRESQL = b"PGDMP"
_TIME = re.compile(r"-periodic-(\d{8}T\d{6})")
_BLOCK = 1 << 20


def slurm_dump(folder: Path) -> str | None:
    """Return the name of the newest dump of Slurm's accounting database below the folder; None without one. A last dump of an
    earlier move of the control plane is older than the periodic dumps after it, also if its file was copied later.
    """
    dumps = list((folder / "slurm").glob("*.sql.gz"))
    return max(dumps, key=lambda path: (_made_at(path), path.name)).name if dumps else None


def made_at(folder: Path) -> float | None:
    """Return the time of Slurm's newest dump, in seconds since 1970; None without one."""
    name = slurm_dump(folder)
    return None if name is None else _made_at(folder / "slurm" / name)


def _made_at(dump: Path) -> float:
    """Return the time in the name of a periodic dump, or in the last line of a last dump, which the role slurm_database
    writes in UTC; the file's time if it has neither.
    """
    match = _TIME.search(dump.name)
    if match is not None:
        return datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp()
    end = _MARIADB_END.search(_tail(dump))
    if end is None or end[1] is None:
        return dump.stat().st_mtime
    return datetime.strptime(end[1].decode(), "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()


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


def unreadable(path: Path) -> Iterator[str]:
    """Yield a sentence for each dump that is cut off or of another format. `path`: a dump, or a folder of dumps."""
    if not path.exists():
        yield f"{path} is missing"
        return
    # A dump that is named alone is Slurm's if it is not an archive, whatever its name.
    for dump in _files(path) if path.is_dir() else [path]:
        if dump.suffix == ".dump":
            problem = None if _begins_with(dump, _POSTGRESQL) else "is not a dump of PostgreSQL"
        elif dump.name.endswith(".sql.gz") or dump == path:
            problem = None if _MARIADB_END.search(_tail(dump)) else "is cut off"
        else:
            continue
        if problem is not None:
            yield f"{dump.name} {problem}"


def _begins_with(dump: Path, magic: bytes) -> bool:
    with dump.open("rb") as file:
        return file.read(len(magic)) == magic


def _tail(dump: Path) -> bytes:
    """Return the last bytes of a compressed dump; none if the compressed file is not complete."""
    tail = b""
    try:
        with gzip.open(dump) as file:
            while block := file.read(_BLOCK):
                tail = (tail + block)[-200:]
    except (OSError, EOFError, zlib.error):
        return b""
    return tail


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name.removeprefix(".") != SUMS)


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str]) -> int:
    """Write or verify the checksums of a folder, or check dumps."""
    command, paths = arguments[0], [Path(argument) for argument in arguments[1:]]
    try:
        if command == "seal":
            seal(paths[0])
            return 0
        sentences = problems_of(paths[0]) if command == "verify" else chain.from_iterable(map(unreadable, paths))
        problems = list(sentences)
    except (OSError, ValueError) as error:
        problems = [str(error)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
