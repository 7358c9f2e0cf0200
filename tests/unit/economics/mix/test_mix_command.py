"""Command `landbridge cost mix`: prices with their sources, findings of missing prices, mixes, and blocks to buy."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.catalog import price_of
from landbridge.catalog.aws.prices import add_prices
from landbridge.cli.main import build
from landbridge.economics.mix import BlockRules, MixPrices
from landbridge.economics.mix.forecast import block_plan
from landbridge.economics.mix.quotes import GivenRates, quotes_of
from landbridge.economics.mix.study import study_of
from landbridge.trace import Demand, TraceJob, read
from tests.unit.core.samples import ROOT, shipped
from tests.unit.simulation.queues import TRACE

HYBRID = str(ROOT / "stacks" / "Pulumi.hybrid.yaml")
WORDS = ["cost", "mix", str(TRACE), "-f", HYBRID, "--today", "2026-11-25"]
DAY = 86_400.0


def run(*options: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(build(), [*WORDS, *options])
    return done.exit_code, done.stdout, done.stderr


def test_the_command_prints_mixes_with_dated_prices() -> None:
    status, text, errors = run()
    assert status == 0, errors
    assert all(words in text for words in ("cheapest mix", "all on demand", "own the peak", "own the mean", "2026-10-07", "assumed: "))  # fmt: skip
    assert "no rate of spot interruptions is known" in errors


def test_the_cheapest_mix_is_not_more_expensive_than_the_others() -> None:
    status, text, _ = run("--format", "json")
    data = json.loads(text)
    usd = {mix["name"]: mix["usd"] for mix in data["mixes"]}
    assert status == 0 and usd["cheapest mix"] == min(usd.values()) and len(usd) == 6
    listed = {price["instrument"]: price for price in data["prices"]}
    price = price_of("on_demand", "p5.48xlarge", "us-east-1")
    assert price is not None and listed["on_demand"]["usd_unit_hour"] == price.usd  # type: ignore[union-attr]
    assert all(price["as_of"] and price["source"] for price in data["prices"])
    for mix in data["mixes"]:
        assert mix["usd"] == pytest.approx(sum(use["usd"] for use in mix["uses"]))
        used = sum(use["used_hours"] for use in mix["uses"])
        assert used == pytest.approx(sum(use["used_hours"] for use in data["mixes"][0]["uses"]))
    assert data["buy_now"] is None, "the trace of a few days is no forecast"
    assert "mix-no-forecast" in {finding["rule"] for finding in data["findings"]}


def test_given_rates_replace_those_of_the_catalogue() -> None:
    rates = ["--owned-usd-gpu-hour", "1", "--committed-usd-hour", "7", "--on-demand-usd-hour", "80", "--block-usd-hour", "9"]  # fmt: skip
    spot = ["--spot-usd-hour", "6", "--spot-interruptions-per-hour", "0.1", "--lost-hours", "1"]
    status, text, errors = run(*rates, *spot, "--format", "json")
    data = json.loads(text)
    assert status == 0 and "mix-no-price" not in errors
    assert {price["instrument"]: price["usd_unit_hour"] for price in data["prices"]} == {
        "owned": 8.0, "committed": 7.0, "capacity_block": 9.0, "on_demand": 80.0, "spot": 6.0,
    }  # fmt: skip
    instruments = {use["instrument"] for use in data["mixes"][0]["uses"]}
    # Spot instances cost less than on demand, and commitments less than owned nodes.
    assert instruments and instruments <= {"committed", "capacity_block", "spot"}


BOOK = """
source: our account
date: 2026-11-20
sources:
  plans: {title: Savings Plans of our account, date: 2026-11-20, confidence: primary}
rows:
  - what: savings_plan
    unit: instance-hour
    region: us-east-1
    source: plans
    usd:
      "p5.48xlarge:compute:1y:no_upfront": 41.5
      "p5.48xlarge:ec2_instance:1y:no_upfront": 40.25
      "p5.48xlarge:ec2_instance:1y:all_upfront": 38.0
      "p5.48xlarge:ec2_instance:3y:no_upfront": 24.5
      "p4d.24xlarge:ec2_instance:1y:no_upfront": 13.0
