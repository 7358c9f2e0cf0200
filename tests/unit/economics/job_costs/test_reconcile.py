"""`landbridge cost reconcile`: a recorded cost report against the journal and the decision log of the same days."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from tests.unit.economics.job_costs import recorded

HEADER = "identity_line_item_id,line_item_line_item_type,line_item_usage_start_date,line_item_resource_id,line_item_usage_type,line_item_usage_amount,line_item_unblended_cost"
LEGACY = "identity/LineItemId,lineItem/LineItemType,lineItem/UsageStartDate,lineItem/ResourceId,lineItem/UsageType,lineItem/UsageAmount,lineItem/UnblendedCost"
#: 2.3 hours of p5-1 on the 12th, in hours as AWS reports them, and 2 hours of p5-2 on the 13th, with its volume.
CUR = """\
a,Usage,2026-10-12T09:00:00Z,i-0a,BoxUsage:p5.48xlarge,0.1,5.504
b,Usage,2026-10-12T10:00:00Z,i-0a,BoxUsage:p5.48xlarge,1.0,55.04
c,Usage,2026-10-12T11:00:00Z,i-0a,BoxUsage:p5.48xlarge,1.0,55.04
d,Usage,2026-10-12T12:00:00Z,i-0a,BoxUsage:p5.48xlarge,0.2,11.008
e,Usage,2026-10-13T00:00:00Z,i-0b,BoxUsage:p5.48xlarge,1.0,55.04
f,Usage,2026-10-13T01:00:00Z,i-0b,BoxUsage:p5.48xlarge,1.0,55.04
g,Usage,2026-10-13T01:00:00Z,vol-1,EBS:VolumeUsage.gp3,0.1,0.05
h,Tax,2026-10-13T01:00:00Z,,,,1.00
"""
DECISIONS = [
    {"time": "2026-10-12T09:54:00.000Z", "event": "launched", "pool": "p5", "details": {"instances": {"p5-1": "i-0a"}}},
    {"time": "2026-10-12T12:12:00.000Z", "event": "terminate", "details": {"instances": ["i-0a"]}},
    {"time": "2026-10-13T00:00:00.000Z", "event": "launched", "pool": "p5", "details": {"instances": {"p5-2": "i-0b"}}},
    {"time": "2026-10-13T01:00:00.000Z", "event": "not-launched", "pool": "p5", "details": {"instances": {}}},
    {"time": "2026-10-13T02:00:00.000Z", "event": "terminate", "details": {"instances": ["i-0b", "i-older"]}},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("invoice")
    recorded.write(path)
    (path / "decisions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in DECISIONS) + '{"time": "20')
    return path


def reconcile(folder: Path, cur: str, *words: str, name: str = "cur.csv") -> tuple[int, dict, str]:
    data = cur.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    files = ("--cur", str(folder / name), "--decisions", str(folder / "decisions.jsonl"))
    options = ("--journal", str(folder / "journal"), "--format", "json")
    done = CliRunner().invoke(build(), ["cost", "reconcile", *files, *options, *words])
    return done.exit_code, json.loads(done.stdout) if done.stdout else {}, done.stderr


@pytest.mark.parametrize(("header", "name"), [(HEADER, "cur.csv"), (LEGACY, "legacy.csv.gz")])
def test_a_report_that_agrees_has_no_findings(folder: Path, header: str, name: str) -> None:
    code, data, err = reconcile(folder, f"{header}\n{CUR}", name=name)
    assert (code, data["findings"]) == (0, []), err
    assert [(day["day"], day["pool"]) for day in data["days"]] == [("2026-10-12", "p5"), ("2026-10-13", "p5")]
    for day in data["days"]:
        assert day["invoiced"] == pytest.approx(day["journal"])


@pytest.mark.parametrize(
    ("edit", "rules", "code"),
    [
        (("i-0b,BoxUsage:p5.48xlarge,1.0,55.04\nf", "i-0b,BoxUsage:p5.48xlarge,0.5,55.04\nf"), {"invoice-hours"}, 1),
        (("0.1,5.504", "0.1,9.504"), {"invoice-usd"}, 0),
        (("i-0b,BoxUsage", "i-9,BoxUsage"), {"invoice-missing-instance", "invoice-unknown-instance", "invoice-usd"}, 1),
        (("1.0,55.04\nc", "one,55.04\nc"), {"invoice-line", "invoice-hours", "invoice-usd"}, 1),
    ],
)
def test_each_difference_is_a_finding(folder: Path, edit: tuple[str, str], rules: set[str], code: int) -> None:
    assert edit[0] in CUR
    done, data, _ = reconcile(folder, f"{HEADER}\n{CUR.replace(*edit)}")
    assert {finding["rule"] for finding in data["findings"]} == rules
    assert done == code


def test_limits_and_unreadable_files(folder: Path) -> None:
    less = f"{HEADER}\n{CUR.replace('1.0,55.04', '0.9,50')}"
    assert reconcile(folder, less)[0] == 1
    assert reconcile(folder, less, "--hours", "0.3", "--share", "0.2")[1]["findings"] == []
    code, _, err = reconcile(folder, "a,b\n1,2\n")
    assert code == 1 and "line_item_resource_id" in err
    done = CliRunner().invoke(build(), ["cost", "reconcile", "--cur", "none.csv", "--journal", str(folder / "journal")])
    assert done.exit_code == 2 and "none.csv" in done.stderr
