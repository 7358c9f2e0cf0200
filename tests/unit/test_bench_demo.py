"""Table of a demonstration's steps, from a report as the demonstration writes it."""

import json
from pathlib import Path

import pytest

from bench import demo
from sandbox.demo.report import DemoReport


def test_each_step_has_its_seconds_and_its_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = DemoReport("a demonstration")
    report.level = "embedded"
    with report.step("the network"):
        pass
    report.save(tmp_path / "demo.json")
    saved = json.loads((tmp_path / "demo.json").read_text())
    saved["seconds"], saved["steps"][0]["seconds"] = 120.0, 30.0
    (tmp_path / "demo.json").write_text(json.dumps(saved))
    capsys.readouterr()
    assert demo.main([str(tmp_path / "demo.json")]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("a demonstration: embedded level, 120 s in all")
    assert row.split() == ["30.0", "s", "25%", "the", "network"]
