"""Mover with the emulated AWS: copies to both sites, refusals, and processes that are killed at a number of requests."""

import dataclasses
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.datasets import DATASET_FILE, manifest_key, object_key
from landbridge.live.datasets import find_manifest
from landbridge.live.staging.mover import Mover
from landbridge.staging.places import DataReport, DatasetPlace
from sandbox.demo.cluster import wait_for
from tests.thorough import LONG
from tests.unit.live.datasets.conftest import ROOT, SMALL, contents
from tests.unit.live.staging.conftest import MoverHost

IN_AWS, AT_SITE = DatasetPlace("corpus:v1", "internal", "aws"), DatasetPlace("corpus:v1", "internal", "onprem")
PREFIX = "datasets/files/corpus/v1/"


def files_in_aws(mover: MoverHost) -> dict[str, bytes]:
    bucket = mover.host.operator
    keys = mover.host.keys(PREFIX)
    return {key.removeprefix(PREFIX): bucket.get(key) or b"" for key in keys if not key.endswith(DATASET_FILE)}


def test_data_are_copied_to_both_sites_once(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS, AT_SITE)
    mover.run()
    expected = contents(source)
    assert files_in_aws(mover) == {path: body for path, (body, _) in expected.items()}
    assert contents(mover.config.folder / "internal/corpus/v1") == expected
    assert mover.report(IN_AWS).path == "/fsx/internal/datasets/files/corpus/v1"
    assert mover.report(AT_SITE).path == "/home/datasets/internal/corpus/v1"
    bucket = mover.host.operator
    described = json.loads(bucket.get(PREFIX + DATASET_FILE) or b"")
    assert (described["name"], described["version"]) == ("corpus", "v1")
    executable = bucket.head(PREFIX + "run.sh")
    assert executable is not None and executable.metadata["file-permissions"] == "0100555"
    lines = [json.loads(line) for line in mover.config.ledger.read_text().splitlines()]
    assert [(line["event"], line.get("command")) for line in lines] == [
        *[("begin", "place"), ("end", None), ("begin", "stage"), ("end", None)]
    ]
    mover.run()
    assert len(mover.config.ledger.read_text().splitlines()) == len(lines)


def test_a_version_that_is_deleted_and_put_again_is_not_the_former_one(
    mover: MoverHost, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS, AT_SITE)
    monkeypatch.setattr("landbridge.live.staging.mover.MANIFEST_SECONDS", 0.0)
    running = Mover(mover.config, mover.lines.append)
    while running.cycle():
        pass
    assert (mover.report(IN_AWS).state, mover.report(AT_SITE).state) == ("present", "present")
    # As docs/how-to/move-a-dataset.md removes a version.
    mover.host.operator.delete([manifest_key("corpus", "v1")])
    (source / "added").write_text("other content")
    mover.host.put(source, version="v1")
    while running.cycle():
        pass
    assert mover.report(AT_SITE).state == "refused" and "was deleted and put again" in mover.report(AT_SITE).text
    assert mover.report(IN_AWS).state == "present"
    assert files_in_aws(mover)["added"] == b"other content"
    shutil.rmtree(mover.config.folder / "internal/corpus/v1")
    mover.run()
    assert (mover.config.folder / "internal/corpus/v1/added").read_text() == "other content"


def run_later(mover: MoverHost, days: float) -> DataReport:
    """Run the mover with a clock that is ahead, and return its report about the copy in AWS."""
    later = Mover(mover.config, mover.lines.append, clock=lambda: datetime.now(UTC) + timedelta(days=days))
    while later.cycle():
        pass
    return mover.report(IN_AWS)


def test_files_that_vanish_or_change_are_found_after_a_day_and_written_again(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS)
    mover.run()
    bucket, expected = mover.host.operator, files_in_aws(mover)
    by_size = sorted((path for path, body in expected.items() if body), key=lambda path: len(expected[path]))
    changed, deleted = by_size[0], by_size[-1]
    other = bytes(len(expected[changed]))
    assert bucket.put(PREFIX + changed, other, hashlib.sha256(other).hexdigest()) and other != expected[changed]
    assert bucket.delete([PREFIX + deleted]) == {}
    mover.request(IN_AWS, copy=False)
    assert run_later(mover, 0.5).state == "present"  # it was complete half a day ago
    report = run_later(mover, 2)
    assert (report.state, report.left) == ("absent", len(expected[changed]) + len(expected[deleted]))
    mover.request(IN_AWS)
    assert run_later(mover, 2).state == "present" and files_in_aws(mover) == expected


def test_a_copy_of_an_earlier_release_is_compared_file_by_file_once(mover: MoverHost, source: Path) -> None:
    """Its description was written again each day, whatever had become of the files."""
    mover.host.put(source, version="v1")
    mover.request(IN_AWS)
    mover.run()
    bucket, expected = mover.host.operator, files_in_aws(mover)
    changed = next(path for path, body in expected.items() if body)
    other = bytes(len(expected[changed]))
    bucket.put(PREFIX + changed, other, hashlib.sha256(other).hexdigest())
    facts, body = bucket.head(PREFIX + DATASET_FILE), bucket.get(PREFIX + DATASET_FILE)
    assert facts is not None and body is not None
    digest = {"digest": facts.metadata["digest"]}
    bucket.put(PREFIX + DATASET_FILE, body, hashlib.sha256(body).hexdigest(), metadata=digest)
    mover.run()
    assert files_in_aws(mover) == expected and mover.report(IN_AWS).state == "present"


