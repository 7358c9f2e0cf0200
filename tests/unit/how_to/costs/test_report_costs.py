"""docs/how-to/report-costs.md: its commands write the page with the sections that it lists."""

import shutil
from pathlib import Path

from tests.unit.how_to.pages import ROOT, run, steps
from tests.unit.report.test_command import keys
from tests.unit.report.test_page import tree
from tests.unit.simulation.queues import TRACE

PAGE = ROOT / "docs" / "how-to" / "report-costs.md"


def test_the_commands_of_the_page_write_a_report(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "stacks", tmp_path / "stacks", ignore=shutil.ignore_patterns("*.py", "layers", "__pycache__")
    )
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    (tmp_path / "jobs.csv").write_text(TRACE.read_text())
    without, with_trace = (step for step in steps(PAGE) if step.command is not None)
    done = run(f"export PYTHONPATH={ROOT}; {without.command}", tmp_path)
    assert done.returncode == 0 and done.stdout.rstrip() == without.output.rstrip(), done.stdout
    titles = [title.text or "" for title in tree((tmp_path / "report.html").read_text()).iter("h2")]
    assert titles and all(f"| {title} |" in PAGE.read_text() for title in titles)
    done = run(f"export PYTHONPATH={ROOT}; {with_trace.command}", tmp_path)
    assert done.returncode == 0, done.stdout
    assert keys(tree((tmp_path / "report.html").read_text()))[-3:] == ["demand", "waits", "assumptions"]