"""


@pytest.mark.parametrize(("options", "usd"), [((), 40.25), (("--savings-plan", "ec2_instance:3y:no_upfront"), 24.5)])
def test_savings_plans_of_the_price_book_are_the_committed_rate(
    tmp_path: Path, options: tuple[str, ...], usd: float
) -> None:
    book = tmp_path / "prices.yaml"
    book.write_text(BOOK)
    try:
        status, text, errors = run("--prices", str(book), *options, "--format", "json")
        data = json.loads(text)
        (committed,) = [price for price in data["prices"] if price["instrument"] == "committed"]
        assert (status, committed["usd_unit_hour"], committed["as_of"]) == (0, usd, "2026-11-20"), errors
        assert "compute:1y:no_upfront" in committed["source"] and "p4d" not in committed["source"]
        _, _, errors = run("--prices", str(book), "--savings-plan", "compute:5y:no_upfront")
        assert "Savings Plan compute:5y:no_upfront is known for p5.48xlarge" in errors
        assert "known are compute:1y:no_upfront, ec2_instance:1y:all_upfront" in errors
    finally:
        add_prices(())


def test_a_price_that_is_not_known_is_a_finding_and_no_guess() -> None:
    environment = shipped("regulated")
    for pool in environment.aws.pools:
        quotes = quotes_of(environment, pool.name, GivenRates())
        for instrument, kind in (("on_demand", "on_demand"), ("capacity_block", "capacity_block")):
            known = price_of(kind, pool.instance, environment.region)  # type: ignore[arg-type]
            if known is None and pool.instance not in environment.burst.prices:
                assert quotes.usd(instrument) is None
                assert any(finding.rule == "mix-no-price" for finding in quotes.findings)
    nothing = quotes_of(environment, "no-such-pool", GivenRates())
    assert nothing.prices is None and [finding.rule for finding in nothing.findings] == ["mix-no-pool"]
    status, _, errors = run("--pool", "no-such-pool")
    assert status == 1 and "mix-no-pool" in errors and "p5, p5-more" in errors


def test_a_bad_trace_is_refused_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("timestamp,duration,num_gpus\n2026-01-01,x,1\n2026-01-01,-1,1\n")
    done = CliRunner().invoke(build(), ["cost", "mix", str(path), "-f", HYBRID])
    assert done.exit_code == 1 and "jobs.csv:2" in done.stderr and "jobs.csv:3" in done.stderr
    assert CliRunner().invoke(build(), ["cost", "mix", str(tmp_path / "none"), "-f", HYBRID]).exit_code == 2


def test_a_wrong_line_does_not_compute_for_centuries(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("timestamp,duration,num_gpus\n0,60,1\n9999-01-01,60,1\n5,60,1000000000\n")
    done = CliRunner().invoke(build(), ["cost", "mix", str(path), "-f", HYBRID])
    assert done.exit_code == 1 and "mix-too-long" in done.stderr and "1970-01-01" in done.stderr
    assert "mix-too-large" in done.stderr


def test_one_type_of_gpus_is_chosen_and_several_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    rows = [f"2026-01-0{day},36000,{gpus},{kind}" for day in range(1, 9) for gpus, kind in ((8, "h100"), (16, "A100"))]
    path.write_text("\n".join(["timestamp,duration,num_gpus,gpu_type", *rows]) + "\n")
    words = ["cost", "mix", str(path), "-f", HYBRID, "--format", "json"]
    both = json.loads(CliRunner().invoke(build(), words).stdout)
    assert both["gpus"]["peak"] == 24
    (warning,) = (finding for finding in both["findings"] if finding["rule"] == "mix-several-kinds")
    assert "a100 67%, h100 33%" in warning["message"]
    chosen = json.loads(CliRunner().invoke(build(), [*words, "--kind", "a100"]).stdout)
    assert chosen["gpus"]["peak"] == 16 and not [f for f in chosen["findings"] if f["rule"] == "mix-several-kinds"]
    none = CliRunner().invoke(build(), [*words, "--kind", "b200"])
    assert none.exit_code == 1 and "h100: 8 jobs" in none.stderr


def test_no_more_gpus_are_owned_than_the_room_holds() -> None:
    _, text, _ = run("--owned-usd-gpu-hour", "0.01", "--owned-max-gpus", "20", "--format", "json")
    (owned,) = (use for use in json.loads(text)["mixes"][0]["uses"] if use["instrument"] == "owned")
    assert owned["units"] == 2, "two nodes of eight GPUs"


@pytest.mark.parametrize("name", ["example", "frontier", "hybrid", "regulated", "sandbox", "startup"])
def test_every_environment_has_a_mix_or_findings(name: str) -> None:
    file = str(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    done = CliRunner().invoke(build(), ["cost", "mix", str(TRACE), "-f", file])
    assert done.exit_code == (0 if "cheapest mix" in done.stdout else 1), done.output
    assert done.exit_code == 0 or "mix-no-p" in done.stderr
    given = ["--owned-usd-gpu-hour", "2", "--on-demand-usd-hour", "50"]
    done = CliRunner().invoke(build(), ["cost", "mix", str(TRACE), "-f", file, *given])
    assert done.exit_code == 0 or "mix-no-pool" in done.stderr, done.output


def test_the_bill_stays_the_default_of_the_group() -> None:
    done = CliRunner().invoke(build(), ["cost", "-f", HYBRID])
    assert done.exit_code == 0 and "USD/month" in done.stdout


def test_blocks_to_buy_repeat_the_last_weeks_and_start_within_eight_weeks() -> None:
    """64 GPUs on each Tuesday from noon for two days, for twenty weeks."""
    rules = BlockRules.of_catalogue()
    monday = rules.day_of(1_775_000_000.0) - DAY * 3
    week = [(monday + DAY, 0), (monday + 3 * DAY, 64)]
    steps = [(at + 7 * DAY * number, gpus) for number in range(20) for at, gpus in week]
    demand = Demand((steps[0][0], *(at for at, _ in steps[1:]), monday + 140 * DAY), tuple(gpus for _, gpus in steps))
    now = monday + 1000 * 7 * DAY / 7 + 5000
    plan = block_plan(demand, None, 8, MixPrices(55.0, block=40.0), rules, 0, now)
    assert plan is not None and plan.blocks
    assert plan.shift % (7 * DAY) == 0 and plan.shift > 0
    assert all(now < block.start <= now + rules.weeks_ahead * 7 * DAY for block in plan.blocks)
    assert all((block.start - monday - 3 * DAY) % (7 * DAY) == 0 or block.start == plan.start for block in plan.blocks)
    assert plan.saved_usd > 0 and plan.usd == pytest.approx(sum(b.units * b.days * 24 * 40.0 for b in plan.blocks))
    assert block_plan(demand, None, 8, MixPrices(55.0, block=40.0), rules, 8, now).blocks == ()  # type: ignore[union-attr]
    short = demand.between(demand.times[0], demand.times[0] + 6 * DAY)
    assert block_plan(short, None, 8, MixPrices(55.0, block=40.0), rules, 0, now) is None


def test_a_study_of_one_job_has_every_mix() -> None:
    quotes = quotes_of(shipped("hybrid"), None, GivenRates())
    jobs = [TraceJob(0.0, 3600.0, 8), TraceJob(1800.0, 60.0, 1)]
    alone = study_of(jobs[:1], quotes, 0.0)
    assert alone.demand.hours == 1.0 and alone.best.usd == pytest.approx(min(21.85, 55.04), abs=0.01)
    study = study_of(jobs, quotes, 0.0)
    assert study.best.usd <= min(mix.usd for mix in study.mixes.values()) + 1e-6
    assert study_of(read(TRACE).jobs, quotes, 0.0, 0.5).best.usd > 0
