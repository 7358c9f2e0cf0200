"""Commands `landbridge data`: results, refusals before a byte moves, prices and the ledger."""

import json
from pathlib import Path
from typing import Any

from tests.unit.live.datasets.conftest import StorageHost, contents


def parsed(host: StorageHost, *words: str) -> Any:
    done = host.data(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_dataset_goes_to_aws_and_back(host: StorageHost, source: Path, tmp_path: Path) -> None:
    put = parsed(host, "put", str(source), "corpus:v1", "--class", "internal", "--yes")
    assert (put["new"], put["files"], put["sent_bytes"]) == (True, 44, put["bytes"])
    charges = {charge["price"]: charge for charge in put["cost"]["charges"]}
    assert set(charges) == {"s3_standard_put", "s3_standard_get", "internet_in", "s3_standard"}
    assert all(charge["date"] and charge["source"] for charge in charges.values())
    listed = parsed(host, "list")
    assert [(row["dataset"], row["version"], row["data_class"], row["files"]) for row in listed] == [
        ("corpus", "v1", "internal", 44)
    ]
    folder, store = tmp_path / "site/corpus", tmp_path / "site/store"
    staged = parsed(host, "stage", "corpus", str(folder), "--store", str(store), "--yes", "--limit", "800")
    assert contents(folder) == contents(source) and staged["read_bytes"] == put["bytes"]
    assert [charge["price"] for charge in staged["cost"]["charges"]][-1] == "internet_out_first_10_tb"
    # Nothing is read, so nothing is asked.
    again = parsed(host, "stage", "corpus:v1", str(tmp_path / "site/second"), "--store", str(store))
    assert (again["read_bytes"], again["links"]) == (0, 44)
    assert host.data("verify", "corpus").returncode == 0
    assert host.data("verify", "corpus:v1", "--folder", str(folder)).returncode == 0
    ledger = host.data("cost")
    assert ledger.returncode == 0 and "no transfers without an end" in ledger.stdout
    lines = [
        json.loads(line)
        for line in (host.folder / "home").rglob("data-ledger.jsonl").__next__().read_text().splitlines()
    ]
    assert [(line["event"], line.get("command")) for line in lines] == [
        ("begin", "put"), ("end", None), ("begin", "stage"), ("end", None), ("begin", "stage"), ("end", None),
    ]  # fmt: skip


def test_a_class_that_may_not_be_in_aws_is_refused_before_any_call(host: StorageHost, source: Path) -> None:
    host.cloud.control(reset=True)
    done = host.data("put", str(source), "patients", "--class", "restricted", "--yes")
    assert done.returncode == 1
    assert "data of class restricted may not be in AWS" in done.stderr and "dataset-class" in done.stderr
    assert "Pulumi.acme.yaml:12:" in done.stderr
    unknown = host.data("put", str(source), "patients", "--class", "internl", "--yes")
    assert unknown.returncode == 1 and 'did you mean "internal"?' in unknown.stderr
    assert host.cloud.control()["total"] == 0


def test_credentials_of_another_role_or_of_a_user_are_refused(host: StorageHost, source: Path) -> None:
    host.credentials.write_text(host.cloud.operator_credentials.read_text().replace("[default]", "[mover]"))
    done = host.data("put", str(source), "corpus", "--class", "internal", "--yes")
    assert done.returncode == 1 and "not a session of" in done.stderr
    assert host.keys() == []
    host.credentials.write_text("[other]\naws_access_key_id = AKIA\naws_secret_access_key = x\n")
    assert host.data("list").returncode == 2


def test_files_that_a_dataset_cannot_have_are_refused_before_any_call(host: StorageHost, source: Path) -> None:
    (source / "link").symlink_to("empty")
    host.cloud.control(reset=True)
    done = host.data("put", str(source), "corpus", "--class", "internal", "--yes")
    assert done.returncode == 1 and "symbolic link" in done.stderr and host.cloud.control()["total"] == 0


def test_a_price_is_confirmed(host: StorageHost, source: Path) -> None:
    done = host.data("put", str(source), "corpus", "--class", "internal")
    assert done.returncode == 2 and "--yes" in done.stderr and "price of 20" in done.stderr
    assert host.keys() == []
    cost = host.data("cost", "--put", str(source), "--class", "internal")
    assert cost.returncode == 0 and "for the transfer" in cost.stdout and "a month" in cost.stdout


def test_unusable_arguments_and_absent_datasets_are_reported(host: StorageHost, source: Path, tmp_path: Path) -> None:
    assert host.data("put", str(source), "Corpus", "--class", "internal").returncode == 2
    assert host.data("put", str(source / "empty"), "corpus", "--class", "internal").returncode == 2
    host.put(source, version="v1")
    absent = host.data("stage", "corpsu", str(tmp_path / "x"))
    assert absent.returncode == 1 and 'did you mean "corpus"?' in absent.stderr
    assert host.data("stage", "corpus:v9", str(tmp_path / "x"), "--yes").returncode == 1
    outputs = host.folder / "outputs.json"
    outputs.write_text("{}")
    unread = host.data("list")
    assert unread.returncode == 2 and "dataset-outputs" in unread.stderr


def test_gc_lists_first_and_needs_an_operator(host: StorageHost, source: Path) -> None:
    host.put(source, version="v1")
    host.operator.delete(["datasets/manifests/corpus/v1.json"])
    listed = host.data("gc", "--older-than", "0", mover=False)
    assert listed.returncode == 0 and "7 objects" in listed.stdout and "to delete" in listed.stdout
    assert "0 objects" in host.data("gc", mover=False).stdout
    assert len(host.keys("datasets/objects/")) == 7
    denied = host.data("gc", "--older-than", "0", "--delete", "--profile", "mover")
    assert denied.returncode != 0 and len(host.keys("datasets/objects/")) == 7
    deleted = host.data("gc", "--older-than", "0", "--delete", mover=False)
    assert deleted.returncode == 0 and "7 objects" in deleted.stdout and host.keys("datasets/objects/") == []
