"""Program that copies objects between the site's object store and AWS, with the emulated S3 on both sides."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.cluster import wait_for
from tests.unit.aws_emulator.conftest import client_of

PROGRAM = Path(__file__).parents[3] / "ansible/roles/object_store/files/landbridge-object-copy"
STORE, HUB = "acme-internal", "acme-internal-123456789012"


@dataclass
class Copies:
    """Two buckets, the program's settings, and its runs."""

    cloud: EmulatorProcess
    folder: Path

    @property
    def s3(self) -> Any:
        return client_of(self.cloud, "s3")

    def start(self) -> "subprocess.Popen[str]":
        place = {"endpoint": self.cloud.endpoint, "region": "us-east-1", "ca": ""}
        lines = self.cloud.operator_credentials.read_text().splitlines()
        keys = dict(line.split(" = ") for line in lines if " = " in line)
        account = {"access": keys["aws_access_key_id"], "secret": keys["aws_secret_access_key"]}
        (self.folder / "users.json").write_text(json.dumps({"accessAccounts": {"copies-internal": account}}))
        profiles = self.cloud.operator_credentials.read_text().replace("[default]", "[mover]")
        (self.folder / "profiles").write_text(profiles)
        pair = {"access_key": "copies-internal"}
        settings = {
            "state": str(self.folder),
            "store": {**place, "keys": str(self.folder / "users.json")},
            "hub": {**place, "profiles": str(self.folder / "profiles"), "profile": "mover"},
            "copies": [
                {"from": "store", "source": STORE, "target": HUB, "prefix": "site/", **pair},
                {"from": "hub", "source": HUB, "target": STORE, "prefix": "aws/", **pair},
            ],
        }
        path = self.folder / "copies.json"
        path.write_text(json.dumps(settings))
        environ = {"PATH": os.environ["PATH"], "AWS_EC2_METADATA_DISABLED": "true"}
        command = [sys.executable, "-I", str(PROGRAM), str(path)]
        return subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder
        )

    def run(self) -> list[str]:
        process = self.start()
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        return output.splitlines()

    def put(self, bucket: str, key: str, body: str) -> None:
        self.s3.put_object(Bucket=bucket, Key=key, Body=body.encode(), Metadata={"of": "test"})

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        return [entry["Key"] for entry in self.s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", ())]

    def read(self, bucket: str, key: str) -> tuple[str, dict[str, str]]:
        answer = self.s3.get_object(Bucket=bucket, Key=key)
        return answer["Body"].read().decode(), answer["Metadata"]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent") as process:
        yield process


@pytest.fixture
def copies(cloud: EmulatorProcess, tmp_path: Path) -> Copies:
    cloud.control(wipe=True)
    both = Copies(cloud, tmp_path)
    for bucket in (STORE, HUB):
        both.s3.create_bucket(Bucket=bucket)
    return both


def test_objects_of_each_prefix_go_in_its_direction_only(copies: Copies) -> None:
    copies.put(STORE, "site/a", "of the site")
    copies.put(STORE, "private/x", "stays")
    copies.put(HUB, "aws/b", "of aws")
    copies.put(HUB, "site/foreign", "never goes back")
    assert copies.run() == [
        f"{STORE} -> {HUB} (site/): 1 copied, 0 failed",
        f"{HUB} -> {STORE} (aws/): 1 copied, 0 failed",
    ]
    assert copies.keys(STORE) == ["aws/b", "private/x", "site/a"]
    assert copies.keys(HUB) == ["aws/b", "site/a", "site/foreign"]
    assert copies.read(HUB, "site/a") == ("of the site", {"of": "test"})


def test_a_second_run_copies_only_what_has_changed(copies: Copies) -> None:
    copies.put(STORE, "site/a", "one")
    copies.put(STORE, "site/b", "one")
    copies.run()
    # Of equal size; and an object that the target has lost.
    copies.put(STORE, "site/a", "two")
    copies.s3.delete_object(Bucket=HUB, Key="site/b")
    copies.s3.delete_object(Bucket=STORE, Key="site/gone")
    assert copies.run()[0] == f"{STORE} -> {HUB} (site/): 2 copied, 0 failed"
    assert copies.read(HUB, "site/a")[0] == "two"
    assert copies.run()[0] == f"{STORE} -> {HUB} (site/): 0 copied, 0 failed"
    copies.s3.delete_object(Bucket=STORE, Key="site/a")
    assert copies.run()[0].endswith("0 copied, 0 failed") and "site/a" in copies.keys(HUB), "nothing is deleted"


def test_a_run_that_was_killed_is_continued_by_the_next_one(copies: Copies) -> None:
    bodies = {f"site/{number:03}": f"body {number}" for number in range(60)}
    for key, body in bodies.items():
        copies.put(STORE, key, body)
    process = copies.start()
    wait_for("a first copy", lambda: copies.keys(HUB, "site/"), bool)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    copies.run()
    assert {key: copies.read(HUB, key)[0] for key in copies.keys(HUB, "site/")} == bodies
    assert copies.run()[0].endswith("0 copied, 0 failed")


def test_a_failed_listing_fails_the_run_and_not_the_other_copy(copies: Copies) -> None:
    copies.put(HUB, "aws/b", "of aws")
    copies.put(STORE, "site/a", "x")
    (copies.folder / f"store-{STORE}.json.new").mkdir()
    process = copies.start()
    output, errors = process.communicate()
    assert process.returncode == 1 and "IsADirectoryError" in errors
    assert output.splitlines() == [f"{HUB} -> {STORE} (aws/): 1 copied, 0 failed"]
