"""Roles and guardrails under Pulumi's real engine: made, left alone, changed in place, gone."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.environments.test_program import ACCOUNT
from tests.graph.support.inventory import client, left
from tests.graph.support.permissions_environment import ask_for_rights, authority, budget_actions

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return read(file)


def read(file: Path) -> Environment:
    found = load_environment(file).environment
    assert found is not None
    return found


@pytest.mark.long
def test_guardrails_and_rights_live_and_change_in_place(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path
) -> None:
    before = left(cloud)
    ask_for_rights(environment_file, cloud)
    first = read(environment_file)
    built = pulumi.up(first, environment_file)
    assert set(built.changes) == {"create"}
    assert pulumi.up(first, environment_file).changed == 0
    assert pulumi.refresh(first, environment_file).changed == 0

    roles = {role["RoleName"]: role for role in client(cloud, "iam").list_roles()["Roles"]}
    assert all(role["Path"] == "/team/" for name, role in roles.items() if name.startswith("graph-"))
    assert {"graph-launch", "graph-terminate", "graph-reaper"} <= set(roles)

    # On-prem services exchange certificates of one CA for five roles, machines register with a code that nobody is shown.
    made = {kind: names - before[kind] for kind, names in left(cloud).items()}
    assert (len(made["trust anchors"]), len(made["profiles of roles"]), len(made["anomalies"])) == (1, 5, 2)
    profiles = client(cloud, "rolesanywhere").list_profiles()["profiles"]
    assert {one["roleArns"][0].rpartition("/")[2] for one in profiles} == {one["name"] for one in profiles}
    (activation,) = client(cloud, "ssm").describe_activations()["ActivationList"]
    assert made["activations"] == {activation["ActivationId"]} and activation["IamRole"] == "graph-managed"
    (action,) = budget_actions(cloud)
    assert action["Definition"]["IamActionDefinition"]["Roles"] == ["graph-launch"]
    assert len(made["tags in billing"]) == 4

    later = changed(environment_file, "reaper: true", "reaper: true, grace_minutes: 7, every_minutes: 10")
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
    assert [one["ActionId"] for one in budget_actions(cloud)] == [action["ActionId"]]

    # Somebody deletes the function behind Pulumi's back: seen, and made again.
    client(cloud, "lambda").delete_function(FunctionName="graph-reaper")
    assert pulumi.refresh(later, environment_file).changed > 0
    assert pulumi.up(later, environment_file).changes.get("create", 0) >= 1
    assert pulumi.up(later, environment_file).changed == 0

    # A code that ends later is another code; one CA's place is taken by another's without a new name for it.
    ended = str(activation["ExpirationDate"].strftime("%Y-%m-%dT%H:%M:%SZ"))
    further = (activation["ExpirationDate"] + timedelta(days=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    later = changed(environment_file, ended, further)
    text = environment_file.read_text()
    old = re.search(r'certificate: "([^"]+)"', text)
    assert old is not None
    later = changed(environment_file, old[1], authority().replace("\n", "\\n"))
    renewed = pulumi.up(later, environment_file)
    assert {key: count for key, count in renewed.changes.items() if key != "same"} == {"replace": 1, "update": 1}, (
        renewed.changes
    )
    assert left(cloud)["trust anchors"] - before["trust anchors"] == made["trust anchors"]
    (another,) = client(cloud, "ssm").describe_activations()["ActivationList"]
    assert another["ActivationId"] != activation["ActivationId"]

    pulumi.destroy(later, environment_file)
    assert left(cloud) == before
    assert client(cloud, "lambda").list_functions()["Functions"] == []
