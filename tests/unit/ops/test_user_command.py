"""Command `landbridge user remove`: the change shown and written, refusals, files that are links or read-only, and the next steps."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from landbridge.cli.main import build
from landbridge.environment import load_environment
from landbridge.ops.leaving import PAGE, leaving_steps
from tests.unit.core.samples import ROOT, environment

EXAMPLE = (ROOT / "stacks/Pulumi.example.yaml").read_text()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the environment example."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "Pulumi.acme.yaml"
    path.write_text(EXAMPLE)
    path.chmod(0o640)
    return path


def remove(file: Path, *words: str) -> Result:
    return CliRunner().invoke(build(), ["user", "remove", *words, "-f", str(file)])


def difference(output: str) -> list[str]:
    return [line for line in output.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def test_the_change_is_shown_with_check_and_written_without(file: Path) -> None:
    shown = remove(file, "bob", "--check")
    assert shown.exit_code == 0 and file.read_text() == EXAMPLE and "nothing is written" in shown.output
    assert difference(shown.output) == [
        "-      - {name: bob, uid: 20002}",
        "-        vision: {users: [alice, bob], data_class: internal, fairshare: 2}",
        "+        vision: {users: [alice], data_class: internal, fairshare: 2}",
    ]
    written = remove(file, "bob", "bob")
    assert written.exit_code == 0 and difference(written.output) == difference(shown.output)
    assert "scancel --user=bob\n" in written.output and f"landbridge configure -f {file}" in written.output
    expected = EXAMPLE.replace("      - {name: bob, uid: 20002}\n", "").replace("[alice, bob]", "[alice]")
    assert file.read_text() == expected and file.stat().st_mode & 0o777 == 0o640
    again = remove(file, "bob")
    assert again.exit_code == 1 and "[user-unknown]" in again.stderr and "landbridge configure" in again.stderr
    assert file.read_text() == expected


def test_programs_read_findings_steps_and_whether_the_file_is_written(file: Path) -> None:
    refused = remove(file, "bob", "bobb", "carole", "--format", "json")
    data = json.loads(refused.stdout)
    assert (refused.exit_code, data["written"], file.read_text()) == (1, False, EXAMPLE)
    assert [(finding["rule"], finding["fix"]) for finding in data["findings"]] == [
        ("user-unknown", 'did you mean "bob"?'),
        ("user-unknown", 'did you mean "carol"?'),
    ]
    done = remove(file, "carol", "--format", "json")
    data = json.loads(done.stdout)
    assert (done.exit_code, data["written"], data["users"]) == (0, True, ["carol"])
    # What the change brings about, and nothing that was there before.
    assert [finding["rule"] for finding in data["findings"]] == ["account-without-users"]
    assert data["next"][0]["command"] == "scancel --user=carol" and "clinic: {users: []" in data["difference"]


def test_a_file_that_would_be_wrong_is_not_written(file: Path) -> None:
    rights = (
        "    mlops:\n      teams: {red: {accounts: [vision, clinic], models: {digits: {may_promote: [bob, dora]}}}}\n"
    )
    file.write_text(EXAMPLE.replace("    mlops:\n", rights))
    before = file.read_text()
    result = remove(file, "bob")
    assert result.exit_code == 1 and "[team-models]" in result.stderr and file.read_text() == before


def test_a_link_stays_a_link_and_line_ends_and_mark_stay(file: Path) -> None:
    target = file.with_name("shared.yaml")
    target.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    file.unlink()
    file.symlink_to(target.name)
    assert remove(file, "bob").exit_code == 0
    expected = EXAMPLE.replace("      - {name: bob, uid: 20002}\n", "").replace("[alice, bob]", "[alice]")
    assert file.is_symlink() and target.read_bytes() == b"\xef\xbb\xbf" + expected.replace("\n", "\r\n").encode()


def test_a_file_that_cannot_be_changed_is_a_finding_or_status_2(file: Path) -> None:
    file.chmod(0o440)
    assert remove(file, "bob", "--check").exit_code == 0
    refused = remove(file, "bob")
    assert refused.exit_code == 1 and "[read-only-file]" in refused.stderr and file.read_text() == EXAMPLE
    assert remove(file.with_name("Pulumi.none.yaml"), "bob").exit_code == 2
    file.chmod(0o640)
    file.write_text("config: [\n")
    assert remove(file, "bob").exit_code == 2
    file.write_bytes(b"\xff")
    assert remove(file, "bob").exit_code == 2
    assert CliRunner().invoke(build(), ["user", "remove", "bob", "-s", "no-such"]).exit_code == 2
    assert CliRunner().invoke(build(), ["user", "remove", "-s", "example"]).exit_code == 2


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({("aws", "images"): {"node": {"build": {}}, "x": {"parameter": "/a/b"}}}, "landbridge up -s acme && landbridge image build node -s acme"),
        ({("scheduler", "rest"): {}}, "ansible-playbook -i F ansible/playbooks/rotate_jwt_key.yml"),
        ({("hosts", "directory"): {"uris": ["ldaps://l"], "base": "dc=x"}}, PAGE),
    ],
)  # fmt: skip
def test_steps_that_only_some_environments_have(changes: dict[Any, Any], command: str) -> None:
    plain = [step.command for step in leaving_steps(environment(), ("al", "bob"), "F", "-s acme")]
    assert plain[0] == "scancel --user=al && scancel --user=bob"
    assert plain[1:3] == ["landbridge configure -s acme --check", "landbridge configure -s acme"]
    steps = [step.command for step in leaving_steps(environment(changes), ("al", "bob"), "F", "-s acme")]
    assert len(steps) == len(plain) + 1 and command in steps


def test_a_slurm_that_others_configure_is_a_step_of_its_own() -> None:
    existing = load_environment(ROOT / "tests/unit/rules/full-existing.yaml").environment
    assert existing is not None
    steps = {step.command: step.message for step in leaving_steps(existing, ("al", "bob"), "F", "-s acme")}
    assert "sacctmgr delete user al,bob" in steps and "MLflow" not in steps["landbridge configure -s acme"]


def test_the_pages_and_playbooks_of_the_steps_exist() -> None:
    assert (ROOT / PAGE).is_file() and (ROOT / "ansible/playbooks/rotate_jwt_key.yml").is_file()