def test_a_checked_copy_is_in_use_and_costs_no_call_for_each_file(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS)
    mover.run()
    before = mover.host.operator.head(PREFIX + DATASET_FILE)
    time.sleep(1.1)  # S3 has whole seconds: files of the description's second are compared again
    assert run_later(mover, 2).state == "present"
    mover.host.cloud.control(reset=True)
    assert run_later(mover, 2).state == "present"
    calls = mover.host.cloud.control()["calls"]
    assert calls["s3:PUT"] == 1 and calls["s3:HEAD"] == 1, calls
    after = mover.host.operator.head(PREFIX + DATASET_FILE)
    assert before is not None and after is not None and after.modified > before.modified


def test_s3_copies_large_files_itself(mover: MoverHost, tmp_path: Path) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    body = b"".join(bytes([number]) * 2**20 for number in range(11))
    (folder / "shard").write_bytes(body)
    (folder / "small").write_bytes(b"small")
    (folder / "tiny").write_bytes(b"t")
    facts = SMALL.model_copy(update={"block_mib": SMALL.block_mib.model_copy(update={"value": 5})})
    mover.host.put(folder, version="v1", facts=facts)
    mover.request(IN_AWS)
    mover.run()
    assert files_in_aws(mover) == {"shard": body, "small": b"small", "tiny": b"t"}
    (end,) = [line for line in map(json.loads, mover.config.ledger.read_text().splitlines()) if line["event"] == "end"]
    assert end["read_bytes"] == 6 and end["bytes"] == len(body) + 6
    assert end["calls"]["upload_part_copy"] == 3


def test_an_estimate_copies_nothing(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS, AT_SITE, copy=False)
    mover.run(limit_mbps=8.0)
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    report = mover.report(AT_SITE)
    assert (report.state, report.size, report.left) == ("absent", size, size)
    assert report.seconds == size / 1e6
    assert report.usd == pytest.approx(0.09 * size / 2**30 + 0.0004 * 8 / 1000)
    assert mover.host.keys(PREFIX) == []


REFUSALS = {
    DatasetPlace("absent:v1", "internal", "aws"): "no dataset absent:v1 is in the bucket",
    DatasetPlace("corpus:v2", "internal", "onprem"): "no dataset corpus:v2",
    DatasetPlace("corpus:v1", "restricted", "aws"): "data of class restricted may not be in AWS",
    DatasetPlace("corpus:v1", "restricted", "onprem"): "does not exist, and its class has no bucket",
    DatasetPlace("../x:v1", "internal", "onprem"): "is not a name of a dataset",
    DatasetPlace("corpus:v1", "", "aws"): "no data class (none)",
}


def test_a_refusal_has_its_reason(mover: MoverHost) -> None:
    # The site's own programs put the folders of a class without a bucket.
    (mover.config.folder / "restricted/scans/1").mkdir(parents=True)
    scans = DatasetPlace("scans:1", "restricted", "onprem")
    mover.request(*REFUSALS, scans)
    mover.run()
    for place, text in REFUSALS.items():
        report = mover.report(place)
        assert report.state == "refused" and text in report.text
    assert mover.report(scans).state == "present"


def test_a_damaged_object_is_refused_and_nothing_is_visible(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    manifest = find_manifest(mover.host.operator, "corpus", "v1")
    assert manifest is not None
    key = object_key(manifest.content.blocks[-1].sha256)
    mover.host.operator.put(key, b"other", "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa")
    # Other credentials cannot read it: the place is absent, and is tried again.
    mover.request(IN_AWS)
    mover.run(profile="default", credentials=str(mover.host.folder / "absent"))
    assert mover.report(IN_AWS).state == "absent" and mover.report(IN_AWS).text
    mover.run()
    assert mover.report(IN_AWS).state == "refused" and "damaged" in mover.report(IN_AWS).text
    assert PREFIX + DATASET_FILE not in mover.host.keys(PREFIX)


def test_a_manifest_of_a_hundred_thousand_levels_stops_no_other_dataset(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    deep = b"[" * 100_000
    mover.host.operator.put(manifest_key("deep", "v1"), deep, hashlib.sha256(deep).hexdigest())
    other = DatasetPlace("deep:v1", "internal", "onprem")
    mover.request(other, IN_AWS)
    mover.run()
    assert mover.report(other).state == "refused" and "RecursionError" in mover.report(other).text
    assert mover.report(IN_AWS).state == "present"


KILLS = random.Random(20).sample(range(1, 40), 6 if LONG else 1)


@pytest.mark.parametrize("calls", KILLS)
def test_a_killed_mover_continues(mover: MoverHost, source: Path, calls: int) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS)
    cloud = mover.host.cloud
    cloud.control(reset=True, faults={"s3:PUT": [{"times": calls}, {"hold": 3600, "cut": True}]})
    command = [sys.executable, "-m", "landbridge.live.staging.service", "--config", str(mover.config_file), "--once"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for("the held call", lambda: cloud.control()["held"], {"s3:PUT": 1}.__eq__)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    cloud.control(reset=True)
    present = mover.host.keys(PREFIX)
    assert PREFIX + DATASET_FILE not in present and len(present) >= calls
    subprocess.run(command, cwd=ROOT, check=True)
    assert mover.report(IN_AWS).state == "present"
    assert files_in_aws(mover) == {path: body for path, (body, _) in contents(source).items()}
    # A file that was complete is not written again.
    written = int(cloud.control()["calls"]["s3:PUT"])
    assert written <= len(contents(source)) + 1 - len(present)
    assert dataclasses.asdict(mover.report(IN_AWS))["left"] == 0
