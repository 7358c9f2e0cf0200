"""Programs of the periodic dumps: a dump that fails or is killed leaves no part that stays, and the complete ones before it."""

import importlib
import os
import stat
from pathlib import Path
from types import ModuleType

import pytest

from tests.roles.jobs.program_module import ROLES


@pytest.fixture(params=["slurm", "mlflow"])
def dumps(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the program, with folders and the database's program of the test."""
    for folder in ("slurm_database/files", "mlflow/files/plugin"):
        monkeypatch.syspath_prepend(str(ROLES / folder))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    module = importlib.import_module(f"landbridge_{request.param}_dump")
    if request.param == "slurm":
        monkeypatch.setattr(module, "FOLDER", str(tmp_path / "dumps"))
    else:
        monkeypatch.setattr(module, "BACKUPS", str(tmp_path / "dumps"))
        monkeypatch.setattr(importlib.import_module("landbridge_mlflow_upgrade"), "BACKUPS", str(tmp_path / "dumps"))
    return module


def program(folder: Path, text: str) -> None:
    """Set the program that writes a dump to its standard output."""
    for name in ("mariadb-dump", "runuser"):
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


def test_a_dump_that_fails_leaves_no_part_and_the_dumps_before_it(dumps: ModuleType, tmp_path: Path) -> None:
    program(tmp_path, "echo complete")
    assert dumps.main("2", "records") == 0
    (complete,) = (tmp_path / "dumps").iterdir()
    assert stat.S_IMODE(complete.stat().st_mode) == 0o600
    program(tmp_path, "echo part; exit 1")
    assert dumps.main("2", "records") == 1
    assert list((tmp_path / "dumps").iterdir()) == [complete]


def test_the_part_of_a_killed_dump_is_replaced_by_the_next(dumps: ModuleType, tmp_path: Path) -> None:
    program(tmp_path, f"ls {tmp_path}/dumps > {tmp_path}/during; echo complete")
    assert dumps.main("2", "records") == 0
    during = (tmp_path / "during").read_text().split()
    # A killed program leaves this file.
    (tmp_path / "dumps" / during[0]).write_bytes(bytes(1000))
    assert dumps.main("1", "records") == 0
    assert not (tmp_path / "dumps" / during[0]).exists() and len(list((tmp_path / "dumps").iterdir())) == 1


@pytest.mark.parametrize("dumps", ["mlflow"], indirect=True)
def test_a_dump_that_pg_restore_cannot_read_to_its_end_is_none(dumps: ModuleType, tmp_path: Path) -> None:
    # The words of the command: --user postgres -- PROGRAM.
    program(tmp_path, f'if [ "$4" = pg_restore ]; then cat > {tmp_path}/read; exit 1; fi; echo part')
    assert dumps.main("2", "records") == 1
    assert (tmp_path / "read").read_text() == "part\n" and list((tmp_path / "dumps").iterdir()) == []
