"""Drill of a site's loss: assets and copies by the plan, findings with their positions, and the environment of the recovery."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge import yaml_text
from landbridge.catalog.site_loss import site_loss_facts
from landbridge.cli.main import build
from landbridge.environment import Environment
from landbridge.findings import DataPath, Severity
from landbridge.ops.site_loss import site_loss
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.mlflow import mlflow_variables
from landbridge.rules import check
from tests.unit.core.samples import REMOVED, loaded, shipped
from tests.unit.ops.residency.seeded_holes import SOUND
from tests.unit.plan.ansible.test_burst import built
from tests.unit.rules.aws.rows_cloud_services import GOOD

ROLES = Path(__file__).parents[4] / "ansible/roles"
LOCKED: dict[DataPath, Any] = {
    **SOUND,
    ("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-east-2", "object_lock": {"days": 30}}},
    ("secrets",): {"store": "sops"},
}


def environment(changes: dict[DataPath, Any]) -> Environment:
    # REMOVED is compared by identity: values are copied, not the marker.
    result = loaded({path: value if value is REMOVED else deepcopy(value) for path, value in changes.items()})
    errors = [str(finding) for finding in check(result) if finding.severity is Severity.ERROR]
    assert result.environment is not None and not errors, errors
    return result.environment


def test_every_asset_of_the_catalogue_is_in_a_drill_or_is_a_share() -> None:
    kinds = {asset.kind for asset in site_loss(environment(SOUND)).assets}
    assert kinds | {"shares"} == set(site_loss_facts().assets)


def test_an_asset_without_a_copy_is_a_finding_with_its_position() -> None:
    source = loaded(deepcopy(SOUND))
    assert source.environment is not None
    findings = {finding.message: source.place(finding) for finding in site_loss(source.environment).findings()}
    by_text = {text: next(row for message, row in findings.items() if text in message) for text in WANTED}
    for text, (path, severity) in WANTED.items():
        assert (by_text[text].path, by_text[text].severity) == (path, severity), text
        assert by_text[text].line is not None and by_text[text].fix


WANTED: dict[str, tuple[DataPath, Severity]] = {
    "no copy of Slurm's database": (("onprem", "services", "database"), Severity.ERROR),
    "no copy of the databases of MLflow's server mlflow-restricted": (
        ("data_classes", "restricted", "sites"),
        Severity.ERROR,
    ),
    "the copy of the databases of MLflow's server mlflow in": (
        ("storage", "data_hub", "classes", "internal", "object_lock"),
        Severity.WARNING,
    ),
    "no copy of home directories": (("storage", "home"), Severity.ERROR),
    "no copy of secrets": (("secrets", "store"), Severity.ERROR),
    "no copy of Slurm's queue": (("onprem", "services"), Severity.INFO),
}


def test_a_locked_replica_and_a_shared_store_are_no_findings() -> None:
    drill = site_loss(environment(LOCKED))
    messages = " ".join(finding.message for finding in drill.findings())
    assert "MLflow's server mlflow in" not in messages and "secrets" not in messages
    (databases,) = [asset for asset in drill.assets if asset.name == "the databases of MLflow's server mlflow"]
    assert databases.copy is not None and databases.copy.locked
    assert databases.copy.place == "s3://test-internal-ACCOUNT/landbridge-backups/mlflow in us-east-1 and us-east-2"
    assert drill.lost_hours == 24.2


def test_no_database_of_a_class_that_must_stay_on_prem_is_copied_into_aws() -> None:
    """The copies that the role makes are those of the drill."""
    site = environment(LOCKED)
    buckets = {
        name: {"name": f"test-{name}-1", "key_arn": "arn:aws:kms:us-east-1:1:key/1"} for name in ("internal", "partner")
    }
    outputs = StackOutputs.model_validate({**built(site).model_dump(), "data_hub": {"buckets": buckets}})
    servers = mlflow_variables(site, outputs)["mlflow_servers"]
    copied = {server["data_class"] for server in servers if server["backups"]}
    assert copied == {"internal", "partner"}
    in_drill = {
        name
        for asset in site_loss(site).assets
        if asset.kind == "mlflow-database" and asset.copy
        for name in asset.classes
    }
    assert in_drill == copied


@pytest.mark.parametrize(("asset", "role"), [("slurm-database", "slurm_database"), ("mlflow-database", "mlflow")])
def test_the_recovery_point_has_the_interval_of_the_timer(asset: str, role: str) -> None:
    facts = site_loss_facts().assets[asset]
    defaults = yaml_text.load((ROLES / role / "defaults/main.yml").read_text())
    assert facts.calendar == defaults[f"{role}_dump_calendar"]
    (timer,) = (ROLES / role / "templates").glob("*-dump.timer.j2")
    assert "RandomizedDelaySec=10min" in timer.read_text() and facts.every_hours == pytest.approx(24 + 10 / 60, abs=0.1)
    (program,) = [
        *(ROLES / role / "files").rglob("landbridge_slurm_dump.py"),
        *(ROLES / role / "files").rglob("landbridge_mlflow_upgrade.py"),
    ]
    assert f'"{facts.folder}"' in program.read_text()


def test_the_environment_of_the_recovery_has_no_errors() -> None:
    """The step `environment`: without the site, with services and homes in AWS, under the same name."""
    accounts = {name: row for name, row in SOUND[("scheduler", "accounts")].items() if name != "clinic"}
    recovery: dict[DataPath, Any] = {
        **SOUND,
        ("onprem",): REMOVED,
        ("link",): REMOVED,
        ("aws", "services"): GOOD,
        ("storage", "home"): {"kind": "efs"},
        # No job of a class that must stay on-prem can run until there is a site.
        ("data_classes", "restricted"): REMOVED,
        ("scheduler", "accounts"): accounts,
    }
    assert environment(recovery).onprem is None


def test_the_command_prints_steps_and_ends_with_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    runner = CliRunner()
    result = runner.invoke(build(), ["drill", "site-loss", "-s", "hybrid"], catch_exceptions=False)
    assert result.exit_code == 1
    assert "Restore the databases" in result.stdout
    sentence = (
        "recovery point 24.2 h; recovery time 1238 s (restore 38 s measured, create at most 1200 s documented); without"
    )
    assert sentence in result.stdout and "[at most 1200 s: the database in RDS becomes available" in result.stdout
    shown = json.loads(runner.invoke(build(), ["drill", "site-loss", "-s", "hybrid", "--format", "json"]).stdout)
    assert {finding["rule"] for finding in shown["findings"]} == {"site-loss"}
    # Ansible would look for a relative path beside its playbooks.
    commands = [step["command"] for steps in shown["steps"].values() for step in steps if step["name"] == "restore"]
    assert all(f"mlflow_dumps={Path.cwd()}/dumps/mlflow" in command for command in commands) and len(commands) == 2
    assert all(asset["name"] for asset in shown["assets"])
    in_aws = runner.invoke(build(), ["drill", "site-loss", "-s", "startup"], catch_exceptions=False)
    assert in_aws.exit_code == 0 and "no services on-prem" in in_aws.stdout
    assert site_loss(shipped("startup")).assets == ()


def test_a_run_stops_at_an_operators_step_and_its_times_are_in_the_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    runner, words = CliRunner(), ["drill", "site-loss", "-s", "hybrid"]
    stopped = runner.invoke(build(), [*words, "--run", "return"], catch_exceptions=False)
    assert stopped.exit_code == 1 and "repeat with --done rebuild" in stopped.stdout
    confirmed = runner.invoke(build(), [*words, "--run", "return", "--done", "rebuild"], catch_exceptions=False)
    assert "repeat with --done drain" in confirmed.stdout
    wrong = runner.invoke(build(), [*words, "--run", "return", "--done", "drian"], catch_exceptions=False)
    assert wrong.exit_code == 2 and "drian is not a step: rebuild" in wrong.stderr
    shown = json.loads(runner.invoke(build(), [*words, "--format", "json"]).stdout)
    steps = {step["name"]: step for step in shown["steps"]["return"]}
    assert steps["rebuild"]["measured"]["attempts"] == 1 and steps["drain"]["measured"] is None
    assert shown["measured"]["return"]["declared_at"] is not None
    restore = next(step for step in shown["steps"]["recovery"] if step["name"] == "restore")
    assert restore["seconds"] > 0 and restore["test"]
    # A run here counts before the lab and before documents, and each step is in one of the three.
    durations = shown["durations"]["return"]
    assert set(durations["measured"]) == {"rebuild"} and "drain" in durations["unknown"]
    assert durations["seconds"] == durations["measured"]["rebuild"]
    for way, steps in shown["steps"].items():
        sums = shown["durations"][way]
        names = [*sums["measured"], *sums["documented"], *sums["unknown"]]
        assert sorted(names) == sorted(step["name"] for step in steps), way
    create = next(step for step in shown["steps"]["recovery"] if step["name"] == "create")
    assert create["documented"]["source"] and create["documented"]["as_of"] and create["seconds"] is None
