"""DNS across the link, and SageMaker, under Pulumi's real engine: created, unchanged, updated in place, destroyed."""

from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine, pytest.mark.long]
BUDGET = "    budget: {monthly_usd: 1000}\n"


def changed(file: Path, *edits: tuple[str, str]) -> Environment:
    text = file.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    environment = load_environment(file).environment
    assert environment is not None
    return environment


def test_dns_and_sagemaker_are_created_and_updated_in_place(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path
) -> None:
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
    endpoints = {endpoint["Id"] for endpoint in resolver.list_resolver_endpoints()["ResolverEndpoints"]}

    # A domain and another server: one more rule, and every rule has both servers; endpoints, zone and other rules stay.
    more = ("{query_logs: true}", "{query_logs: true, forward: [corp.example.org], servers: [gw01, db01]}")
    wider = changed(environment_file, more)
    updated = pulumi.up(wider, environment_file)
    assert updated.changes.get("replace", 0) == 0
    # Created: a rule, its association, and egress to the new server by tcp and udp; egress to the old one is deleted.
    assert (updated.changes["create"], updated.changes["delete"], updated.changes["update"]) == (4, 2, 2), (
        updated.changes
    )
    assert {endpoint["Id"] for endpoint in resolver.list_resolver_endpoints()["ResolverEndpoints"]} == endpoints
    targets = [
        {target["Ip"] for target in rule["TargetIps"]} for rule in resolver.list_resolver_rules()["ResolverRules"]
    ]
    assert targets == [{"10.20.0.1", "10.20.0.12"}] * 3
    assert pulumi.refresh(wider, environment_file).changed == 0

    # One more model package group: its name is the only other change.
    models = changed(environment_file, ("sagemaker: {}", "sagemaker: {model_groups: [models, vision]}"))
    grown = {key: count for key, count in pulumi.up(models, environment_file).changes.items() if key != "same"}
    assert grown == {"create": 1, "update": 1}, grown
    assert pulumi.up(models, environment_file).changed == 0

    pulumi.destroy(models, environment_file)
    assert left(cloud) == before
