"""Transfers whose process is killed at a number of requests, and repeated: nothing partial is visible, no object is sent
twice except those in flight.
"""

import hashlib
import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.live.datasets import check_objects, find_manifest, versions
from sandbox.demo.cluster import wait_for
from tests.thorough import LONG
from tests.unit.live.datasets.conftest import ROOT, StorageHost, contents

WORKERS = 3
#: Blocks of the fixture `source`: six of the large file, one pack. A put writes its marker first.
BLOCKS = 7
SEED = 20
KILLS = sorted(random.Random(SEED).sample(range(1, BLOCKS), 5 if LONG else 2))


def transfer(host: StorageHost, **words: str) -> "subprocess.Popen[str]":
    words |= {"endpoint": host.cloud.endpoint, "credentials": str(host.credentials), "workers": str(WORKERS)}
    command = [sys.executable, "-m", "tests.unit.live.datasets.transfer", json.dumps(words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def finished(process: "subprocess.Popen[str]") -> int:
    output, _ = process.communicate()
    assert process.returncode == 0
    return int(output)


def kill_at(host: StorageHost, method: str, calls: int, fault: dict[str, Any], **words: str) -> int:
    """Run a transfer, hold its call after `calls` further ones, and kill its process; return the number of calls."""
    host.cloud.control(reset=True, faults={f"s3:{method}": [{"times": calls}, {"hold": 3600, **fault}]})
    process = transfer(host, **words)
    wait_for("the held call", lambda: host.cloud.control()["held"], {f"s3:{method}": 1}.__eq__)
    count = int(host.cloud.control()["calls"][f"s3:{method}"])
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    if process.stdout:
        process.stdout.close()
    host.cloud.control(reset=True)
    return count


@pytest.mark.parametrize("written", KILLS)
def test_a_killed_put_is_continued(host: StorageHost, source: Path, written: int) -> None:
    # The call that is cut off takes no effect, as that of a machine without power.
    kill_at(host, "PUT", 1 + written, {"cut": True}, source=str(source))
    present = len(host.keys("datasets/objects/"))
    assert written <= present < BLOCKS
    assert versions(host.bucket()) == [] and find_manifest(host.bucket(), "corpus", "v1") is None
    assert finished(transfer(host, source=str(source))) == BLOCKS - present
    manifest = find_manifest(host.bucket(), "corpus", "v1")
    assert manifest is not None and check_objects(host.bucket(), manifest) == []
    assert len(host.keys("datasets/objects/")) == BLOCKS


@pytest.mark.parametrize("fault", [{"cut": True}, {}], ids=["the manifest was not written", "it was written"])
def test_a_put_that_is_killed_at_its_manifest_sends_no_block_again(
    host: StorageHost, source: Path, fault: dict[str, Any]
) -> None:
    kill_at(host, "PUT", 1 + BLOCKS, fault, source=str(source))
    assert len(host.keys("datasets/objects/")) == BLOCKS
    wait_for("the answer", lambda: host.cloud.control()["held"], {}.__eq__)
    assert finished(transfer(host, source=str(source))) == 0
    assert [version.version for version in versions(host.bucket())] == ["v1"]


@pytest.mark.parametrize("read", KILLS)
def test_a_killed_stage_is_continued(host: StorageHost, source: Path, tmp_path: Path, read: int) -> None:
    host.put(source, version="v1")
    words = {"folder": str(tmp_path / "staged"), "store": str(tmp_path / "store")}
    blocks_read = kill_at(host, "GET", 1 + read, {"cut": True}, **words) - 1  # the manifest
    assert not (tmp_path / "staged").exists()
    for path in (tmp_path / "store/files").rglob("*"):
        if path.is_file():
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name.removesuffix("-x")
    again = finished(transfer(host, **words))
    # Blocks that were in flight are read again.
    assert again >= 1 and BLOCKS <= blocks_read + again <= BLOCKS + WORKERS
    assert contents(tmp_path / "staged") == contents(source)
    assert not list((tmp_path / "store/partial").iterdir())
