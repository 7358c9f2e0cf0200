"""Pass of the timer that archives models, with a session of the role `archive` in the emulated AWS."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge.aws_api.objects import DataAccess, ObjectBucket, TransferRate
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.cli.main import build
from landbridge.live.models.archive import archive as archived
from landbridge.live.models.archive import restore as restored
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.signers import trust_of
from landbridge.plan.aws.access.iam_policies import NO_OBJECTS, ArnContext, archive
from landbridge.plan.outputs import StackOutputs
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.live.datasets.conftest import ACCOUNT, BUCKET, REGION, StorageHost, host  # noqa: F401 - fixture
from tests.unit.models.conftest import Operator, operator, other_registry, registry_uri  # noqa: F401 - fixtures
from tests.unit.models.folders import manifest_of, onnx_bytes, write_folder

SUM = sha256(b"x").hexdigest()
PLACE = ArnContext("acme", "aws", REGION, ACCOUNT)


@dataclass(frozen=True)
class Timer:
    """Unit of the timer: its credentials and the file of its metrics."""

    host: StorageHost
    person: Operator
    credentials: Path

    @property
    def bucket(self) -> ObjectBucket:
        access = DataAccess(REGION, self.host.cloud.endpoint, "default", str(self.credentials))
        return access.bucket(BUCKET, 4, TransferRate(None), None)

    @property
    def metrics(self) -> Path:
        return self.host.folder / "landbridge-timer-archive.prom"

    def run(self, *words: str, code: int = 0, data_class: str = "internal") -> str:
        options = ["-s", "acme", "--class", data_class, "--outputs", str(self.host.folder / "outputs.json")]
        options += ["--tracking-uri", self.person.uri, "--trust", str(self.person.trust)]
        line = ["model", "archive", *words, *options, "--metrics", str(self.metrics)]
        result = CliRunner().invoke(build(), line)
        assert result.exit_code == code, result.output
        return result.output

    def bundle(self, name: str, workspace: str = "") -> str:
        """Return the key of the first version."""
        version = ModelRegistry(self.person.uri).version(name, "1")
        return f"models/{workspace}{name}/1-{version.digest[:16]}.tar"

    def ended(self) -> float:
        """Return the end of the last pass by its metrics."""
        text = self.metrics.read_text()
        (value,) = re.findall(r'completed_timestamp_seconds\{timer="archive"\} (\S+)$', text, re.MULTILINE)
        return float(value)


@pytest.fixture
def timer(
    host: StorageHost,  # noqa: F811
    operator: Operator,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> Timer:
    iam, sts = client_of(host.cloud, "iam"), client_of(host.cloud, "sts")
    outputs = StackOutputs.model_validate_json((host.folder / "outputs.json").read_text())
    statements = archive([f"arn:aws:s3:::{BUCKET}"], [outputs.data_hub.buckets["internal"].key_arn], PLACE)
    trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="acme-archive", AssumeRolePolicyDocument=_document([trust]))
    iam.put_role_policy(RoleName="acme-archive", PolicyName="landbridge", PolicyDocument=_document(statements))
    role = f"arn:aws:iam::{ACCOUNT}:role/acme-archive"
    keys = sts.assume_role(RoleArn=role, RoleSessionName="ctl01")["Credentials"]
    file = host.folder / "aws-credentials-model-archive"
    file.write_text(
        f"[default]\naws_access_key_id = {keys['AccessKeyId']}\naws_secret_access_key = {keys['SecretAccessKey']}\n"
        f"aws_session_token = {keys['SessionToken']}\n"
    )
    monkeypatch.chdir(host.folder)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    return Timer(host, operator, file)


def _document(statements: list[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def test_a_pass_writes_with_the_role_and_a_second_one_writes_nothing(timer: Timer, tmp_path: Path) -> None:
    timer.person.publish(write_folder(tmp_path / "a", onnx_bytes(21.0), "timed"))
    assert timer.run("timed").count("copied") == 2
    first, written = timer.ended(), {facts.key: facts.etag for facts in timer.host.operator.list("models/timed/")}
    assert sorted(written) == [timer.bundle("timed"), "models/timed/history/000001.json"]
    versions = client_of(timer.host.cloud, "s3").list_object_versions(Bucket=BUCKET, Prefix="models/timed/")["Versions"]
    assert timer.run("timed").count("present") == 2 and timer.ended() >= first
    later = client_of(timer.host.cloud, "s3").list_object_versions(Bucket=BUCKET, Prefix="models/timed/")["Versions"]
    assert [each["VersionId"] for each in later] == [each["VersionId"] for each in versions]


def test_the_role_adds_objects_and_neither_reads_replaces_nor_deletes_one(timer: Timer) -> None:
    bucket, operators = timer.bucket, timer.host.operator
    operators.put("models/m/1.tar", b"x", SUM)
    operators.put("mlflow/run", b"x", SUM)
    assert bucket.put("models/m/2.tar", b"x", SUM, if_absent=True)
    assert not bucket.put("models/m/1.tar", b"y", sha256(b"y").hexdigest(), if_absent=True)
    assert {facts.key for facts in bucket.list("models/")} >= {"models/m/1.tar", "models/m/2.tar"}
    attempts: dict[str, Callable[[], object]] = {
        "replace": lambda: bucket.put("models/m/1.tar", b"x", SUM),
        "write elsewhere": lambda: bucket.put("mlflow/other", b"x", SUM, if_absent=True),
        "read": lambda: bucket.get("models/m/1.tar"),
        "read a run": lambda: bucket.get("mlflow/run"),
        "delete": lambda: bucket.delete(["models/m/1.tar"]),
        "list runs": lambda: list(bucket.list("mlflow/")),
        "list all": lambda: list(bucket.list("")),
    }
    for name, attempt in attempts.items():
        with pytest.raises(AwsRefusal) as refused:
            attempt()
        assert refused.value.code == "AccessDenied", name
    assert operators.get("models/m/1.tar") == b"x" and operators.get("mlflow/other") is None


def test_an_upload_that_was_cut_off_leaves_no_object_and_the_next_pass_writes_it(
    timer: Timer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        timer.person.publish(write_folder(tmp_path / str(number), onnx_bytes(30.0 + number), "halved"))
    put, uploads = ObjectBucket.put, []

    def cut_off(self: ObjectBucket, key: str, *words: Any, **named: Any) -> bool:
        uploads.append(key)
        if len(uploads) == 2:
            raise KeyboardInterrupt
        return put(self, key, *words, **named)

    monkeypatch.setattr(ObjectBucket, "put", cut_off)
    timer.run("halved", code=130)
    monkeypatch.setattr(ObjectBucket, "put", put)
    assert timer.host.keys("models/halved/") == [timer.bundle("halved")] and not timer.metrics.exists()
    printed = timer.run("halved")
    assert (printed.count("copied"), printed.count("present")) == (2, 1)


def test_a_first_pass_that_fails_has_a_series_for_the_alert_and_a_later_one_keeps_the_last_end(
    timer: Timer, tmp_path: Path
) -> None:
    timer.person.publish(write_folder(tmp_path / "a", onnx_bytes(41.0), "late"))
    iam = client_of(timer.host.cloud, "iam")
    iam.put_role_policy(RoleName="acme-archive", PolicyName="landbridge", PolicyDocument=_document([NO_OBJECTS]))
    assert "is missing" in timer.run("late", code=2)
    assert timer.ended() == 0
    statements = archive([f"arn:aws:s3:::{BUCKET}"], ["*"], PLACE)
    iam.put_role_policy(RoleName="acme-archive", PolicyName="landbridge", PolicyDocument=_document(statements))
    timer.run("late")
    ended = timer.ended()
    assert ended > 0
    iam.put_role_policy(RoleName="acme-archive", PolicyName="landbridge", PolicyDocument=_document([NO_OBJECTS]))
    timer.run("late", code=2)
    assert timer.ended() == ended


def test_models_that_must_stay_on_prem_are_refused_by_the_file_and_by_the_signed_manifest(
    timer: Timer, tmp_path: Path
) -> None:
    # Outputs of a time when the class was permitted in AWS.
    file = timer.host.folder / "outputs.json"
    data = json.loads(file.read_text())
    data["data_hub"]["buckets"]["restricted"] = data["data_hub"]["buckets"]["internal"]
    file.write_text(json.dumps(data))
    assert "may not be in AWS" in " ".join(timer.run(code=1, data_class="restricted").split())
    weights, folder = onnx_bytes(51.0), write_folder(tmp_path / "a", onnx_bytes(51.0), "secret")
    manifest = replace(manifest_of(weights, "secret"), data_class="restricted")
    (folder / "model.json").write_text(manifest.to_json())
    timer.person.publish(folder)
    registry = ModelRegistry(timer.person.uri)
    assert "of class restricted is not for the bucket" in timer.run("secret", code=1)
    # The tag is a label of MLflow; the manifest is signed.
    registry.set_tags(registry.version("secret", "1"), {"landbridge.data_class": "internal"})
    assert "a model of class restricted" in timer.run("secret", code=1)
    assert timer.host.keys("models/secret/") == []


def test_models_of_a_workspace_have_keys_of_their_own(timer: Timer, tmp_path: Path) -> None:
    timer.person.publish(write_folder(tmp_path / "a", onnx_bytes(61.0), "shared"))
    registry, trust = ModelRegistry(timer.person.uri), trust_of([timer.person.trust.read_text()], ())
    steps = list(archived(registry, ["shared"], trust, "internal", timer.bucket, "vision"))
    assert [step.state for step in steps] == ["copied", "copied"]
    assert timer.host.keys("models/") == [
        timer.bundle("shared", "_vision/"),
        "models/_vision/shared/history/000001.json",
    ]
    # The default workspace has other keys, and neither sees the other's.
    operators = timer.host.operator
    assert [step.state for step in archived(registry, ["shared"], trust, "internal", timer.bucket)] == ["copied"] * 2
    assert {step.name for step in restored(registry, trust, "internal", operators)} == {"shared"}
    assert {step.state for step in restored(registry, trust, "internal", operators, "vision")} == {"present"}
    assert list(restored(registry, trust, "internal", operators, "lab")) == []
