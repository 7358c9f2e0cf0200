"""docs/how-to/register-a-model.md, followed literally at an MLflow server with an environment's store of secrets."""

import re
import shlex
from pathlib import Path

import checkpoints
import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from tests.unit.how_to.pages import ROOT, run, steps
from tests.unit.models.conftest import registry_uri  # noqa: F401

PAGE = ROOT / "docs/how-to/register-a-model.md"


def test_the_commands_of_the_page_register_and_promote_a_model(
    registry_uri: str,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import train

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", registry_uri)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks/Pulumi.acme.yaml").write_text((ROOT / "stacks/Pulumi.hybrid.yaml").read_text())
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    checkpoints.write(tmp_path / "checkpoints/acme-12", 1, train.init_state(8, 7), {"seed": 7, "loss": 2.0})
    printed = {}
    for step in steps(PAGE):
        assert step.command is not None
        words = shlex.split(step.command)
        if words[0] == "python":
            done = run(step.command, tmp_path)
            status, output = done.returncode, done.stdout
        else:
            invoked = CliRunner().invoke(build(), words[1:])
            status, output = invoked.exit_code, invoked.output
        assert status == 0, f"{step.command}\n{output}"
        assert step.output.strip() in output
        printed[step.command] = output
    assert "champion none → 1" in printed["landbridge model history digits"]
    key = next((tmp_path / "state").rglob("model-signer"))
    assert key.stat().st_mode & 0o077 == 0 and "PRIVATE KEY" in key.read_text()
    names = sorted(path.name for path in (tmp_path / "models/digits/1").iterdir())
    assert names == ["model.json", "model.onnx", "model.sig"]


def test_the_findings_of_the_page_exist() -> None:
    code = "".join(path.read_text() for path in (ROOT / "landbridge").rglob("*.py"))
    named = re.findall(r"^\| `(model-[a-z]+)`", PAGE.read_text(), re.MULTILINE)
    assert len(named) == 10 and all(f'"{rule}"' in code for rule in named)
