"""`landbridge model` on real MLflow servers: registration, signature, aliases, history, air-gap bundle and copies."""

import json
import pickle
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.live.models.registry import ModelRegistry
from tests.unit.core.samples import ROOT
from tests.unit.models.conftest import Operator
from tests.unit.models.folders import LINEAGE, onnx_bytes, write_folder

HYBRID = ROOT / "stacks/Pulumi.hybrid.yaml"


def folder(tmp_path: Path, name: str, bias: float = 0.0) -> Path:
    return write_folder(tmp_path / f"{name}-{bias}", onnx_bytes(bias), name, version="")


def shown(operator: Operator, name: str, uri: str | None = None) -> dict[str, list[str]]:
    data = json.loads(operator.run("show", name, "--format", "json", uri=uri).stdout)
    return {row["version"]: row["aliases"] for row in data["versions"]}


def test_a_version_goes_from_candidate_to_champion_and_back(operator: Operator, tmp_path: Path) -> None:
    first = operator.publish(folder(tmp_path, "life"))
    assert first == "life/1" and shown(operator, "life") == {"1": ["candidate"]}
    again = operator.run("register", tmp_path / "life-0.0").stdout
    assert again.startswith("life/1 ") and shown(operator, "life") == {"1": ["candidate"]}
    operator.promote(first, "staging", "champion")
    operator.promote(operator.publish(folder(tmp_path, "life", 1.0)), "staging", "champion")
    assert shown(operator, "life") == {"1": [], "2": ["candidate", "champion", "staging"]}
    rolled = operator.run("rollback", "life", "--reason", "errors", trust=True).stdout
    assert rolled == "life: champion 2 → 1\n"
    records = json.loads(operator.run("history", "life", "--format", "json").stdout)["records"]
    moves = [(record["alias"], record["before"], record["after"]) for record in records]
    assert moves == [
        ("candidate", "", "1"),
        ("staging", "", "1"),
        ("champion", "", "1"),
        ("candidate", "1", "2"),
        ("staging", "1", "2"),
        ("champion", "1", "2"),
        ("champion", "2", "1"),
    ]
    assert records[-1]["reason"] == "errors" and records[-1]["account"]
    at = json.loads(operator.run("history", "life", "--at", records[-1]["at"], "--format", "json").stdout)
    assert at["aliases"]["champion"] == "1"
    assert operator.run("history", "life", "--at", "2020-01-01").stdout == ""
    tags = ModelRegistry(operator.uri).version("life", "1").tags
    assert LINEAGE.tags().items() <= tags.items() and tags["landbridge.metric.accuracy"] == "0.97"
    assert tags["landbridge.signer"].startswith("acme model signer (serial ")


def test_moves_that_are_not_legal_are_refused(operator: Operator, tmp_path: Path) -> None:
    version = operator.publish(folder(tmp_path, "legal"))
    refused = operator.run("promote", version, "champion", "--reason", "x", trust=True, code=1)
    assert "version 1 is not staging" in refused.stderr
    assert "no version is champion" in operator.run("rollback", "legal", "--reason", "x", trust=True, code=1).stderr
    assert "no version is staging" in operator.run("verify", "legal@staging", trust=True, code=2).stderr
    assert shown(operator, "legal") == {"1": ["candidate"]}


def test_an_unsigned_version_does_not_become_staging(operator: Operator, tmp_path: Path) -> None:
    version = operator.run("register", folder(tmp_path, "unsigned")).stdout.split()[0]
    refused = operator.run("promote", version, "staging", "--reason", "x", trust=True, code=1)
    assert "the model is not signed" in refused.stderr
    assert shown(operator, "unsigned") == {"1": ["candidate"]}


def test_a_folder_of_a_program_is_signed_and_verified_without_a_server(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "llama").mkdir()
    (tmp_path / "llama/tokenizer.json").write_text("{}")
    runner, app, name = CliRunner(), build(), str(tmp_path / "llama")
    signed = runner.invoke(app, ["model", "sign", name, "--key", str(operator.key)])
    assert (signed.exit_code, signed.stdout) == (0, f"folder {name} is signed\n")
    verified = runner.invoke(app, ["model", "verify", name, "--trust", str(operator.trust)])
    assert verified.exit_code == 0 and verified.stdout.startswith(
        f"folder {name} is valid, signed by acme model signer (serial "
    )
    (tmp_path / "llama/modeling.py").write_text("")
    refused = runner.invoke(app, ["model", "verify", name, "--trust", str(operator.trust)])
    assert (refused.exit_code, "modeling.py" in refused.stderr) == (1, True)
    version = runner.invoke(app, ["model", "sign", "llama/1", "--key", str(operator.key)])
    assert (version.exit_code, "--tracking-uri" in version.stderr) == (2, True)


def test_files_replaced_in_the_registry_are_refused(operator: Operator, tmp_path: Path) -> None:
    version = operator.publish(folder(tmp_path, "replaced"))
    assert "is valid, signed by acme model signer" in operator.run("verify", version, trust=True).stdout
    registry = ModelRegistry(operator.uri)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/model.onnx").write_bytes(onnx_bytes(9.0))
    registry.upload(registry.version("replaced", "1"), tmp_path / "bad")
    for words in (["verify", version], ["promote", version, "staging", "--reason", "x"], ["fetch", version, tmp_path]):
        assert "it was replaced" in operator.run(*words, trust=True, code=1).stderr
    assert not (tmp_path / "replaced").exists()


