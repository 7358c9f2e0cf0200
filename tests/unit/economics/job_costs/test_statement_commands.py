"""`landbridge cost jobs` on recorded files: output for users and for programs."""

import csv
import io
import json
import re
import subprocess
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.cli.main import build
from landbridge.economics.job_costs.job_metrics import job_metrics, recoveries, waits
from landbridge.economics.job_costs.lines import MonthBill, MonthStatement
from landbridge.timestamps import month_start
from landbridge.trace.allocations import ALLOCATION_FIELDS, ELIGIBLE_FIELD, SUBMIT_FIELD, allocations_of
from tests.unit.economics.job_costs import recorded
from tests.unit.observability.debian_programs import debian_program
from tests.unit.report.test_page import tree


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return recorded.write(tmp_path_factory.mktemp("recorded"))


def command(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(build(), ["cost", "jobs", *words])
    return done.exit_code, done.stdout, done.stderr


def lines(options: list[str], *words: str) -> list[dict]:
    code, out, err = command(*words, *options, "--format", "json")
    assert code == 0, err
    return json.loads(out)["lines"]


def usd(statement_lines: list[dict], **fields: object) -> float:
    return float(
        sum(Decimal(line["usd"]) for line in statement_lines if all(line[key] == want for key, want in fields.items()))
    )


def test_a_month_adds_up_to_its_bill(options: list[str]) -> None:
    code, out, err = command("--month", recorded.MONTH, *options, "--format", "json")
    assert code == 0, err
    data = json.loads(out)
    (month,) = data["months"]
    assert (
        sum(Decimal(line["usd"]) for line in data["lines"]) == Decimal(data["usd"]) == Decimal(month["bill_usd"]["all"])
    )
    assert float(month["bill_usd"]["journal"]) == pytest.approx(recorded.SPENT)
    assert float(month["bill_usd"]["transfers"]) == 6.5
    text = command("--month", recorded.MONTH, *options)[1].splitlines()
    rows = [Decimal(line.split()[-1].replace(",", "")) for line in text[1:] if not line.startswith(("test,", "bill:"))]
    assert f"{sum(rows):,.2f} USD" in text[-2] and f"bill: {sum(rows):,.2f} USD" in text[-1]
    assert "(UTC)" in text[-2] and "job 18" not in "\n".join(text)


def test_each_use_has_its_lines(options: list[str]) -> None:
    statement_lines = lines(options, "--month", recorded.MONTH)
    price = recorded.PRICE
    assert usd(statement_lines, job=14, site="aws", use="requeued") == pytest.approx(2 * price)
    assert usd(statement_lines, job=14, site="aws", use="boot") == pytest.approx(0.1 * price)
    # Two jobs with 2 and 4 of 8 GPUs: the journal charged halves.
    assert usd(statement_lines, job=15, use="completed") == pytest.approx(2 * price * 2 / 8)
    assert usd(statement_lines, job=16, use="cancelled") == pytest.approx(2 * price * 4 / 8)
    assert usd(statement_lines, job=0, site="aws", use="idle") == pytest.approx(2 * price * 2 / 8 + 0.2 * price)
    assert usd(statement_lines, use="unitemized") == pytest.approx(3.21)
    assert (usd(statement_lines, use="transfer"), usd(statement_lines, use="storage")) == (2.5, 4.0)
    assert usd(statement_lines, job=12) == usd(statement_lines, job=13, use="failed") > 0
    down = [line for line in statement_lines if line["use"] == "node_down"]
    assert [(line["day"], line["node_hours"]) for line in down] == [("2026-10-20", 24.0)]
    assert {line["use"] for line in statement_lines if line["job"] == 17} == {"preempted"}


def test_a_job_over_a_month_s_end_is_whole_in_its_command(options: list[str]) -> None:
    in_october = usd(lines(options, "--month", recorded.MONTH), job=11)
    whole = lines(options, "--job", "11")
    assert usd(whole) == pytest.approx(2 * in_october, abs=1e-5)
    assert {line["day"] for line in whole} == {"2026-10-31", "2026-11-01"}


@pytest.mark.parametrize(("number", "jobs"), [("12", {12, 13}), ("12_2", {13}), ("13", {13}), ("14", {14})])
def test_a_job_is_found_by_its_number_and_its_array(options: list[str], number: str, jobs: set[int]) -> None:
    assert {line["job"] for line in lines(options, "--job", number)} == jobs
    code, _, err = command("--job", "999", *options)
    assert code == 1 and "999" in err


def test_users_and_accounts(options: list[str]) -> None:
    statement_lines = lines(options, "--month", recorded.MONTH)
    by_user = lines(options, "--user", "bob", "--month", recorded.MONTH)
    assert usd(by_user) == pytest.approx(usd(statement_lines, user="bob")) and {line["user"] for line in by_user} == {
        "bob"
    }
    by_account = lines(options, "--account", "vision", "--month", recorded.MONTH)
    assert usd(by_account) == pytest.approx(usd(statement_lines, account="vision"))
    assert "unitemized" in {line["use"] for line in by_account}


@pytest.mark.parametrize("by", ["user", "account"])
def test_a_table_has_a_row_for_each_user_or_account_use_and_site(options: list[str], by: str) -> None:
    code, out, err = command("--month", recorded.MONTH, "--by", by, *options)
    assert code == 0, err
    header, *rows = (line.split("  ") for line in out.splitlines()[:-2])
    assert header[0] == by
    every = lines(options, "--month", recorded.MONTH)
    fields = ("use", "site", "instrument", *(("account",) if by == "user" else ()))
    groups = {(line[by] or "-", *(line[field] or "-" for field in fields)) for line in every}
    assert {tuple(cell.strip() for cell in row if cell)[: len(fields) + 1] for row in rows} == groups
    shown = Counter[str]()
    for row in rows:
        shown[row[0].strip()] += float(row[-1].replace(",", ""))
    assert shown["bob" if by == "user" else "vision"] == pytest.approx(
        usd(every, **{by: "bob" if by == "user" else "vision"}), abs=0.05
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--job", "12", "--user", "bob"], "give one of --job, --user"),
        (["--job", "12", "--month", recorded.MONTH], "leave out --month"),
        (["--account", "vision", "--page", "page.html"], "leave out --account"),
        (["--user", "bob", "--metrics", "jobs.prom"], "leave out --user"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str], reason: str) -> None:
    code, out, err = command(*words)
    assert (code, out) == (2, "") and reason in " ".join(err.split())


def test_measured_energy_replaces_the_modelled_one(options: list[str]) -> None:
    statement_lines = lines(options, "--month", recorded.MONTH)
    (measured,) = (line for line in statement_lines if line["job"] == 12)
    # 36 MJ are 10 kWh; PUE 1.4; 311 g a kWh in Germany.
    assert (measured["energy"], measured["kwh"]) == ("measured, GPUs only", pytest.approx(14.0))
    assert measured["co2e_kg"] == pytest.approx(14.0 * 0.311)
    (modelled,) = (line for line in statement_lines if line["job"] == 13)
    assert (modelled["energy"], modelled["kwh"]) == ("modelled", pytest.approx(12 * 10.2 * 1.4 / 4))
    assert modelled["usd"] == measured["usd"]
    in_aws = next(line for line in statement_lines if line["job"] == 15)
    assert in_aws["kwh"] == pytest.approx(2 * 10.2 * 1.14 * 2 / 8)
    assert in_aws["co2e_kg"] == pytest.approx(in_aws["kwh"] * 0.379069)


def test_focus_has_the_mandatory_columns_and_the_same_sum(options: list[str]) -> None:
    code, out, err = command("--month", recorded.MONTH, *options, "--format", "focus")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert set(MANDATORY) <= set(rows[0])
    assert all(row[name] for row in rows for name in MANDATORY if name not in NULLABLE)
    assert {row["Provider"] for row in rows} == {"test", "Amazon Web Services"}
    assert all(row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["BillingPeriodEnd"] for row in rows)
    whole = json.loads(command("--month", recorded.MONTH, *options, "--format", "json")[1])["usd"]
    assert sum(Decimal(row["BilledCost"]) for row in rows) == Decimal(whole)


def test_errors_of_the_files_are_findings(options: list[str], tmp_path: Path) -> None:
    broken = tmp_path / "sacct.txt"
    broken.write_text(
        recorded.SACCT + "12.batch|12|ann|vision|p|FAILED|2026-10-10T00:00:00|x|dgx01|cpu=1\nshort|line\n"
    )
    words = [str(broken) if word.endswith("sacct.txt") else word for word in options]
    code, out, err = command("--month", recorded.MONTH, *words)
    assert (code, out) == (1, "") and "11" in err and "2 fields instead of 10" in err
    broken.write_text("JobID|State\n1|RUNNING\n")
    assert "JobIDRaw" in command("--month", recorded.MONTH, *words)[2]
    assert command("--month", "2026-13", *options)[0] == 2
    code, _, err = command("--month", recorded.MONTH, *options[:-1], "dee")
    assert code == 2 and "did you mean de?" in err


def test_jobs_without_charge_and_on_unknown_nodes_are_warnings(options: list[str], tmp_path: Path) -> None:
    more = tmp_path / "sacct.txt"
    row = "{0}|{0}|ann|vision|p5|COMPLETED|2026-10-10T00:00:00|2026-10-10T12:00:00|{1}|cpu=8,gres/gpu=8,node=1\n"
    more.write_text(recorded.SACCT + row.format(21, "p5-4") + row.format(22, "gone01"))
    words = [str(more) if word.endswith("sacct.txt") else word for word in options]
    code, _, err = command("--month", recorded.MONTH, *words)
    assert code == 0 and "job 21 ran on p5-4" in err and "gone01" in err


#: Source: FOCUS_Spec v1.2, columns with feature level Mandatory.
MANDATORY = (
    "BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
    "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost",
    "EffectiveCost", "InvoiceIssuer", "ListCost", "PricingQuantity", "PricingUnit", "Provider", "Publisher",
    "ServiceCategory", "ServiceName",
)  # fmt: skip
NULLABLE = ("ChargeClass", "BillingAccountName")


def test_the_page_has_tables_that_add_up_to_the_bill(options: list[str], tmp_path: Path) -> None:
    page = tmp_path / "showback.html"
    code, out, err = command("--month", recorded.MONTH, *options, "--page", str(page))
    assert code == 0 and "showback.html" in err
    bill = out.splitlines()[-1].split()[1]
    root = tree(page.read_text())
    totals = ["".join(row.itertext()) for row in root.iter("tr") if row.get("class") == "total"]
    assert len(totals) == 4 and all(total.endswith(bill) for total in totals)
    for table in root.iter("table"):
        rows = [[cell.text or "" for cell in row if cell.get("class") != "bar"] for row in table.iter("tr")]
        amounts = [Decimal(row[-1].replace(",", "")) for row in rows[1:]]
        assert sum(amounts[:-1]) == amounts[-1]
        assert table.find("caption") is not None and all(th.get("scope") for th in table.iter("th"))


def test_the_page_of_a_user_has_no_line_of_others_and_is_readable_by_its_owner_alone(
    options: list[str], tmp_path: Path
) -> None:
    every = lines(options, "--month", recorded.MONTH)
    users = sorted({line["user"] for line in every if line["user"]})
    assert len(users) > 1
    for user in users:
        page = tmp_path / f"{user}.html"
        code, out, err = command("--user", user, "--month", recorded.MONTH, *options, "--page", str(page))
        assert code == 0, err
        assert page.stat().st_mode & 0o777 == 0o600
        text = page.read_text()
        others = {other for other in users if other != user}
        assert user in text and not [other for other in others if other in text]
        tables = list(tree(text).iter("table"))
        jobs = {line["name"] for line in every if line["user"] == user and line["job"]}
        shown = {row[0].text for row in tables[2].iter("tr")} - {"job"}
        assert shown == jobs
        totals = ["".join(row.itertext()) for row in tables[0].iter("tr") if row.get("class") == "total"]
        assert len(totals) == 1 and totals[0].endswith(out.splitlines()[-1].split()[-2])


def test_the_metrics_have_the_gpu_time_of_ended_jobs_and_are_accepted_by_promtool(
    options: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "jobs.prom"
    code, _, err = command("--month", recorded.MONTH, *options, "--metrics", str(file))
    assert code == 0, err
    text = file.read_text()
    pattern = r'^landbridge_jobs_gpu_seconds_total\{resource="([^"]+)",use="([^"]+)"\} (\S+)$'
    written = {(resource, use): float(seconds) for resource, use, seconds in re.findall(pattern, text, re.MULTILINE)}
    hours: Counter[tuple[str, str]] = Counter()
    for line in lines(options, "--month", recorded.MONTH):
        if line["gpu_hours"] and line["use"] != "running":
            hours[line["resource"], line["use"]] += line["gpu_hours"]
    assert written == pytest.approx({key: value * 3600 for key, value in hours.items()})
    names = set(re.findall(r"^(landbridge_\w+)", text, re.MULTILINE))
    assert names <= set(metrics_contract().exporters["jobs"].metrics)
    line = [debian_program("prometheus", "promtool"), "check", "metrics"]
    done = subprocess.run(line, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_waits_and_recoveries_are_those_of_accounting() -> None:
    header = "|".join((*ALLOCATION_FIELDS, SUBMIT_FIELD))
    rows = [
        "1|1|ann|vision|p5|NODE_FAIL|2026-10-10T00:10:00|2026-10-10T01:00:00|p5-1|cpu=8,gres/gpu=4,node=1|2026-10-10T00:00:00",
        "1|1|ann|vision|p5|COMPLETED|2026-10-10T01:20:00|2026-10-10T02:00:00|p5-2|cpu=8,gres/gpu=4,node=1|2026-10-10T01:00:00",
        "2|2|bob|vision|p5|FAILED|2026-10-10T03:00:00|2026-10-10T04:00:00|p5-1|cpu=8,gres/gpu=4,node=1|2026-10-10T03:00:00",
        "2|2|bob|vision|p5|COMPLETED|2026-10-10T05:00:00|2026-10-10T06:00:00|p5-1|cpu=8,gres/gpu=4,node=1|2026-10-10T04:00:00",
    ]
    runs, findings = allocations_of("\n".join([header, *rows, ""]))
    assert findings == () and waits(runs) == {"p5": [600, 1200, 0, 3600]}
    start, end = month_start("2026-10"), month_start("2026-11")
    assert list(recoveries(runs, start, end)) == [1200] and list(recoveries(runs, end, end + 1)) == []
    empty = MonthStatement("2026-10", int(end), (), MonthBill())
    text = job_metrics(empty, runs, (900, 3600), 1.0)
    assert 'wait_seconds_bucket{partition="p5",le="900"} 2' in text
    assert 'wait_seconds_bucket{partition="p5",le="+Inf"} 4' in text
    assert 'recovery_seconds_bucket{le="900"} 0' in text and "recovery_seconds_sum 1200" in text


def test_a_wait_begins_when_the_job_is_eligible_on_owned_nodes_only() -> None:
    """The burst controller moves the begin time of a job that AWS has no capacity for: this is a wait, not a choice."""
    header = "|".join((*ALLOCATION_FIELDS, SUBMIT_FIELD, ELIGIBLE_FIELD))
    row = "{0}|{0}|ann|vision|{1}|COMPLETED|2026-10-10T02:00:00|2026-10-10T03:00:00|{2}|gres/gpu=4|2026-10-10T00:00:00|{3}"
    rows = [
        row.format(1, "onprem", "dgx01", "2026-10-10T01:50:00"),
        row.format(2, "onprem", "dgx01", "Unknown"),
        row.format(3, "p5", "p5-1", "2026-10-10T01:50:00"),
    ]
    runs, findings = allocations_of("\n".join([header, *rows, ""]))
    assert findings == () and waits(runs, {"p5-1"}) == {"onprem": [600, 7200], "p5": [7200]}


def test_slurm_on_this_host_gives_the_same_statement(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program, text in (("sacct", recorded.SACCT), ("sacctmgr", recorded.EVENTS)):
        file = tmp_path / program
        file.write_text(f"#!/bin/sh\necho \"$TZ $0 $*\" >>{tmp_path}/called\ncat <<'END'\n{text}END\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    names = {"--sacct", "--events"}
    rest = [word for at, word in enumerate(options) if word not in names and options[at - 1] not in names]
    assert lines(rest, "--month", recorded.MONTH) == lines(options, "--month", recorded.MONTH)
    called = (tmp_path / "called").read_text().splitlines()
    assert all(call.startswith("UTC ") and f"={'2026-10-01'} " in f"{call} " for call in called) and len(called) == 2
    row = "31|31|ann|vision|onprem|RUNNING|2026-09-10T00:00:00|Unknown|dgx01|cpu=8,gres/gpu=8,node=1"
    (tmp_path / "sacct").write_text(f"#!/bin/sh\ncat <<'END'\n{recorded.SACCT}{row}\nEND\n")
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\necho 31\n")
    squeue.chmod(0o755)
    assert "cost-without-end" not in command("--month", recorded.MONTH, *rest)[2]
    for text, words in (("echo 30", "squeue does not have them: job 31"), ("exit 1", "squeue was not asked")):
        squeue.write_text(f"#!/bin/sh\n{text}\n")
        assert words in command("--month", recorded.MONTH, *rest)[2]
    (tmp_path / "sacct").write_text("#!/bin/sh\necho 'Slurm accounting storage is disabled' >&2\nexit 1\n")
    code, out, err = command("--month", recorded.MONTH, *rest)
    assert (code, out) == (2, "") and "--sacct FILE" in err
