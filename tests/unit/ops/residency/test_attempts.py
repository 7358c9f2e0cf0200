"""Attempts to compute or store on-prem data in AWS: every layer refuses alone, and with the layers before it off."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge.burst.reconcile.residency import reject_if_restricted
from landbridge.catalog.residency_attempts import residency_attempts
from landbridge.cli.main import build
from landbridge.environment import Environment
from landbridge.findings import DataPath, has_errors
from landbridge.ops.residency.attempts import AttemptSubject, attempt_subject, evaluate_attempts
from landbridge.ops.residency.attempts.evaluate import LAYERS
from landbridge.ops.residency.compiled import CompiledForms, compiled_forms
from landbridge.plan.placement.job import PlacementJob
from landbridge.rules import check
from landbridge.simulation.scenario import scenario_of
from tests.unit.core.samples import SHIPPED, loaded, shipped
from tests.unit.ops.residency.open_layers import OPENERS, opened
from tests.unit.ops.residency.seeded_holes import SOUND
from tests.unit.plan.placement.test_agreement import accepted_by_lua

TABLE = residency_attempts()
ATTEMPTS = TABLE.attempts
#: Environment with every layer: a user of the restricted account only, a replica, SageMaker for one class.
WHOLE: dict[DataPath, Any] = {
    **SOUND,
    ("scheduler", "accounts"): {
        "vision": {"users": ["alice"], "data_class": "internal"},
        "lab": {"users": ["alice"], "data_class": "partner"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
    },
    ("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-east-2"}},
    ("mlops", "sagemaker"): {"data_classes": ["internal"]},
}


@cache
def whole() -> tuple[Environment, CompiledForms, AttemptSubject]:
    """Return the environment with its forms and the subject."""
    source = loaded(deepcopy(WHOLE))
    assert source.environment is not None and not has_errors(check(source)), check(source)
    forms = compiled_forms(source.environment)
    subject = attempt_subject(forms)
    assert subject is not None
    return source.environment, forms, subject


def test_the_table_has_thirty_attempts_and_describes_its_layers() -> None:
    used = {layer for attempt in ATTEMPTS.values() for layer in attempt.layers}
    assert len(ATTEMPTS) >= 30
    assert used == set(TABLE.layers) == set(LAYERS)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_is_refused_by_the_first_layer_and_with_that_off_by_the_next(name: str) -> None:
    _, forms, subject = whole()
    attempt = ATTEMPTS[name]
    for number, layer in enumerate(attempt.layers):
        assert LAYERS[layer](forms, subject, attempt) is True, f"{layer} refuses with the layers before it off"
        if number < len(attempt.layers) - 1:
            forms = opened(layer, forms, subject, attempt)
            assert LAYERS[layer](forms, subject, attempt) is not True, f"{layer} is off"


def test_every_layer_but_the_last_ones_can_be_opened() -> None:
    last_only = set(LAYERS) - {layer for attempt in ATTEMPTS.values() for layer in attempt.layers[:-1]}
    assert set(LAYERS) - set(OPENERS) - {"role_denial", "role_allowance"} <= last_only


def test_a_layer_permits_the_jobs_of_a_class_that_may_be_in_aws() -> None:
    _, forms, subject = whole()
    permitted = replace(subject, data_class="internal", account="vision", users=frozenset({"alice"}))
    for layer in ("job_submit", "allow_accounts", "controller", "scp"):
        assert LAYERS[layer](forms, permitted, ATTEMPTS["sbatch-partition"]) is False, layer
    assert LAYERS["associations"](forms, permitted, ATTEMPTS["account-switch"]) is False
    assert LAYERS["dataset_class"](forms, permitted, ATTEMPTS["dataset-put"]) is False
    for layer in ("class_role", "class_bucket"):
        assert LAYERS[layer](forms, permitted, ATTEMPTS["checkpoint"]) is False, layer


def test_lua_and_the_controller_refuse_the_jobs_of_the_table(tmp_path: Path) -> None:
    environment, _, subject = whole()
    jobs = {
        name: PlacementJob(subject.account, 1, 1.0, partition=subject.text(row.partition), wckey=row.wckey)
        for name, row in ATTEMPTS.items()
        if "job_submit" in row.layers
    }
    assert len(jobs) >= 20
    calls = {
        False: "slurm_job_submit(%s, {}, 20001)",
        True: 'slurm_job_modify(%s, job{account = "clinic", partition = "onprem"}, {}, 0)',
    }
    for changes, call in calls.items():
        names = [name for name in jobs if ATTEMPTS[name].changes is changes]
        accepted = accepted_by_lua(tmp_path, environment, [jobs[name] for name in names], call)
        assert names and not any(accepted), [name for name, yes in zip(names, accepted, strict=True) if yes]
    policy = scenario_of(environment).policy
    for name, job in jobs.items():
        assert reject_if_restricted(policy, job.account, job.wckey) is not None, name


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_attempt_is_refused_in_a_shipped_environment(path: Path) -> None:
    results = evaluate_attempts(compiled_forms(shipped(path.name.split(".")[1])))
    assert [result.finding() for result in results if result.finding() is not None] == []
    assert all(result.is_refused for result in results)


def test_an_attempt_that_no_layer_refuses_is_an_error() -> None:
    _, forms, subject = whole()
    for layer in ("exports", "firewall", "security_group"):
        forms = opened(layer, forms, subject, ATTEMPTS["nfs-mount"])
    (result,) = [result for result in evaluate_attempts(forms) if result.name == "nfs-mount"]
    finding = result.finding()
    assert finding is not None and has_errors([finding]) and not result.is_refused
    assert finding.path == ("data_classes", "restricted", "sites")


def test_the_command_prints_the_layers() -> None:
    runner = CliRunner()
    result = runner.invoke(build(), ["residency", "attempts", "-s", "hybrid"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "nfs-mount                exports, firewall, security_group" in result.stdout
    as_json = runner.invoke(build(), ["residency", "attempts", "-s", "hybrid", "--format", "json"])
    assert len(json.loads(as_json.stdout)["attempts"]) == len(ATTEMPTS)
