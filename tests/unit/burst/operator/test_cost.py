"""Cost of instance-hours by job, account, user and pool: every dollar is in one line, and nothing unknown is 0."""

import csv
import io
import json
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from landbridge.burst.journal.store import Store
from landbridge.burst.model import BudgetHold, Charge, ChargeKey, ChargeKind, State
from landbridge.burst.operator.cost import CostBy, CostLine, CostReport, Unitemized, cost_report
from landbridge.burst.slurm.accounting import AccountedJob
from landbridge.cli.main import build
from landbridge.timestamps import month_start
from tests.thorough import examples
from tests.unit.burst.operator.test_commands import file  # noqa: F401

ROOT = Path(__file__).resolve().parents[4]
NOW = month_start("2026-12") - 86_400.0  # 2026-11-30
GPUS = {"p5.48xlarge": 8, "c7i.large": 0}
JOBS = {
    7: AccountedJob(7, "ann", "vision", "p5", "COMPLETED"),
    8: AccountedJob(8, "bob", "speech", "p5", "CANCELLED"),
    9: AccountedJob(9, "ann", "speech", "p5", "RUNNING"),
}


def charge(job: int, usd: float, hours: float = 1.0, kind: ChargeKind = ChargeKind.JOB, **fields: str) -> Charge:
    key = ChargeKey("2026-11-25", "p5", "vision", job, kind, "p5.48xlarge")
    return Charge(replace(key, **fields), hours * 3600, usd)


CHARGES = [
    charge(7, 55.0),
    charge(7, 5.0, 0.1, ChargeKind.BOOT),
    charge(8, 110.0, 2.0, account="speech"),
    charge(9, 27.5, 0.5, account="speech", day="2026-11-26"),
    charge(0, 9.0, 0.2, ChargeKind.IDLE),
    charge(10, 1.0, 1.0, pool="cpu", instance_type="c7i.large"),
]
SPENT = {("2026-11", "vision", "p5"): 69.0, ("2026-11", "speech", "p5"): 137.5, ("2026-11", "vision", "cpu"): 1.0}
STATE = State(spent=SPENT)


def report(by: CostBy, state: State = STATE, charges: list[Charge] = CHARGES, **more) -> CostReport:
    return cost_report(state, charges, by, JOBS, GPUS, NOW, **more)


def rows(lines: tuple[CostLine, ...], *names: str) -> list[tuple]:
    return [tuple(getattr(line, name) for name in names) for line in lines]


@pytest.mark.parametrize(
    ("by", "names", "expected"),
    [
        (
            CostBy.JOB,
            ("job", "kind", "account", "user", "partition", "state", "gpu_hours", "usd"),
            [
                (8, "job", "speech", "bob", "p5", "CANCELLED", 16.0, 110.0),
                (7, "job", "vision", "ann", "p5", "COMPLETED", 8.0, 55.0),
                (9, "job", "speech", "ann", "p5", "RUNNING", 4.0, 27.5),
                (0, "idle", "vision", "", "", "", pytest.approx(1.6), 9.0),
                (7, "boot", "vision", "ann", "p5", "COMPLETED", pytest.approx(0.8), 5.0),
                (10, "job", "vision", None, None, None, 0.0, 1.0),
            ],
        ),
        (
            CostBy.ACCOUNT,
            ("account", "kind", "usd", "job", "user"),
            [
                ("speech", "job", 137.5, None, None),
                ("vision", "job", 56.0, None, None),
                ("vision", "idle", 9.0, None, None),
                ("vision", "boot", 5.0, None, None),
            ],
        ),
        (
            CostBy.USER,
            ("user", "kind", "usd"),
            [("bob", "job", 110.0), ("ann", "job", 82.5), ("", "idle", 9.0), ("ann", "boot", 5.0), (None, "job", 1.0)],
        ),
        (
            CostBy.POOL,
            ("pool", "kind", "usd", "node_seconds"),
            [
                ("p5", "job", 192.5, 3.5 * 3600),
                ("p5", "idle", 9.0, 720.0),
                ("p5", "boot", 5.0, 360.0),
                ("cpu", "job", 1.0, 3600.0),
            ],
        ),
    ],
)
def test_lines_by(by, names, expected):
    result = report(by)
    assert rows(result.lines, *names) == expected
    assert result.usd == pytest.approx(sum(SPENT.values())) and result.unitemized == ()


def test_days_select_lines_and_the_months_whose_spending_is_compared():
    day = report(CostBy.JOB, days=("2026-11-26", "2026-11-26"))
    assert rows(day.lines, "job", "usd") == [(9, 27.5)] and day.unitemized == ()
    other = replace(STATE, spent={**SPENT, ("2026-10", "vision", "p5"): 12.0})
    assert report(CostBy.JOB, other, days=("2026-11-01", "2026-11-30")).unitemized == ()
    assert report(CostBy.JOB, other).unitemized == (Unitemized("2026-10", "vision", "p5", 12.0),)


