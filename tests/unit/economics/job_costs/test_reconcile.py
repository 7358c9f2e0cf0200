"""`landbridge cost reconcile`: a recorded cost report against the journal and the decision log of the same days."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from tests.unit.economics.job_costs import recorded

HEADER = "identity_line_item_id,line_item_line_item_type,line_item_currency_code,line_item_usage_start_date,line_item_resource_id,line_item_usage_type,line_item_usage_amount,line_item_unblended_cost,savings_plan_savings_plan_effective_cost,reservation_effective_cost"
LEGACY = "identity/LineItemId,lineItem/LineItemType,lineItem/CurrencyCode,lineItem/UsageStartDate,lineItem/ResourceId,lineItem/UsageType,lineItem/UsageAmount,lineItem/UnblendedCost,savingsPlan/SavingsPlanEffectiveCost,reservation/EffectiveCost"
#: 2.3 hours of p5-1 on the 12th, in hours as AWS reports them, and 2 hours of p5-2 on the 13th, with its volume.
CUR = """\
a,Usage,USD,2026-10-12T09:00:00Z,i-0a,BoxUsage:p5.48xlarge,0.1,5.504
b,Usage,USD,2026-10-12T10:00:00Z,i-0a,BoxUsage:p5.48xlarge,1.0,55.04
c,Usage,USD,2026-10-12T11:00:00Z,i-0a,BoxUsage:p5.48xlarge,1.0,55.04
d,Usage,USD,2026-10-12T12:00:00Z,i-0a,BoxUsage:p5.48xlarge,0.2,11.008
e,Usage,USD,2026-10-13T00:00:00Z,i-0b,BoxUsage:p5.48xlarge,1.0,55.04
f,Usage,USD,2026-10-13T01:00:00Z,i-0b,BoxUsage:p5.48xlarge,1.0,55.04
g,Usage,USD,2026-10-13T01:00:00Z,vol-1,EBS:VolumeUsage.gp3,0.1,0.05
h,Tax,USD,2026-10-13T01:00:00Z,,,,1.00
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


#: The two instances' 4.3 hours cost 236.67 USD on demand. In USD: what the changed report has, on the 12th and the 13th.
ON_DEMAND = (126.592, 110.08)
NEGATION = "n,SavingsPlanNegation,USD,2026-10-12T10:00:00Z,{},BoxUsage:p5.48xlarge,2.3,-126.592\n"


def covered(kind: str, columns: str) -> str:
    """Return the report with all instances covered by a plan or a reservation at half of the price."""
    rows = []
    for row in CUR.splitlines():
        if "BoxUsage" in row:
            fields = row.replace(",Usage,", f",{kind},").split(",")
            usd = fields.pop()
            row = ",".join([*fields, columns.format(usd=usd, half=float(usd) / 2)])
        rows.append(row)
    return "\n".join([*rows, ""])


@pytest.mark.parametrize(
    ("report", "invoiced"),
    [
        (covered("SavingsPlanCoveredUsage", "{usd},{half},") + NEGATION.format(""), (63.296, 55.04)),
        (covered("SavingsPlanCoveredUsage", "{usd},{half},") + NEGATION.format("i-0a"), (63.296, 55.04)),
        (covered("DiscountedUsage", "0,,{half}"), (63.296, 55.04)),
        (CUR + "k,Credit,USD,2026-10-13T00:00:00Z,i-0b,BoxUsage:p5.48xlarge,2.0,-100\n", (126.592, 10.08)),
        (CUR + "k,EdpDiscount,USD,2026-10-12T10:00:00Z,i-0a,BoxUsage:p5.48xlarge,2.3,-26.592\n", (100.0, 110.08)),
        (CUR + CUR, ON_DEMAND),
        (
            CUR.replace("h,Tax", "a,Usage,USD,2026-10-12T09:00:00Z,i-0a,BoxUsage:p5.48xlarge,0.1,5.504\nh,Tax"),
            ON_DEMAND,
        ),
    ],
)
def test_each_type_of_row_counts_as_what_it_is(folder: Path, report: str, invoiced: tuple[float, float]) -> None:
    code, data, err = reconcile(folder, f"{HEADER}\n{report}")
    assert code == 0 and not [each for each in data["findings"] if each["rule"] == "invoice-hours"], err
    assert [day["invoiced"] for day in data["days"]] == pytest.approx(invoiced)
    assert [day["journal"] for day in data["days"]] == pytest.approx(ON_DEMAND)
    differs = sum(invoiced) < sum(ON_DEMAND)
    assert any("list prices" in each["fix"] for each in data["findings"] if each["rule"] == "invoice-usd") is differs


def test_rows_that_are_twice_are_a_warning(folder: Path) -> None:
    (finding,) = reconcile(folder, f"{HEADER}\n{CUR}{CUR}")[1]["findings"]
    assert (finding["rule"], finding["severity"]) == ("invoice-repeated", "warning") and ": 6" in finding["message"]


def test_the_cost_of_a_covered_row_needs_its_column(folder: Path) -> None:
    header = HEADER.replace(",savings_plan_savings_plan_effective_cost", "")
    code, data, _ = reconcile(folder, f"{header}\n{covered('SavingsPlanCoveredUsage', '{usd},')}")
    assert code == 1 and "savings_plan_savings_plan_effective_cost" in data["findings"][0]["message"]


@pytest.mark.parametrize("currency", ["INR", "CNY", ""])
def test_another_currency_is_refused(folder: Path, currency: str) -> None:
    code, data, _ = reconcile(folder, f"{HEADER}\n{CUR.replace(',USD,', f',{currency},')}")
    assert (code, [each["rule"] for each in data["findings"]], data["days"]) == (1, ["invoice-currency"], [])


def test_a_report_without_instances_is_not_called_equal(folder: Path) -> None:
    _, data, _ = reconcile(folder, f"{HEADER}\n{CUR.splitlines()[-1]}\n")
    assert [each["rule"] for each in data["findings"]] == ["invoice-empty"]


def test_an_unused_capacity_reservation_is_a_line_of_its_own(folder: Path) -> None:
    arn = "arn:aws:ec2:us-east-1:1:capacity-reservation/cr-0be443"
    rows = "".join(
        f"u{hour},Usage,USD,2026-10-13T{hour:02}:00:00Z,{arn},UnusedBox:p5.48xlarge,1.0,55.04\n"
        for hour in range(2, 24)
    )
    used = f"r,Usage,USD,2026-10-13T00:00:00Z,{arn},Reservation:p5.48xlarge,2.0,0\n"
    code, data, err = reconcile(folder, f"{HEADER}\n{CUR}{used}{rows}")
    assert [(each["day"], each["reservation"], each["hours"]) for each in data["unused"]] == [
        ("2026-10-13", "cr-0be443", 22.0)
    ]
    assert data["unused"][0]["usd"] == pytest.approx(1210.88) and code == 0
    (finding,) = data["findings"]
    assert finding["rule"] == "invoice-unused-reservation" and "1,210.88" in finding["message"], err
    files = ("--cur", str(folder / "cur.csv"), "--decisions", str(folder / "decisions.jsonl"))
    text = CliRunner().invoke(build(), ["cost", "reconcile", *files, "--journal", str(folder / "journal")]).stdout
    assert any(
        line.split() == ["2026-10-13", "cr-0be443", "unused", "1,210.88", "0.00", "-1,210.88"]
        for line in text.splitlines()
    )
