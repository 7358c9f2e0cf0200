"""docs/how-to/pin-images.md and preflight.md, followed literally, with the emulated AWS as the account."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.environment import lock_path
from landbridge.environment.file.lock import read_lock
from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.unit.how_to.pages import ROOT, run, steps

LOCK, PREFLIGHT = ROOT / "docs/how-to/pin-images.md", ROOT / "docs/how-to/preflight.md"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", "--boot-delay", "0") as emulator:
        yield emulator


@pytest.fixture
def folder(tmp_path: Path, cloud: EmulatorProcess, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with an environment called acme, with credentials in the process environment."""
    (tmp_path / "stacks").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    shutil.copy(ROOT / "stacks" / "Pulumi.example.yaml", tmp_path / "stacks" / "Pulumi.acme.yaml")
    for name, value in cloud.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def follow(page: Path, folder: Path) -> list[str]:
    """Run a page's commands; each must succeed, and its output must start as on the page."""
    ran = []
    for step in steps(page):
        if step.command is not None:
            done = run(f"PYTHONPATH={ROOT} {step.command}", folder)
            shown = done.stdout.replace(f"{folder}/", "")
            assert done.returncode == 0, f"{step.command}\n{shown}"
            assert shown.startswith(step.output.strip("\n")), f"{step.command}\n{shown}"
            ran.append(step.command)
    return ran


def test_pinning_works_as_it_is_written(folder: Path, cloud: EmulatorProcess) -> None:
    file = folder / "stacks" / "Pulumi.acme.yaml"
    images, pool = LOCK.read_text().split("```yaml\n")[1:]
    text = file.read_text()
    # The page's image takes the place of the node image that the environment builds.
    for old, new in (
        ("      images:\n        node: {build: {}}\n", images.partition("```")[0]),
        ("          image: node\n", pool.partition("```")[0]),
    ):
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    assert "image-not-locked" in run(f"PYTHONPATH={ROOT} landbridge check -s acme", folder).stdout
    assert len(follow(LOCK, folder)) == 3
    assert "image-not-locked" not in run(f"PYTHONPATH={ROOT} landbridge check -s acme", folder).stdout
    # The difference that the page shows.
    lock, _ = read_lock(lock_path(file))
    assert lock is not None
    parameter = lock.images["ubuntu"].parameter
    lock_path(file).unlink()
    cloud.control(released={parameter: 1})
    run(f"PYTHONPATH={ROOT} landbridge lock -s acme", folder)
    cloud.control(released={parameter: 2})
    output = run(f"PYTHONPATH={ROOT} landbridge lock -s acme --upgrade --dry-run", folder).stdout
    for line in LOCK.read_text().split("```text\n")[1].partition("```")[0].splitlines():
        assert line in output or " ami " in line, (line, output)


def test_preflight_works_as_it_is_written(folder: Path, cloud: EmulatorProcess) -> None:
    assert len(follow(PREFLIGHT, folder)) == 3
    output = json.loads((folder / "preflight.json").read_text())
    assert {check["result"] for check in output["checks"]} <= {"good", "found"} and output["errors"] == 0
    cloud.control(quotas={"L-417A185B": 768})
    done = run(f"PYTHONPATH={ROOT} landbridge preflight -s acme", folder)
    assert done.returncode == 1
    for line in PREFLIGHT.read_text().split("```text\n")[1].partition("```")[0].splitlines():
        assert line in done.stdout, (line, done.stdout)
    cloud.control(reset=True)
