"""docs/how-to/assess-an-organisation.md: its commands print the page's output, and its keys are those of the answers."""

import re
from pathlib import Path

from landbridge.catalog.assessment import assessment_facts
from landbridge.economics.assessment.answers import Constraints, QuotedPrices
from tests.unit.how_to.pages import ROOT, run, steps, write

PAGE = ROOT / "docs" / "how-to" / "assess-an-organisation.md"


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    for path in (ROOT / "stacks").glob("Pulumi.*.yaml"):
        (tmp_path / "stacks" / path.name).write_text(path.read_text())
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    commands = 0
    for step in steps(PAGE):
        if step.command is None:
            write(step, tmp_path)
            continue
        done = run(f"export PYTHONPATH={ROOT}; {step.command}", tmp_path)
        assert done.returncode == 0, done.stdout
        assert done.stdout.replace(f"{tmp_path}/", "").rstrip() == step.output.rstrip(), done.stdout
        commands += 1
    assert commands == 2 and (tmp_path / "stacks" / "Pulumi.acme.yaml").is_file()


def test_its_keys_and_counts_are_those_of_the_code() -> None:
    text = PAGE.read_text()
    for model, section in ((Constraints, "constraints"), (QuotedPrices, "prices")):
        assert [name for name in model.model_fields if name not in text] == [], section
    questions = [question for question in assessment_facts().questions if question.kind != "list"]
    assert f"asks {len(questions)} questions" in text
    assert all(name in text for name in assessment_facts().gpus)
    assert set(re.findall(r"rule `([a-z-]+)`", text)) <= set(assessment_facts().rules)


def test_it_is_found_from_the_index() -> None:
    assert "how-to/assess-an-organisation.md" in (ROOT / "docs" / "index.md").read_text()
