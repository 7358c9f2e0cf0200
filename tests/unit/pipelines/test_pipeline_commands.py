"""Commands `landbridge pipeline`: exit statuses, and the folder that the service reads."""

import getpass
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.pipelines.service import queue
from tests.unit.pipelines.pipeline_world import World

ROOT = Path(__file__).parents[3]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Copy of the example, whose owner is this user."""
    shutil.copytree(ROOT / "examples" / "pipelines", tmp_path / "pipelines")
    file = tmp_path / "pipelines" / "digits.yaml"
    file.write_text(file.read_text().replace("owner: alice", f"owner: {getpass.getuser()}"))
    return tmp_path


def pipeline(folder: Path, *words: str) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "COLUMNS": "200"}
    command = [sys.executable, "-m", "landbridge.cli.main", "pipeline", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_check_has_the_three_exit_statuses(repository: Path) -> None:
    assert pipeline(repository, "check", "pipelines/digits.yaml")[0] == 0
    assert pipeline(repository, "check", "pipelines/none.yaml")[0] == 2
    (repository / "pipelines" / "train.sh").unlink()
    status, out, _ = pipeline(repository, "check", "pipelines/digits.yaml", "--format", "json")
    [finding] = json.loads(out)["findings"]
    assert status == 1 and (finding["rule"], finding["line"], finding["column"]) == ("pipeline-script", 15, 13)


def test_a_commit_starts_one_run_which_the_service_runs(repository: Path) -> None:
    first = pipeline(repository, "run", "pipelines/digits.yaml", "--commit", "abc123")
    assert first == pipeline(repository, "run", "pipelines/digits.yaml", "--commit", "abc123") and first[0] == 0
    name = first[1].strip()
    assert pipeline(repository, "status")[1] == f"{name}  requested\n"
    assert pipeline(repository, "why", name)[0] == 2
    root = repository / queue.FOLDER
    content = queue.read_folder(repository, {})
    assert list(content["requests"]) == [name] and not content["faults"]
    # The service's folders are those of the file system here, and its Slurm is simulated.
    world = _WorldOnDisk(repository)
    world.run(2)
    status, out, _ = pipeline(repository, "status", "--format", "json")
    [run] = json.loads(out)["runs"]
    assert status == 0 and run["state"] == "live" and run["steps"]["train"]["job"] == 100
    assert "evaluate: waiting: waits for train" in pipeline(repository, "why", name)[1]
    assert pipeline(repository, "cancel", name)[0] == 0
    world.run(3)
    assert pipeline(repository, "cancel", name)[0] == 2 and not (root / queue.REQUESTS / f"{name}.json").exists()
    assert f"{name}: cancelled, started by commit abc123" in pipeline(repository, "why", name)[1]


def test_a_run_that_cannot_start_has_status_2(repository: Path) -> None:
    file = repository / "pipelines" / "digits.yaml"
    file.write_text(file.read_text().replace("  - {kind: hand}\n", ""))
    status, _, error = pipeline(repository, "run", "pipelines/digits.yaml")
    assert status == 2 and "no trigger {kind: hand}" in error
    file.write_text(file.read_text().replace(f"owner: {getpass.getuser()}", "owner: zoe"))
    status, _, error = pipeline(repository, "run", "pipelines/digits.yaml", "--commit", "a")
    assert status == 2 and "the owner of digits is zoe" in error


def test_a_definition_with_triggers_is_registered(repository: Path) -> None:
    assert pipeline(repository, "run", "pipelines/digits.yaml", "--on-triggers")[0] == 0
    [definition] = queue.read_folder(repository, {})["definitions"].values()
    assert definition["definition"]["name"] == "digits" and definition["registered"] > 0
    status, out, _ = pipeline(repository, "remove", "digits", "--format", "json")
    assert status == 0 and json.loads(out) == {"pipeline": "digits"}
    assert queue.read_folder(repository, {})["definitions"] == {}
    assert pipeline(repository, "remove", "digits") == (2, "", "error: digits is not registered\n")
    # A name is not a path.
    assert pipeline(repository, "remove", "../requests/digits")[0] == 2


def test_a_folder_of_an_owner_may_have_any_file(tmp_path: Path) -> None:
    folder = tmp_path / queue.FOLDER / queue.REQUESTS
    folder.mkdir(parents=True)
    os.mkfifo(folder / "digits-0123456789.json")
    (folder / "..x.json").write_text("{}")
    (folder / "digits-0123456780.json").write_text("{")
    (folder / "digits-0123456781.json").symlink_to("/dev/zero")
    content: dict[str, Any] = queue.read_folder(tmp_path, {})
    assert not content["requests"] and len(content["faults"]) == 3


class _WorldOnDisk(World):
    """World whose folders are those of a home."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home

    def read(self, owner: str) -> dict[str, Any]:
        content = queue.read_folder(self.home, {})
        for request in content["requests"].values():
            request["definition"] |= {"owner": "ann", "account": "lab"}
        return content if owner == "ann" else super().read(owner)

    def prepare(self, record: Any) -> None:
        queue.prepare(self.home, record.name, record.to_json())

    def finish(self, record: Any) -> None:
        queue.finish(self.home, record.name, record.to_json())
