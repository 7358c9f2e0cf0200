"""Checks of the last dumps before the databases that they were made from are deleted."""

import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from landbridge.ops.site_loss.dumps import made_at, main, problems_of, seal, slurm_dump, unreadable

SQL = b"create table t (i int);\ninsert into t values (1);\n\n-- Dump completed on 2026-11-26 12:00:00\n"
#: Beginning of a dump of PostgreSQL 17.
ARCHIVE = b"PGDMP\x01\x10\x00\x04\x08\x01\x01"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("slurm", "mlflow", "records"):
        (tmp_path / name).mkdir()
    with gzip.open(tmp_path / "slurm/final.sql.gz", "wb") as file:
        file.write(SQL)
    (tmp_path / "mlflow/mlflow-periodic-20261126T023000.dump").write_bytes(ARCHIVE)
    (tmp_path / "records/landbridge-records.tar.gz").write_bytes(b"records")
    return tmp_path


def test_a_sealed_folder_is_complete(folder: Path) -> None:
    seal(folder)
    assert list(problems_of(folder)) == [] and main(["verify", str(folder)]) == 0
    assert main(["seal", str(folder)]) == 0, "a second seal does not list itself"
    assert slurm_dump(folder) == "final.sql.gz"


def test_the_newest_dump_is_chosen_also_after_a_second_loss(folder: Path) -> None:
    final = folder / "slurm/final.sql.gz"
    for name in ("slurm-periodic-20261125T023000.sql.gz", "slurm-periodic-20261126T023000.sql.gz"):
        (folder / "slurm" / name).write_bytes(final.read_bytes())
    moved_at = datetime(2026, 11, 26, 12, tzinfo=UTC).timestamp()
    assert (slurm_dump(folder), made_at(folder)) == ("final.sql.gz", moved_at)
    later = folder / "slurm/slurm-periodic-20261127T023000.sql.gz"
    later.write_bytes(final.read_bytes())
    # The folder was copied to another machine after the dumps: the times of files say nothing.
    copied_at = datetime(2026, 11, 28, tzinfo=UTC).timestamp()
    for path in (later, final):
        os.utime(path, (copied_at, copied_at))
    assert slurm_dump(folder) == later.name, "the last dump is of the move before"


@pytest.mark.parametrize("hour", [" 9", "09"])
def test_the_time_of_a_last_dump_is_that_of_its_last_line(folder: Path, hour: str) -> None:
    with gzip.open(folder / "slurm/final.sql.gz", "wb") as file:
        file.write(SQL.replace(b" 12:", f" {hour}:".encode()))
    assert made_at(folder) == datetime(2026, 11, 26, 9, tzinfo=UTC).timestamp()


def test_a_folder_without_its_list_is_not_complete(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder)]) == 1
    assert "the last dumps are not complete" in capsys.readouterr().err


def test_a_dump_that_is_cut_off_is_not_sealed(folder: Path) -> None:
    path = folder / "slurm/final.sql.gz"
    with gzip.open(path, "wb") as file:
        file.write(SQL[:10])
    with pytest.raises(ValueError, match="cut off"):
        seal(folder)
    path.write_bytes(b"\x1f\x8b\x08")
    assert main(["seal", str(folder)]) == 1


def test_no_beginning_of_a_dump_of_slurms_database_is_complete(tmp_path: Path) -> None:
    """Cut the dump at each place, inside a complete compressed file, and cut the compressed file at each place."""
    path = tmp_path / "final.sql.gz"
    cuts = [gzip.compress(SQL[:length]) for length in range(len(SQL))]
    # A name in the last row that looks like the end, and a dump of which more follows.
    cuts += [gzip.compress(SQL[:-45] + b"('-- Dump completed on 2026-11-26 12:00:00');\n"), gzip.compress(SQL + b"x")]
    compressed = gzip.compress(SQL)
    cuts += [compressed[:length] for length in range(len(compressed))]
    for cut in cuts:
        path.write_bytes(cut)
        assert list(unreadable(path)) == ["final.sql.gz is cut off"]
    path.write_bytes(compressed)
    assert list(unreadable(path)) == []


def test_single_dumps_and_folders_are_checked_before_a_restore(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = folder / "slurm/final.sql.gz"
    assert main(["check", str(dump), str(folder / "mlflow")]) == 0
    path = folder / "mlflow/mlflow-periodic-20261126T023000.dump"
    path.write_bytes(ARCHIVE[:4])
    dump.rename(folder / "slurm/other.gz").write_bytes(gzip.compress(SQL[:-1]))
    assert main(["check", str(folder / "slurm/other.gz"), str(folder / "mlflow"), str(dump)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "other.gz is cut off",
        f"{path.name} is not a dump of PostgreSQL",
        f"{dump} is missing",
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("slurm/final.sql.gz", None, "is missing"),
        ("records/landbridge-records.tar.gz", b"others", "is not the file that was written"),
        ("mlflow/mlflow-periodic-20261126T023000.dump", b"<html>", "is not a dump of PostgreSQL"),
    ],
)
def test_a_changed_file_is_a_problem(folder: Path, name: str, content: bytes | None, words: str) -> None:
    seal(folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert any(words in problem for problem in problems_of(folder))


def test_a_folder_without_slurms_dump_is_not_enough(folder: Path) -> None:
    (folder / "slurm/final.sql.gz").unlink()
    seal(folder)
    assert any("no dump of Slurm" in problem for problem in problems_of(folder))
