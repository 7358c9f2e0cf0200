"""The command `landbridge`: exit status, output for users and for programs, and errors."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from landbridge.cli.main import main
from tests.unit.core.samples import ROOT, changed
from tests.unit.environment.test_load import SIX

PROGRAM = [sys.executable, "-m", "landbridge.cli.main"]


def run(*arguments: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80", **variables}
    return subprocess.run([*PROGRAM, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks" / "Pulumi.good.yaml").write_text(changed({}))
    (tmp_path / "stacks" / "Pulumi.six.yaml").write_text(SIX)
    (tmp_path / "stacks" / "Pulumi.broken.yaml").write_text("config: [\n")
    return tmp_path


@pytest.mark.parametrize(
    "group",
    [
        [],
        ["burst"],
        ["catalog"],
        ["cost"],
        ["credentials"],
        ["data"],
        ["health"],
        ["idle"],
        ["image"],
        ["link"],
        ["model"],
        ["node"],
        ["packages"],
        ["pipeline"],
        ["prices"],
        ["residency"],
        ["runs"],
        ["secrets"],
        ["serve"],
        ["user"],
    ],
    ids=" ".join,
)
def test_the_list_of_commands_has_whole_sentences(group: list[str]) -> None:
    """A first sentence that is longer than the line would be cut."""
    printed = run(*group, "--help").stdout
    commands = printed.partition("\nCommands:\n")[2].splitlines()
    assert commands
    assert [line for line in commands if not line.rstrip().endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["check", "-s", "good"], 0, "good: no findings"),
        (["check", "-s", "six"], 1, "six: 6 errors"),
        (["check", "-s", "broken"], 2, "broken: 1 error"),
        (["check", "-s", "goood"], 2, 'did you mean "good"?'),
        (["check", "--file", "nowhere.yaml"], 2, "cannot read it"),
        (["check"], 2, "write -s ENV"),
        (["show", "-s", "good"], 0, "p5-[1-4]"),
        (["show", "-s", "six"], 1, "overlapping-cidrs"),
        (["show", "-s", "good", "--expanded"], 0, "# default"),
        (["chekc"], 2, "chekc"),
        (["--help"], 0, "doctor"),
    ],
)
def test_a_command_has_its_exit_status_and_message(
    project: Path,
    arguments: list[str],
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "argv", ["landbridge", *arguments])
    with pytest.raises(SystemExit) as ended:
        sys.exit(main())
    out, err = capsys.readouterr()
    assert (ended.value.code or 0, message in out + err) == (status, True), out + err


def test_findings_are_printed_as_json(project: Path) -> None:
    done = run("check", "-s", "six", "--format", "json", cwd=project)
    data = json.loads(done.stdout)
    assert (data["environment"], data["errors"], data["warnings"], len(data["findings"])) == ("six", 6, 0, 6)
    assert data["findings"][0]["rule"] == "unknown-key"
    assert (data["findings"][0]["line"], data["findings"][0]["column"]) == (5, 5)
    assert done.stderr == ""


def test_findings_are_printed_with_file_line_and_column(project: Path) -> None:
    done = run("check", "-s", "six", cwd=project)
    assert "stacks/Pulumi.six.yaml:5:5: error: unknown key" in done.stderr


def test_an_unexpected_error_is_one_line(project: Path) -> None:
    (project / "home").mkdir()
    # A cache directory that cannot be created; doctor looks for the engine in it.
    (project / "home" / "file").write_text("")
    broken = {"XDG_CACHE_HOME": str(project / "home" / "file"), "HOME": str(project / "home")}
    done = run("doctor", cwd=project, **broken)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert "Traceback" in run("doctor", cwd=project, LANDBRIDGE_DEBUG="1", **broken).stderr


def test_check_is_fast_and_imports_no_large_package() -> None:
    code = (
        "import sys; sys.argv = ['landbridge', 'check', '-s', 'sandbox']\n"
        "from landbridge.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('pulumi', 'boto3', 'ansible', 'moto', 'jax') if name in sys.modules])"
    )
    before = time.process_time(), os.times().children_user
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]"
    # Processor time, so that a busy machine does not fail it; 0.5 s of it on an idle one.
    assert os.times().children_user - before[1] < 2


def test_doctor_reports_missing_requirements_per_command(tmp_path: Path) -> None:
    done = run("doctor", "--format", "json", XDG_CACHE_HOME=str(tmp_path), PATH="/nonexistent")
    data = json.loads(done.stdout)
    assert data["check, show"]["ready"]
    engine = data["preview, up, refresh, destroy"]
    assert not engine["ready"]
    missing = [need for need in engine["needs"] if not need["met"]]
    assert [need["need"] for need in missing] == ["engine"]
    assert "make demo" in missing[0]["fix"]
    assert "engine: neither on PATH" in run("doctor", XDG_CACHE_HOME=str(tmp_path), PATH="/nonexistent").stdout
