"""docs/how-to/decide-where-a-job-runs.md: its files and commands, run in the page's order, print the page's output."""

import json
import shutil
from pathlib import Path

from landbridge.catalog.aws.access.service_control_policies import service_control_policy_facts
from tests.unit.how_to.pages import ROOT, run, steps, write

PAGE = ROOT / "docs" / "how-to" / "decide-where-a-job-runs.md"


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "stacks", tmp_path / "stacks", ignore=shutil.ignore_patterns("layers", "__pycache__"))
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    (tmp_path / "landbridge").symlink_to(ROOT / "landbridge")
    commands = 0
    for step in steps(PAGE):
        if step.file:
            write(step, tmp_path)
        elif step.command:
            commands += 1
            done = run(step.command, tmp_path)
            assert done.returncode == 0, done.stdout
            assert done.stdout.rstrip() == step.output.rstrip(), step.command
    assert commands == 4
    text = (tmp_path / "policy.json").read_text().strip()
    assert json.loads(text)["Statement"] and len(text) <= service_control_policy_facts().characters


def test_it_is_found_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    assert "how-to/decide-where-a-job-runs.md" in index and "explanation/placement.md" in index
