"""Proof of data residency: shipped environments are proven, and each seeded hole is found with its path."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from landbridge.cli.main import build
from landbridge.environment import Loaded
from landbridge.findings import DataPath, has_errors
from landbridge.ops.residency.compiled import compiled_forms
from landbridge.ops.residency.proof import ResidencyProof, prove, prove_forms
from landbridge.rules import check
from tests.unit.core.samples import SHIPPED, changed, loaded, shipped
from tests.unit.ops.residency.seeded_holes import ARCHIVED, CACHED, HOLES, SOUND, Hole


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build(), list(arguments), catch_exceptions=False)


def proof_of(changes: dict[DataPath, Any], hole: Hole | None = None) -> tuple[Loaded, ResidencyProof]:
    """Return the file, and the proof of its compiled forms with a hole."""
    # Later changes edit the values of earlier ones in place.
    source = loaded(deepcopy(changes))
    assert source.environment is not None and not has_errors(check(source)), check(source)
    forms = compiled_forms(source.environment)
    return source, prove_forms(hole.alter(forms) if hole is not None else forms)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_shipped_environment_is_proven(path: Path) -> None:
    proof = prove(shipped(path.name.split(".")[1]))
    assert proof.findings() == () and proof.is_proven
    assert proof.places > 8 and len(proof.assumptions) > 6


def test_the_environment_before_the_holes_is_proven() -> None:
    _, proof = proof_of(SOUND)
    assert proof.findings() == ()


@pytest.mark.parametrize("program", ["/etc/slurm/prolog.d/*", None])
def test_a_prolog_that_an_override_replaces_is_reported(program: str | None) -> None:
    changes: dict[DataPath, Any] = {("scheduler", "overrides"): {"slurm_conf": {"prolog": program}}}
    source = loaded({**SOUND, **changes})
    assert source.environment is not None
    (path,) = prove(source.environment).paths
    (finding,) = path.findings()
    assert finding.rule == "residency-barrier" and finding.message.startswith(
        "Prolog would let data of class restricted"
    )


def test_an_object_store_is_proven() -> None:
    _, proof = proof_of(SOUND)
    _, with_store = proof_of({**SOUND, ("storage", "object_store"): {}})
    assert with_store.findings() == () and with_store.places == proof.places + 3


def test_caches_of_datasets_are_proven_with_a_group_for_each_class() -> None:
    _, proof = proof_of(SOUND)
    _, cached = proof_of({**SOUND, **CACHED})
    assert cached.findings() == () and cached.places == proof.places + 2
    texts = [assumption.text for assumption in cached.assumptions]
    assert "the group clinicians has only users of accounts of class restricted, on every node" in texts


def test_caches_in_aws_are_proven_by_the_roles_of_jobs() -> None:
    _, proof = proof_of({**SOUND, **CACHED})
    _, cached = proof_of({**SOUND, **CACHED, ("aws", "pools", 0, "local_scratch"): "/local"})
    assert cached.findings() == () and cached.places == proof.places + 2


def test_a_log_store_is_proven() -> None:
    _, proof = proof_of(SOUND)
    _, with_logs = proof_of({**SOUND, ("onprem", "services", "logs"): "mlops01"})
    assert with_logs.findings() == () and with_logs.places == proof.places + 1
    assert with_logs.crossings > proof.crossings
    # Nodes in AWS ship too, and then also if one class is in AWS only, when they do not.
    shipping = {**SOUND, ("onprem", "services", "logs"): "mlops01", ("onprem", "services", "monitoring"): "mlops01"}
    assert proof_of(shipping)[1].findings() == ()
    assert proof_of({**shipping, ("data_classes", "partner"): {"sites": ["aws"]}})[1].findings() == ()


def test_a_served_model_is_proven_and_its_answers_stay_at_the_site() -> None:
    service = {"model": "m", "data_class": "restricted", "port": 8500, "accounts": ["clinic"], "canary": {}}
    serving = {"hosts": ["srv01"], "gateway": "gwm01", "services": {"m": service}}
    addresses = {("onprem", "addresses", "srv01"): "10.20.0.31", ("onprem", "addresses", "gwm01"): "10.20.0.33"}
    _, proof = proof_of(SOUND)
    _, served = proof_of({**SOUND, **addresses, ("serving",): serving})
    assert served.findings() == () and served.places == proof.places + 1
    # Clients in AWS would get answers of the class: the firewall is open, and the nodes' security group is not.
    in_aws = {**SOUND, **addresses, ("serving",): {**serving, "clients": ["10.60.0.0/16"]}}
    (finding,) = proof_of(in_aws)[1].findings()
    assert (finding.rule, finding.path) == ("residency-barrier", ("serving", "clients"))
    assert finding.message.startswith("firewall of gwm01 would let data of class restricted reach nodes in us-east-1")


def test_models_of_on_prem_data_do_not_reach_model_servers_in_aws() -> None:
    service = {"model": "m", "data_class": "internal", "port": 8500, "accounts": ["vision"], "canary": {}}
    service |= {"replicas": 2, "scale": {"host_rate": 50}}
    secret = {**service, "model": "n", "data_class": "restricted", "port": 8600, "accounts": ["clinic"], "replicas": 1}
    hosts = {"zones": {"use1-az4": 1}, "public_keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG2 me"]}
    serving = {"hosts": ["srv01"], "gateway": "gwm01", "services": {"m": service, "n": secret}}
    addresses = {("onprem", "addresses", "srv01"): "10.20.0.31", ("onprem", "addresses", "gwm01"): "10.20.0.33"}
    alone = {**serving, "services": {"m": {**service, "replicas": 1}, "n": secret}}
    _, at_site = proof_of({**SOUND, **addresses, ("serving",): alone})
    _, proof = proof_of({**SOUND, **addresses, ("serving",): {**serving, "aws": hosts}})
    assert proof.findings() == () and proof.places == at_site.places + 1
    # Two ways of each service: folders of the export, and requests of clients.
    assert proof.crossings == at_site.crossings + 4


def test_archives_of_models_are_proven_and_a_class_that_must_stay_on_prem_has_none() -> None:
    _, without = proof_of({**SOUND, **{path: value for path, value in ARCHIVED.items() if path[0] != "storage"}})
    source, proof = proof_of({**SOUND, **ARCHIVED})
    assert proof.findings() == ()
    # Two archives, the sessions of their role, and two replicas.
    assert proof.places == without.places + 5
    assert source.environment is not None
    assert {archive.data_class for archive in compiled_forms(source.environment).archives} == {"internal", "partner"}
    texts = [assumption.text for assumption in proof.assumptions]
    assert any(text.startswith("the timers of internal, partner write models") for text in texts)


def test_a_statement_that_reads_a_bucket_elsewhere_opens_nothing() -> None:
    statement = {"actions": ["s3:GetObject"], "resources": ["arn:aws:s3:::public-data/*"], "why": "public data sets"}
    _, proof = proof_of({**SOUND, ("aws", "iam", "node_statements"): [statement]})
    assert proof.findings() == ()


@pytest.mark.parametrize("title", HOLES)
def test_a_seeded_hole_is_found_with_its_path_and_position(title: str) -> None:
    hole = HOLES[title]
    source, proof = proof_of({**SOUND, **hole.changes}, hole)
    placed = [
        (path, source.place(path.findings()[0]))
        for path in proof.paths
        if path.data_class == hole.data_class and path.places[-1].startswith(hole.reaches)
    ]
    matching = [(path, finding) for path, finding in placed if finding.rule == hole.rule and finding.path == hole.path]
    assert matching, [(path.places, finding.rule, finding.path) for path, finding in placed] or proof.findings()
    path, finding = matching[0]
    assert path.is_complete is (hole.rule == "residency-path")
    assert path.places[0] == f"data of class {hole.data_class}"
    if path.is_complete:
        assert not hole.through or any(place.startswith(hole.through) for place in path.places[1:-1])
        steps = path.findings()[1:]
        assert [step.rule for step in steps] == ["residency-step"] * len(steps) and len(steps) >= len(path.crossings)
    else:
        assert finding.message.startswith(hole.through)
    assert finding.file == str(source.path) and finding.line is not None and finding.line > 1


def write(folder: Path, changes: dict[DataPath, Any]) -> str:
    file = folder / "Pulumi.test.yaml"
    file.write_text(changed(deepcopy(changes)))
    return str(file)


def test_the_command_prints_the_assumptions_of_a_proof(tmp_path: Path) -> None:
    result = run("residency", "prove", "--file", write(tmp_path, SOUND))
    assert result.exit_code == 0, result.stderr
    assert "test: proven under these assumptions" in result.stdout
    assert "bob copies no data between the classes partner, restricted (line " in result.stdout


def test_the_command_prints_each_step_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, {**SOUND, ("storage", "home", "on_cloud_nodes"): True})
    result = run("residency", "prove", "--file", file)
    assert result.exit_code == 1
    assert "error: data of class restricted reaches nodes in us-east-1" in result.stderr
    assert "step 3 of 3: home directories (/home) -> nodes in us-east-1: the NFS server exports homes" in result.stderr
    assert '"on_cloud_nodes": true' in result.stderr
    data = json.loads(run("residency", "prove", "--file", file, "--format", "json").stdout)
    assert data["proven"] is False and data["classes"]["restricted"] == ["onprem"]
    (path,) = data["paths"]
    assert path["places"][-1] == "nodes in us-east-1" and len(path["steps"]) == 3
    assert data["findings"][0]["path"] == ["storage", "home", "on_cloud_nodes"] and data["findings"][0]["line"] > 1


def test_the_command_ends_with_2_without_an_environment_that_is_valid(tmp_path: Path) -> None:
    broken = run("residency", "prove", "--file", write(tmp_path, {("link",): {"kind": "carrier pigeon"}}))
    assert broken.exit_code == 2 and "error:" in broken.stderr
    assert run("residency", "prove", "--file", str(tmp_path / "absent.yaml")).exit_code == 2


def test_the_table_has_what_each_point_received(tmp_path: Path) -> None:
    result = run("residency", "table", "--file", write(tmp_path, SOUND), "--format", "json")
    rows = {row["data_class"]: row for row in json.loads(result.stdout)["classes"]}
    assert rows["restricted"]["launches"] == rows["restricted"]["buckets"] == rows["restricted"]["roles"] == []
    assert rows["restricted"]["partitions"] == ["onprem"] and rows["restricted"]["MLflow"][0].endswith("(directory)")
    assert rows["partner"]["roles"] == ["job-partner"] and rows["partner"]["launches"] == ["us-east-1"]
    assert "partner" in run("residency", "table", "--file", write(tmp_path, SOUND)).stdout


CLOUD_ONLY: dict[DataPath, Any] = {
    **SOUND,
    ("data_classes", "cloud-only"): {"sites": ["aws"]},
    ("scheduler", "accounts", "web"): {"users": ["alice"], "data_class": "cloud-only"},
}


@pytest.mark.parametrize("has_accounts", [True, False])
def test_roles_of_hosts_at_the_site_read_no_class_that_may_be_in_aws_only(has_accounts: bool) -> None:
    changes = {path: value for path, value in CLOUD_ONLY.items() if has_accounts or path[0] != "scheduler"}
    without: dict[DataPath, Any] = {} if has_accounts else {("scheduler", "accounts"): {}}
    _, proof = proof_of({**changes, **without})
    assert [path.places for path in proof.paths if path.data_class == "cloud-only"] == []
    # Without accounts in the file, the role hub has the buckets of every class that may be on-prem.
    assert proof.is_proven is has_accounts
