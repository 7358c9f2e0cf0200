"""docs/how-to/adopt-a-running-slurm.md, followed literally."""

from pathlib import Path

from tests.unit.how_to.pages import ROOT, Step, run, steps, write

PAGE = ROOT / "docs/how-to/adopt-a-running-slurm.md"


def test_adopting_and_the_way_back_work_as_they_are_written(tmp_path: Path) -> None:
    commands: list[Step] = []
    for step in steps(PAGE):
        if step.command is None:
            write(step, tmp_path)
            continue
        done = run(f"PYTHONPATH={ROOT} {step.command}", tmp_path)
        assert done.returncode == 0, f"{step.command}\n{done.stdout}"
        assert done.stdout.startswith(step.output.strip("\n")), f"{step.command}\n{done.stdout}"
        commands.append(step)
    assert len(commands) == 8
    # The way back leaves exactly the files of the page.
    files = {step.file: step.text for step in steps(PAGE) if step.file is not None}
    written = {str(path.relative_to(tmp_path)): path.read_text() for path in (tmp_path / "etc").rglob("*.conf")}
    assert written == {name: text for name, text in files.items() if name.endswith(".conf")}
