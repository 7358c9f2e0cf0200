"""Checks of the last dumps before the databases that they were made from are deleted."""

import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from landbridge.ops.site_loss.dumps import made_at, main, problems_of, seal, slurm_dump

SQL = b"create table t (i int);\n-- Dump completed on 2026-11-26\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("slurm", "mlflow", "records"):
        (tmp_path / name).mkdir()
    with gzip.open(tmp_path / "slurm/final.sql.gz", "wb") as file:
        file.write(SQL)
    (tmp_path / "mlflow/mlflow-periodic-20261126T023000.dump").write_bytes(b"PGDMP\1\16")
    (tmp_path / "records/landbridge-records.tar.gz").write_bytes(b"records")
    return tmp_path


def test_a_sealed_folder_is_complete(folder: Path) -> None:
    seal(folder)
    assert list(problems_of(folder)) == [] and main(["verify", str(folder)]) == 0
    assert main(["seal", str(folder)]) == 0, "a second seal does not list itself"
    assert slurm_dump(folder) == "final.sql.gz"


def test_the_newest_dump_is_chosen_also_after_a_second_loss(folder: Path) -> None:
    final = folder / "slurm/final.sql.gz"
    moved_at = datetime(2026, 11, 26, 12, tzinfo=UTC).timestamp()
    os.utime(final, (moved_at, moved_at))
    for name in ("slurm-periodic-20261125T023000.sql.gz", "slurm-periodic-20261126T023000.sql.gz"):
        (folder / "slurm" / name).write_bytes(final.read_bytes())
    assert (slurm_dump(folder), made_at(folder)) == ("final.sql.gz", moved_at)
    later = folder / "slurm/slurm-periodic-20261127T023000.sql.gz"
    later.write_bytes(final.read_bytes())
    assert slurm_dump(folder) == later.name, "the last dump is of the move before"


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


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("slurm/final.sql.gz", None, "is missing"),
        ("records/landbridge-records.tar.gz", b"others", "is not the file that was written"),
        ("mlflow/mlflow-periodic-20261126T023000.dump", b"<html>", "is no dump of PostgreSQL"),
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
