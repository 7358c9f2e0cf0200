"""`landbridge model archive` and `restore`: a registry in a bucket of the emulated S3, and another registry from it."""

from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.aws_api.objects import ObjectBucket
from landbridge.cli.main import build
from landbridge.live.models.registry import ModelRegistry
from tests.unit.live.datasets.conftest import StorageHost, host  # noqa: F401 - fixture
from tests.unit.models.conftest import Operator, operator, other_registry, registry_uri  # noqa: F401 - fixtures
from tests.unit.models.folders import onnx_bytes, write_folder


@pytest.fixture
def site(
    host: StorageHost,  # noqa: F811
    operator: Operator,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[StorageHost, Operator]:
    monkeypatch.chdir(host.folder)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return host, operator


def run(site: tuple[StorageHost, Operator], uri: str, *words: str, code: int = 0) -> str:
    checkout, person = site
    options = ["-s", "acme", "--class", "internal", "--outputs", str(checkout.folder / "outputs.json")]
    options += ["--tracking-uri", uri, "--trust", str(person.trust)]
    result = CliRunner().invoke(build(), ["model", *words, *options])
    assert result.exit_code == code, result.output
    return result.output


def test_an_empty_registry_gets_versions_history_and_aliases_from_the_archive(
    site: tuple[StorageHost, Operator],
    other_registry: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    checkout, person = site
    first = person.publish(write_folder(tmp_path / "a", onnx_bytes(11.0), "archived"))
    person.promote(first, "staging", "champion")
    person.publish(write_folder(tmp_path / "b", onnx_bytes(12.0), "archived"))
    printed = run(site, person.uri, "archive", "archived")
    assert printed.count("copied") == 3
    digests = {each.version: each.digest for each in ModelRegistry(person.uri).versions("archived")}
    assert checkout.keys("models/") == [
        *(f"models/archived/{version}-{digest[:16]}.tar" for version, digest in digests.items()),
        "models/archived/history/000004.json",
    ]
    assert run(site, person.uri, "archive", "archived").count("present") == 3
    printed = run(site, other_registry, "restore")
    assert "archived                 1          copied" in printed
    restored, origin = ModelRegistry(other_registry), ModelRegistry(person.uri)
    assert (
        restored.aliases("archived")
        == origin.aliases("archived")
        == {"candidate": "2", "staging": "1", "champion": "1"}
    )
    assert [each.digest for each in restored.versions("archived")] == [
        each.digest for each in origin.versions("archived")
    ]
    assert "copied" not in run(site, other_registry, "restore")
    # A later move of an alias is a further history, and no object is replaced.
    person.promote("archived/2", "staging")
    assert run(site, person.uri, "archive", "archived").count("copied") == 1
    run(site, other_registry, "restore")
    assert restored.aliases("archived")["staging"] == "2"


def test_an_unsigned_version_one_of_another_class_and_a_changed_bundle_are_refused(
    site: tuple[StorageHost, Operator],
    other_registry: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    checkout, person = site
    person.run("register", write_folder(tmp_path / "a", onnx_bytes(13.0), "unsigned"))
    assert "not signed" in run(site, person.uri, "archive", "unsigned", code=1)
    assert checkout.keys("models/unsigned/") == ["models/unsigned/history/000001.json"]
    ModelRegistry(person.uri).ensure("foreign")
    ModelRegistry(person.uri).create("foreign", {"landbridge.digest": "x", "landbridge.data_class": "restricted"})
    assert "of class restricted is not for the bucket of internal" in run(
        site, person.uri, "archive", "foreign", code=1
    )
    person.publish(write_folder(tmp_path / "b", onnx_bytes(14.0), "swapped"))
    run(site, person.uri, "archive", "swapped")
    bucket: ObjectBucket = checkout.operator
    (key, *_) = checkout.keys("models/swapped/")
    content = bytearray(bucket.get(key) or b"")
    content[3000] ^= 1
    bucket.put(key, bytes(content), sha256(bytes(content)).hexdigest())
    assert "swapped                  1          refused" in run(site, other_registry, "restore", code=1)
    assert ModelRegistry(other_registry).names().count("swapped") == 0


def test_a_model_that_was_deleted_and_created_again_is_refused_and_the_archive_keeps_the_former_one(
    site: tuple[StorageHost, Operator],
    other_registry: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    checkout, person = site
    person.publish(write_folder(tmp_path / "a", onnx_bytes(15.0), "again"))
    run(site, person.uri, "archive", "again")
    # A bundle of an earlier release, whose key has no digest.
    bucket: ObjectBucket = checkout.operator
    (key, *_) = checkout.keys("models/again/")
    content = bucket.get(key) or b""
    bucket.put("models/again/1.tar", content, sha256(content).hexdigest())
    ModelRegistry(person.uri)._client.delete_registered_model("again")
    person.publish(write_folder(tmp_path / "b", onnx_bytes(16.0), "again"))
    printed = run(site, person.uri, "archive", "again", code=1)
    assert printed.count("refused") == 2 and "was deleted and created again" in " ".join(printed.split())
    bucket.delete([key])
    assert "refused" not in run(site, person.uri, "archive", "again")
    assert "again                    1          copied" in run(site, other_registry, "restore")


def test_a_class_without_a_bucket_and_one_without_a_replica_are_refused(site: tuple[StorageHost, Operator]) -> None:
    refused = run(site, site[1].uri, "restore", "--region", "us-west-2", code=1)
    assert "no replica in us-west-2" in " ".join(refused.split())
