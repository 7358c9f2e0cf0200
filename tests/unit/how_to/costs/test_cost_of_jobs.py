"""docs/how-to/cost-of-jobs.md: its commands on its own files have the output that it shows."""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from landbridge.burst.journal.store import Store
from landbridge.burst.model import Charge, ChargeKey, ChargeKind
from tests.unit.economics.job_costs.test_reconcile import HEADER
from tests.unit.how_to.pages import ROOT, run, steps, write

PAGE = ROOT / "docs" / "how-to" / "cost-of-jobs.md"
DAY, PRICE = "2026-10-13", 55.04
LAUNCH = {"event": "launched", "pool": "p5", "details": {"instances": {"p5-1": "i-0b"}}}
END = {"event": "terminate", "details": {"instances": ["i-0b"]}}


def charge(job: int, hours: float, kind: ChargeKind) -> Charge:
    return Charge(ChargeKey(DAY, "p5", "vision", job, kind, "p5.48xlarge"), hours * 3600, hours * PRICE)


def write_records(folder: Path) -> None:
    """Write the journal's copy, the decision log and the cost report of an instance that ran for 2.2 hours."""
    charges = (charge(44, 0.1, ChargeKind.BOOT), charge(44, 2.0, ChargeKind.JOB), charge(0, 0.1, ChargeKind.IDLE))
    with closing(Store(folder / "burst.db")) as store:
        before = store.load()
        store.save(before, replace(before, spent={("2026-10", "vision", "p5"): 2.2 * PRICE}, charges=charges))
        store.snapshot(folder / "landbridge-burst")
    records = [{"time": f"{DAY}T00:00:00Z", **LAUNCH}, {"time": f"{DAY}T02:12:00Z", **END}]
    (folder / "decisions.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    (folder / "cur.csv").write_text(
        f"{HEADER}\na,Usage,USD,{DAY}T00:00:00Z,i-0b,BoxUsage:p5.48xlarge,2.2,{2.2 * PRICE}\n"
    )


def test_the_commands_have_the_output_of_the_page(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "stacks", tmp_path / "stacks", ignore=shutil.ignore_patterns("*.py", "layers", "__pycache__")
    )
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    write_records(tmp_path)
    ran = 0
    for step in steps(PAGE):
        if step.file is not None:
            write(step, tmp_path)
        elif step.command is not None and step.command.startswith("landbridge cost"):
            done = run(f"export PYTHONPATH={ROOT}; {step.command}", tmp_path)
            assert done.returncode == 0, done.stdout
            assert done.stdout.rstrip() == step.output.rstrip(), done.stdout
            ran += 1
    assert ran == 4
    assert (tmp_path / "october.csv").read_text().count("\n") > 60
