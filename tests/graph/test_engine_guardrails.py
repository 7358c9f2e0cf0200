"""Roles and guardrails under Pulumi's real engine: made, left alone, changed in place, gone."""

from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.cloud.process import Cloud
from sandbox.engine.find import Engine
from tests.graph.inventory import client, left
from tests.graph.test_program import ACCOUNT

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
WANTED = "protect: false\n      guardrails: {reaper: true}\n      iam: {path: /team/}"


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    found = load_environment(file).environment
    assert found is not None
    return found


def test_guardrails_live_and_change_in_place(engine: Engine, cloud: Cloud, environment_file: Path) -> None:
    before = left(cloud)
    first = changed(environment_file, "protect: false", WANTED)
    built = pulumi.up(first, environment_file)
    assert set(built.changes) == {"create"}
    assert pulumi.up(first, environment_file).changed == 0
    assert pulumi.refresh(first, environment_file).changed == 0

    roles = {role["RoleName"]: role for role in client(cloud, "iam").list_roles()["Roles"]}
    assert all(role["Path"] == "/team/" for name, role in roles.items() if name.startswith("graph-"))
    assert {"graph-launch", "graph-terminate", "graph-reaper"} <= set(roles)

    later = changed(environment_file, "{reaper: true}", "{reaper: true, grace_minutes: 7, every_minutes: 10}")
    later = changed(environment_file, "monthly_usd: 1000", "monthly_usd: 2000")
    again = pulumi.up(later, environment_file)
    # Function, schedule and budget; and the component that says its schedule.
    assert {key: count for key, count in again.changes.items() if key != "same"} == {"update": 4}, again.changes
    settings = client(cloud, "lambda").get_function(FunctionName="graph-reaper")["Configuration"]
    assert settings["Environment"]["Variables"]["GRACE_MINUTES"] == "7"
    rule = client(cloud, "events").describe_rule(Name="graph-reaper")
    assert rule["ScheduleExpression"] == "rate(10 minutes)"
    budget = client(cloud, "budgets").describe_budget(AccountId=ACCOUNT, BudgetName="graph")["Budget"]
    assert float(budget["BudgetLimit"]["Amount"]) == 2000

    # Somebody deletes the function behind Pulumi's back: seen, and made again.
    client(cloud, "lambda").delete_function(FunctionName="graph-reaper")
    assert pulumi.refresh(later, environment_file).changed > 0
    assert pulumi.up(later, environment_file).changes.get("create", 0) >= 1
    assert pulumi.up(later, environment_file).changed == 0

    pulumi.destroy(later, environment_file)
    assert left(cloud) == before
    assert client(cloud, "lambda").list_functions()["Functions"] == []
