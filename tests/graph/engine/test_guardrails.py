"""Roles and guardrails under Pulumi's real engine: created, unchanged, updated in place, destroyed."""

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
from tests.graph.support.permissions_environment import authority, budget_actions, request_permissions

pytestmark = [pytest.mark.engine]


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return read(file)


def read(file: Path) -> Environment:
    environment = load_environment(file).environment
    assert environment is not None
    return environment


@pytest.mark.long
def test_guardrails_and_permissions_are_created_and_updated_in_place(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path
) -> None:
    before = left(cloud)
    request_permissions(environment_file, cloud)
    first = read(environment_file)
    built = pulumi.up(first, environment_file)
    assert set(built.changes) == {"create"}
    assert pulumi.up(first, environment_file).changed == 0
    assert pulumi.refresh(first, environment_file).changed == 0

    roles = {role["RoleName"]: role for role in client(cloud, "iam").list_roles()["Roles"]}
    assert all(role["Path"] == "/team/" for name, role in roles.items() if name.startswith("graph-"))
    assert {"graph-launch", "graph-terminate", "graph-reaper"} <= set(roles)

    # On-prem services assume five roles with certificates of one CA; hosts register with a code that is a secret.
    created = {kind: names - before[kind] for kind, names in left(cloud).items()}
    assert (len(created["trust anchors"]), len(created["profiles of roles"]), len(created["anomalies"])) == (1, 5, 2)
    profiles = client(cloud, "rolesanywhere").list_profiles()["profiles"]
    assert {profile["roleArns"][0].rpartition("/")[2] for profile in profiles} == {
        profile["name"] for profile in profiles
    }
    (activation,) = client(cloud, "ssm").describe_activations()["ActivationList"]
    assert created["activations"] == {activation["ActivationId"]} and activation["IamRole"] == "graph-managed"
    (action,) = budget_actions(cloud)
    assert action["Definition"]["IamActionDefinition"]["Roles"] == ["graph-launch"]
    assert len(created["tags in billing"]) == 4

    later = changed(environment_file, "reaper: true", "reaper: true, grace_minutes: 7, every_minutes: 10")
    later = changed(environment_file, "monthly_usd: 1000", "monthly_usd: 2000")
    updated = pulumi.up(later, environment_file)
    # Function, schedule, budget, and the component with the schedule.
    assert {key: count for key, count in updated.changes.items() if key != "same"} == {"update": 4}, updated.changes
    settings = client(cloud, "lambda").get_function(FunctionName="graph-reaper")["Configuration"]
    assert settings["Environment"]["Variables"]["GRACE_MINUTES"] == "7"
    rule = client(cloud, "events").describe_rule(Name="graph-reaper")
    assert rule["ScheduleExpression"] == "rate(10 minutes)"
    budget = client(cloud, "budgets").describe_budget(AccountId=ACCOUNT, BudgetName="graph")["Budget"]
    assert float(budget["BudgetLimit"]["Amount"]) == 2000
    assert [entry["ActionId"] for entry in budget_actions(cloud)] == [action["ActionId"]]

    # The function is deleted outside Pulumi: refresh reports it, and up creates it again.
    client(cloud, "lambda").delete_function(FunctionName="graph-reaper")
    assert pulumi.refresh(later, environment_file).changed > 0
    assert pulumi.up(later, environment_file).changes.get("create", 0) >= 1
    assert pulumi.up(later, environment_file).changed == 0

    # A later expiry replaces the activation; another CA is updated in place.
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
    assert left(cloud)["trust anchors"] - before["trust anchors"] == created["trust anchors"]
    (another,) = client(cloud, "ssm").describe_activations()["ActivationList"]
    assert another["ActivationId"] != activation["ActivationId"]

    pulumi.destroy(later, environment_file)
    assert left(cloud) == before
    assert client(cloud, "lambda").list_functions()["Functions"] == []
