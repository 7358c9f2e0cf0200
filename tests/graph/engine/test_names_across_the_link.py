"""Names across the link, and SageMaker, under Pulumi's real engine: made, left alone, changed in place, gone."""

from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900), pytest.mark.long]
BUDGET = "    budget: {monthly_usd: 1000}\n"


def changed(file: Path, *edits: tuple[str, str]) -> Environment:
    text = file.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    found = load_environment(file).environment
    assert found is not None
    return found


def test_they_live_and_change_in_place(engine: Engine, cloud: EmulatorProcess, environment_file: Path) -> None:
    before = left(cloud)
    first = changed(
        environment_file,
        (BUDGET, f"{BUDGET}    dns: {{query_logs: true}}\n"),
        ("      mlflow: {port: 5000}", "      mlflow: {port: 5000}\n      sagemaker: {}"),
    )
    assert set(pulumi.up(first, environment_file).changes) == {"create"}
    assert pulumi.up(first, environment_file).changed == 0
    assert pulumi.refresh(first, environment_file).changed == 0
    resolver = client(cloud, "route53resolver")
    endpoints = {one["Id"] for one in resolver.list_resolver_endpoints()["ResolverEndpoints"]}

    # A domain and another server: one rule more, and every rule asks both; endpoints, zone and other rules stay.
    more = ("{query_logs: true}", "{query_logs: true, forward: [corp.example.org], servers: [gw01, db01]}")
    wider = changed(environment_file, more)
    again = pulumi.up(wider, environment_file)
    assert again.changes.get("replace", 0) == 0
    # A rule and its association, and the way to the new server, tcp and udp; the way to the old one goes.
    assert (again.changes["create"], again.changes["delete"], again.changes["update"]) == (4, 2, 2), again.changes
    assert {one["Id"] for one in resolver.list_resolver_endpoints()["ResolverEndpoints"]} == endpoints
    targets = [{one["Ip"] for one in rule["TargetIps"]} for rule in resolver.list_resolver_rules()["ResolverRules"]]
    assert targets == [{"10.20.0.1", "10.20.0.12"}] * 3
    assert pulumi.refresh(wider, environment_file).changed == 0

    # A group of models more; what jobs may do and who starts them stay what they are, but for its name.
    models = changed(environment_file, ("sagemaker: {}", "sagemaker: {model_groups: [models, vision]}"))
    grown = {key: count for key, count in pulumi.up(models, environment_file).changes.items() if key != "same"}
    assert grown == {"create": 1, "update": 1}, grown
    assert pulumi.up(models, environment_file).changed == 0

    pulumi.destroy(models, environment_file)
    assert left(cloud) == before
