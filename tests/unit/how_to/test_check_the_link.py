"""docs/how-to/check-the-link.md, followed literally with recorded facts."""

import json
import re
from pathlib import Path

import pytest

from landbridge.catalog.link import link_facts
from landbridge.ops.netcheck.metrics import PREFIX, metrics_text
from landbridge.ops.netcheck.record import write_facts
from tests.unit.core.samples import changed
from tests.unit.how_to.pages import ROOT, run, steps
from tests.unit.ops.netcheck import records

PAGE = ROOT / "docs/how-to/check-the-link.md"
EXPECTED = records.expectations()


def test_the_page_works_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks/Pulumi.acme.yaml").write_text(changed({**records.CHANGES, ("dns",): {}}))
    (tmp_path / "state/landbridge/acme").mkdir(parents=True)
    (tmp_path / "state/landbridge/acme/outputs.json").write_text(json.dumps(records.OUTPUT_VALUES))
    every = records.broken(EXPECTED, "proposal-mismatch")
    write_facts(tmp_path / "facts.json", EXPECTED, tuple(every.values()))
    commands = [step for step in steps(PAGE) if step.command is not None]
    assert len(commands) == 2
    for step in commands:
        done = run(
            f"PYTHONPATH={ROOT} {str(step.command).replace('landbridge ', 'python -m landbridge.cli.main ', 1)}",
            tmp_path,
        )
        assert done.returncode == (1 if "failed" in step.output else 0), done.stdout
        assert done.stdout.startswith(step.output.strip("\n")), done.stdout


def test_the_page_has_every_cause_and_every_metric() -> None:
    text = PAGE.read_text()
    table = text.partition("| cause |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(link_facts().causes)
    by_host = records.broken(EXPECTED, "bgp-down")
    received = {"sender": records.NODE, "bytes": 10**8, "seconds": 1.0, "connections": 8}
    by_host[records.SERVICE] = records.changed(by_host[records.SERVICE], {"throughput": [received]})
    every = tuple(by_host.values())
    written = metrics_text(records.report(EXPECTED, {facts.host.name: facts for facts in every}), every, 0)
    assert set(re.findall(rf"^({PREFIX}\w+)\{{", written, re.MULTILINE)) == set(re.findall(rf"{PREFIX}\w+", text))