def test_spending_without_charges_is_named_and_in_no_line():
    result = report(CostBy.POOL, charges=CHARGES[1:])
    assert result.unitemized == (Unitemized("2026-11", "vision", "p5", 55.0),)
    assert result.usd + 55.0 == pytest.approx(sum(SPENT.values()))


def test_running_instances_are_separate_until_they_are_spent_and_end_with_their_leases():
    hold = BudgetHold("vision", "p5", 55.0, NOW - 3600, NOW + 3600, claims=((9, "speech", None),))
    lost = replace(hold, since=NOW - 7200, until=NOW - 3600, claims=())  # the controller has not run for an hour
    call = replace(hold, nodes=4)
    open_call = replace(STATE, holds={"i-1": hold, "i-2": lost, "lb-1": call}, attempts={"lb-1": object()})
    lines = {(line.job, line.kind): line for line in report(CostBy.JOB, open_call).lines}
    assert (lines[9, "job"].usd, lines[9, "job"].running_usd) == (27.5, 55.0)
    assert (lines[0, "idle"].usd, lines[0, "idle"].running_usd) == (9.0, 55.0)
    assert report(CostBy.JOB, open_call).running_usd == 110.0


def test_an_unknown_price_and_an_unknown_type_are_unknown():
    free = replace(charge(11, 0.0, instance_type=""), unpriced_seconds=3600.0)
    (line,) = report(CostBy.POOL, State(), [free]).lines
    assert (line.usd, line.gpu_hours, line.unpriced_seconds) == (None, None, 3600.0)
    (line,) = report(CostBy.POOL, State(), [free, charge(11, 55.0)]).lines
    assert (line.usd, line.gpu_hours, line.unpriced_seconds) == (55.0, None, 3600.0)