def test_a_pickle_is_refused_at_registration(operator: Operator, tmp_path: Path) -> None:
    poisoned = write_folder(tmp_path / "p", pickle.dumps(print), "poisoned", version="")
    assert "a pickle, which runs code" in operator.run("register", poisoned, code=1).stderr
    assert "poisoned" not in ModelRegistry(operator.uri).names()


def test_a_registration_that_was_interrupted_goes_on(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder(tmp_path, "interrupted")
    with monkeypatch.context() as patch:
        patch.setattr(ModelRegistry, "upload", lambda *_: (_ for _ in ()).throw(OSError("no connection")))
        operator.run("register", path, code=2)
    data = json.loads(operator.run("show", "interrupted", "--format", "json").stdout)
    assert [(row["version"], row["complete"]) for row in data["versions"]] == [("1", False)]
    refused = operator.run("verify", "interrupted/1", trust=True, code=1)
    assert "is not complete" in refused.stderr
    assert operator.publish(path) == "interrupted/1"
    operator.run("verify", "interrupted/1", trust=True)


def test_an_alias_moved_by_hand_and_a_changed_record_are_findings(operator: Operator, tmp_path: Path) -> None:
    operator.promote(operator.publish(folder(tmp_path, "hand")), "staging")
    registry = ModelRegistry(operator.uri)
    registry.set_alias("hand", "champion", "1")
    assert "it was moved without a record" in operator.run("show", "hand", code=1).stderr
    tag = "landbridge.alias.000001"
    changed = registry.tags("hand")[tag].replace("registered", "approved by the board")
    registry._client.set_registered_model_tag("hand", tag, changed)
    assert "record 2 does not follow record 1" in operator.run("history", "hand", code=1).stderr
    operator.run("rollback", "hand", "--reason", "x", trust=True, code=1)


def test_an_air_gap_bundle_keeps_names_and_numbers(operator: Operator, other_registry: str, tmp_path: Path) -> None:
    operator.publish(folder(tmp_path, "gap"))
    version = operator.publish(folder(tmp_path, "gap", 1.0))
    bundle = tmp_path / "gap.tar"
    operator.run("export", version, bundle, trust=True)
    with tarfile.open(bundle) as archive:
        assert set(archive.getnames()) == {"SHA256SUMS", "history.json", "model.json", "model.onnx", "model.sig"}
    for _ in range(2):
        assert operator.run("import", bundle, trust=True, uri=other_registry).stdout == "gap/2 is registered\n"
    assert shown(operator, "gap", other_registry) == {"2": []}
    assert "is valid" in operator.run("verify", "gap/2", trust=True, uri=other_registry).stdout
    damaged = bytearray(bundle.read_bytes())
    place = damaged.index(b'"internal"')
    damaged[place : place + 10] = b'"publicly"'
    (tmp_path / "damaged.tar").write_bytes(damaged)
    refused = operator.run("import", tmp_path / "damaged.tar", trust=True, uri=other_registry, code=1)
    assert "model.json does not match its checksum" in refused.stderr


def test_copies_have_the_same_versions_and_aliases(operator: Operator, other_registry: str, tmp_path: Path) -> None:
    operator.promote(operator.publish(folder(tmp_path, "copied")), "staging", "champion")
    operator.publish(folder(tmp_path, "copied", 1.0))
    operator.run("register", folder(tmp_path, "copied", 2.0))
    words = ["sync", "copied", "--to", other_registry, "--file", HYBRID]
    first = operator.run(*words, trust=True, code=1).stdout.splitlines()
    assert [line.split()[1:3] for line in first] == [
        ["1", "copied"],
        ["2", "copied"],
        ["3", "refused"],
        ["candidate", "refused"],
        ["staging", "copied"],
        ["champion", "copied"],
    ]
    operator.run("sign", "copied/3", "--key", operator.key)
    operator.run(*words, trust=True)
    assert shown(operator, "copied", other_registry) == shown(operator, "copied")
    last = operator.run(*words, trust=True).stdout.splitlines()
    assert {line.split()[2] for line in last} == {"present"}


def test_a_model_whose_class_stays_on_prem_is_not_copied(
    operator: Operator, other_registry: str, tmp_path: Path
) -> None:
    operator.publish(folder(tmp_path, "restricted"))
    text = (Path(__file__).parents[3] / "stacks/Pulumi.hybrid.yaml").read_text()
    environment = tmp_path / "Pulumi.acme.yaml"
    environment.write_text(
        text.replace("internal:", "shared:", 1).replace("data_class: internal", "data_class: shared")
    )
    result = operator.run("sync", "restricted", "--to", other_registry, "--file", environment, trust=True, code=1)
    assert "models of class internal may not be in the target" in result.stdout
    assert "restricted" not in ModelRegistry(other_registry).names()


def test_a_server_that_does_not_answer_is_an_error(operator: Operator, tmp_path: Path) -> None:
    result = operator.run("register", folder(tmp_path, "nowhere"), uri="http://127.0.0.1:9", code=2)
    assert "127.0.0.1:9" in result.stderr and "Traceback" not in result.output
