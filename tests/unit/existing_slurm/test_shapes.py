"""Three clusters that run already: findings, files, patch and environment of each."""

import subprocess
from datetime import date
from pathlib import Path

import pytest

from landbridge.environment import load_text
from landbridge.findings import Severity
from landbridge.plan.slurm.existing import existing_files
from landbridge.rules import check_report
from tests.unit.existing_slurm.samples import CONF, DATA, SHAPES, folder, read, request, written

FINDINGS = {
    "deepops": {
        "partition-of-all-nodes": 1,
        "program-on-cloud-nodes": 2,
        "return-to-service": 1,
        "slurmd-timeout": 1,
        "srun-ports": 1,
    },
    "openhpc": {"accounts-not-enforced": 1, "memory-not-allocated": 1, "program-on-cloud-nodes": 2},
    "grown": {
        "job-submit-plugin": 1,
        "kept-word": 1,
        "node-name-in-path": 1,
        "partition-of-all-nodes": 1,
        "process-tracking": 1,
        "removed-setting": 3,
        "slurmctld-prolog": 1,
    },
}
#: Warnings that remain until the operator has built images and packages.
TO_DO = {"image-not-locked", "parent-not-locked", "gateway-example-address", "example-package-repository"}


@pytest.mark.parametrize("shape", SHAPES)
def test_only_the_known_findings_are_reported(shape: str) -> None:
    rules = [finding.rule for finding in written(folder(shape), request(shape)).findings]
    assert {rule: rules.count(rule) for rule in sorted(rules)} == FINDINGS[shape]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_results_are_the_reviewed_ones(shape: str) -> None:
    result = written(folder(shape), request(shape))
    assert result.files is not None
    expected = {path.name: path.read_text() for path in (DATA / shape / "expected").iterdir()}
    assert {**result.files, "Pulumi.acme.yaml": result.environment} == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_the_environment_file_passes_the_check(shape: str) -> None:
    result = written(folder(shape), request(shape))
    loaded = load_text(result.environment, Path("stacks/Pulumi.acme.yaml"))
    findings = check_report(loaded, date(2026, 11, 25)).findings
    assert {finding.rule for finding in findings} == TO_DO, findings
    assert all(finding.severity is not Severity.ERROR for finding in findings)
    # The same files follow from the environment alone, so that a later change of a pool needs no second adoption.
    assert loaded.environment is not None and result.files is not None
    assert existing_files(loaded.environment).items() <= result.files.items()


def on_disk(files: dict[str, str], target: Path) -> None:
    for path, text in files.items():
        (target / Path(path).name).write_text(text)


def contents(target: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in target.iterdir()}


def apply(patch: str, target: Path, *words: str) -> None:
    done = subprocess.run(["git", "apply", *words, "-"], cwd=target, input=patch, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape", SHAPES)
def test_the_patched_files_have_the_old_cluster_and_the_pool(shape: str, tmp_path: Path) -> None:
    files = folder(shape)
    before, _ = read(files)
    result = written(files, request(shape))
    assert result.files is not None
    on_disk(files, tmp_path)
    apply(result.files["slurm.diff"], tmp_path)
    on_disk({name: text for name, text in result.files.items() if name.startswith("landbridge")}, tmp_path)
    after, unread = read({f"/etc/slurm/{name}": text for name, text in contents(tmp_path).items()})
    assert unread == ()
    pool = {f"p5-{number}" for number in range(1, 9)}
    assert set(after.node_names) - set(before.node_names) == pool
    partitions = {partition.name: partition.nodes for partition in after.partitions}
    assert set(partitions.pop("p5")) == pool
    assert {name: set(nodes) for name, nodes in partitions.items()} == {
        partition.name: set(partition.nodes) for partition in before.partitions
    }
    # No DEFAULT line of the site is valid for the pool, and none of the pool for the site.
    added = next(nodes for nodes in after.nodes if "p5-1" in nodes.names)
    assert added.value("State") == "CLOUD" and not {"tmpdisk", "cpus"} & set(added.pairs)
    assert [(nodes.names, {key: pair.value for key, pair in nodes.pairs.items()}) for nodes in before.nodes] == [
        (nodes.names, {key: pair.value for key, pair in nodes.pairs.items()})
        for nodes in after.nodes
        if "p5-1" not in nodes.names
    ]
    for key in ("GresTypes", "SlurmctldParameters", "AccountingStorageTRES", "PrivateData"):
        assert set(before.words(key)) <= set(after.words(key))
    assert {"enable_configless", "idle_on_node_suspend"} <= set(after.words("SlurmctldParameters"))
    # No key that may have one value has two.
    assert all(len(after.settings[key]) == 1 for key in ("grestypes", "slurmctldparameters", "accountingstoragetres"))
    assert after.value("SuspendTime") == ""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_way_back_restores_every_byte(shape: str, tmp_path: Path) -> None:
    files = folder(shape)
    result = written(files, request(shape))
    assert result.files is not None
    on_disk(files, tmp_path)
    before = contents(tmp_path)
    apply(result.files["slurm.diff"], tmp_path)
    assert contents(tmp_path) != before
    apply(result.files["slurm.diff"], tmp_path, "-R")
    assert contents(tmp_path) == before
    back = result.files["way-back.md"]
    assert "patch -R -p1 < slurm.diff" in back and "State=DRAIN" in back
    assert all(name in back for name in result.files if name.startswith("landbridge"))


def test_a_file_without_a_final_newline_is_restored_too(tmp_path: Path) -> None:
    files = folder("openhpc")
    files[CONF] = files[CONF].rstrip("\n")
    result = written(files, request("openhpc"))
    assert result.files is not None
    on_disk(files, tmp_path)
    before = contents(tmp_path)
    apply(result.files["slurm.diff"], tmp_path)
    apply(result.files["slurm.diff"], tmp_path, "-R")
    assert contents(tmp_path) == before
