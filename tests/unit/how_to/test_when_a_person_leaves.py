"""docs/how-to/when-a-person-leaves.md: its commands run, and it has each finding, step and list of the command."""

import re
from pathlib import Path

import pytest

from landbridge.environment.file.load import load_environment
from landbridge.environment.file.users import LISTS, RIGHTS
from landbridge.ops.leaving import PAGE
from tests.unit.how_to.pages import ROOT, run, steps

TEXT = (ROOT / PAGE).read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with an environment called acme."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks/Pulumi.acme.yaml").write_text((ROOT / "stacks/Pulumi.example.yaml").read_text())
    return tmp_path


def test_a_person_leaves_and_the_commands_of_the_page_follow(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(re.sub(r"^   ", "", TEXT, flags=re.MULTILINE))
    followed = [(step, run(f"PYTHONPATH={ROOT} {step.command}", folder)) for step in steps(page)]
    assert [step.command for step, _ in followed] == [
        "landbridge user remove bob -s acme --check",
        "landbridge user remove bob -s acme",
    ]
    for step, done in followed:
        assert done.returncode == 0 and done.stdout.startswith(step.output.rstrip()), done.stdout
    # The next steps are those of the page.
    commands = re.findall(r"^     (\S.*)$", followed[1][1].stdout, re.MULTILINE)
    named = [command for command in commands if command != PAGE and not command.startswith("landbridge up")]
    assert named and all(f"`{command}" in TEXT for command in named), named
    environment = load_environment(folder / "stacks/Pulumi.acme.yaml").environment
    assert environment is not None and "bob" not in str(environment)


def test_each_refusal_is_explained() -> None:
    code = (ROOT / "landbridge/environment/file/users.py").read_text()
    rules = set(re.findall(r'"(user-[a-z]+|edit-layout)"', code))
    assert len(rules) == 5 and all(f"`{rule}`" in TEXT for rule in rules)
    assert all(str(path[-1]).replace("public_keys", "public key") in TEXT for path in (*LISTS[:2], *RIGHTS))