charges = st.lists(
    st.builds(
        Charge,
        st.builds(
            ChargeKey,
            st.sampled_from(["2026-10-31", "2026-11-01", "2026-11-30"]),
            st.sampled_from(["p5", "cpu"]),
            st.sampled_from(["vision", "speech", ""]),
            st.sampled_from([0, 7, 8, 99]),
            st.sampled_from(ChargeKind),
            st.sampled_from(["p5.48xlarge", "c7i.large", ""]),
        ),
        st.floats(0, 1e6),
        st.floats(0, 1e4),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=examples(33, 100))
@given(charges, st.sampled_from(CostBy), st.floats(0, 500))
def test_lines_and_unitemized_spending_are_the_spending(known, by, lost):
    spent: Counter[tuple[str, str, str]] = Counter({("2026-11", "vision", "p5"): lost})
    for member in known:
        spent[member.key.day[:7], member.key.account, member.key.pool] += member.usd  # type: ignore[assignment]
    result = cost_report(State(spent=spent), known, by, JOBS, GPUS, NOW)
    rest = sum(item.usd for item in result.unitemized)
    assert result.usd + rest == pytest.approx(sum(spent.values()), abs=0.01)
    assert rest == pytest.approx(lost, abs=0.01)
    assert sum(line.node_seconds for line in result.lines) == pytest.approx(sum(c.node_seconds for c in known))


# The command.


@pytest.fixture
def journal(file: Path) -> Store:  # noqa: F811
    with closing(Store(file.parent / "state" / "burst.db")) as store:
        before = store.load()
        after = replace(before, spent=SPENT, charges=tuple(CHARGES), holds={})
        store.take_lease("ctl01", 1000.0, 60.0)
        store.save(before, after)
        yield store


@pytest.fixture
def sacct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    lines = "".join(f'echo "{job.id}${{d}}{job.user}${{d}}{job.account}${{d}}{job.partition}${{d}}{job.state}"\n' for job in JOBS.values())  # fmt: skip
    program = folder / "sacct"
    program.write_text(
        f'#!/bin/sh\nfor w in "$@"; do case "$w" in --delimiter=*) d="${{w#--delimiter=}}";; esac; done\n{lines}'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program


def command(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(build(), ["burst", "cost", *words])
    return done.exit_code, done.stdout, done.stderr


def test_text_has_a_line_for_each_use_and_the_sum(file: Path, journal: Store, sacct: Path) -> None:  # noqa: F811
    code, out, err = command("--config", str(file), "--by", "job")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0 and err == ""
    assert lines[0][:7] == ["job", "kind", "account", "user", "partition", "pool", "state"]
    assert lines[1] == ["8", "job", "speech", "bob", "p5", "p5", "CANCELLED", "2.0", "16.0", "110.00", "0.00"]
    assert ["-", "idle", "vision", "-", "-", "p5", "-", "0.2", "1.6", "9.00", "0.00"] in lines
    assert ["10", "job", "vision", "unknown", "unknown", "cpu", "unknown", "1.0", "unknown", "1.00", "0.00"] in lines
    assert out.splitlines()[-1].startswith("spent: 207.50 USD")


def test_json_and_csv_have_the_same_lines(file: Path, journal: Store, sacct: Path) -> None:  # noqa: F811
    code, out, _ = command("--config", str(file), "--by", "user", "--format", "json")
    data = json.loads(out)
    assert code == 0 and (data["by"], data["usd"], data["running_usd"], data["unitemized"]) == ("user", 207.5, 0.0, [])
    assert [line["user"] for line in data["lines"]] == ["bob", "ann", "", "ann", None]
    code, out, _ = command("--config", str(file), "--by", "user", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [row["user"] for row in table] == ["bob", "ann", "", "ann", "unknown"]
    assert sum(float(row["usd"]) for row in table) == 207.5 and list(table[0]) == list(data["lines"][0])


def test_without_accounting_the_costs_are_right_and_the_users_are_unknown(
    file: Path,  # noqa: F811
    journal: Store,
    sacct: Path,
) -> None:
    sacct.write_text("#!/bin/sh\necho 'sacct: error: Slurm accounting storage is disabled' >&2\nexit 1\n")
    code, out, err = command("--config", str(file), "--by", "user", "--format", "csv")
    assert code == 0 and "not known" in err and "storage is disabled" in err
    assert {row["user"] for row in csv.DictReader(io.StringIO(out))} == {"", "unknown"}
    sacct.unlink()
    assert command("--config", str(file), "--by", "account")[0] == 0  # needs no accounting
    assert command("--config", str(file), "--by", "account")[2] == ""


def test_the_copy_of_the_journal_gives_the_same_report_without_settings(
    file: Path,  # noqa: F811
    journal: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal.snapshot(tmp_path / "copy")
    words = ("--by", "pool", "--format", "json")
    settings_of_host = ("--config", str(file))
    assert command("--journal", str(tmp_path / "copy"), *settings_of_host, *words) == command(*settings_of_host, *words)
    # Without settings, the GPUs of a type are those of the catalogue.
    monkeypatch.setenv("LANDBRIDGE_BURST_CONFIG", str(tmp_path / "none.json"))
    data = json.loads(command("--journal", str(tmp_path / "copy"), *words)[1])
    assert [line["gpu_hours"] for line in data["lines"]] == pytest.approx([28.0, 1.6, 0.8, 0.0])
    assert command("--journal", str(tmp_path / "copy"), "--config", str(tmp_path / "none.json"), *words)[0] == 2
    code, _, err = command("--journal", str(tmp_path / "nowhere"), *words)
    assert code == 2 and "nowhere" in err


def test_the_command_runs_on_a_controller_which_has_no_reader_of_yaml(file: Path, journal: Store) -> None:  # noqa: F811
    program = (
        "import sys; sys.modules['yaml'] = None; from landbridge.cli.main import build; "
        f"sys.argv[1:] = ['burst', 'cost', '--by', 'account', '--config', {str(file)!r}]; build()()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "137.50" in done.stdout, done.stderr


def test_the_command_changes_nothing(file: Path, journal: Store) -> None:  # noqa: F811
    before = journal.load_with_charges()
    files = {path.name: path.stat().st_size for path in journal.path.parent.iterdir()}
    assert command("--config", str(file), "--by", "account")[0] == 0
    assert journal.load_with_charges() == before
    assert {path.name: path.stat().st_size for path in journal.path.parent.iterdir()} == files


@pytest.mark.parametrize("option", [("--since", "noon"), ("--until", "2026-13-01"), ("--by", "node")])
def test_a_wrong_option_is_a_usage_error(file: Path, journal: Store, option: tuple[str, str]) -> None:  # noqa: F811
    assert command("--config", str(file), "--by", "pool", *option)[0] == 2


def test_days_are_whole_and_the_last_one_is_included(file: Path, journal: Store) -> None:  # noqa: F811
    words = ("--config", str(file), "--by", "pool", "--format", "json")
    data = json.loads(command(*words, "--since", "2026-11-26", "--until", "2026-11-26")[1])
    assert [line["usd"] for line in data["lines"]] == [27.5]
    assert json.loads(command(*words, "--until", "2026-11-24")[1])["lines"] == []
    assert json.loads(command(*words, "--since", "99999d")[1])["usd"] == 207.5
