"""docs/how-to/run-a-pipeline.md: its commands on its own files have the output that it shows."""

from pathlib import Path

from tests.unit.how_to.pages import ROOT, run, steps, write

PAGE = ROOT / "docs" / "how-to" / "run-a-pipeline.md"


def test_the_commands_have_the_output_of_the_page(tmp_path: Path) -> None:
    ran = 0
    for step in steps(PAGE):
        if step.file is not None:
            write(step, tmp_path)
        elif step.command is not None:
            done = run(f"export PYTHONPATH={ROOT}; {step.command}", tmp_path)
            assert done.returncode == (1 if "error:" in step.output else 0), done.stdout
            assert done.stdout.rstrip() == step.output.rstrip(), done.stdout
            ran += 1
    assert ran == 3
