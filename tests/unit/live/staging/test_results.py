"""Results of jobs with the emulated AWS: copied after the end of the job, complete or absent, also if the mover is killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.live.staging import results_copy
from landbridge.live.staging.class_buckets import ClassBuckets
from landbridge.live.staging.mover import Mover
from landbridge.live.staging.results import ResultsMover
from landbridge.live.staging.results_copy import RESULTS_FILE, result_objects
from landbridge.staging.exchange import last_reports, read_results_reports, write_results
from landbridge.staging.places import DatasetPlace
from landbridge.staging.results import ResultsReport, ResultsRequest
from sandbox.demo.cluster import wait_for
from tests.unit.live.datasets.conftest import ROOT
from tests.unit.live.staging.conftest import MoverHost

FILES = {
    "model.bin": b"".join(bytes([number]) * 2**20 for number in range(9)) + b"end",
    "logs/0/step.txt": b"step 1\n",
    "logs/empty": b"",
    "odd 'name' \u00fc": b"odd",
}
ENDED = ResultsRequest("acme-7", "internal", "ada", os.getuid(), "out", "7", 1_800_000_000.5)


def write(mover: MoverHost, files: dict[str, bytes], prefix: str = "results/acme-7/out/") -> None:
    """Write objects as a job does."""
    for path, body in files.items():
        mover.host.operator.put(prefix + path, body, hashlib.sha256(body).hexdigest())


def run(mover: MoverHost, *requests: ResultsRequest) -> None:
    """Write the requests as the burst controller does, and run cycles until nothing is copied."""
    (mover.config.folder / "internal").mkdir(parents=True, exist_ok=True)
    write_results(mover.config.exchange, {request.run: request for request in requests})
    results = ResultsMover(mover.config, ClassBuckets(mover.config), mover.lines.append)
    for _ in range(5):
        if not results.cycle():
            return
    raise AssertionError("the mover copies without end")


def report(mover: MoverHost, run: str = "acme-7") -> ResultsReport:
    return read_results_reports(mover.config.exchange)[run]


def at_site(mover: MoverHost, name: str = "7") -> dict[str, bytes]:
    folder = mover.config.folder / "internal/_results/ada" / name
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != RESULTS_FILE]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_results_are_copied_after_the_end_of_the_job(mover: MoverHost) -> None:
    write(mover, FILES)
    write(mover, {"temporary": b"not asked for"}, "results/acme-7/")
    run(mover, replace(ENDED, ended=None))
    assert report(mover).state == "open" and at_site(mover) == {} and not mover.config.ledger.exists()
    run(mover, ENDED)
    assert report(mover) == ResultsReport("home", ENDED.ended, path="/home/datasets/internal/_results/ada/7")
    assert at_site(mover) == FILES
    folder = mover.config.folder / "internal/_results/ada/7"
    modes = {path: path.stat().st_mode & 0o777 for path in (folder, folder / "logs", folder / "logs/empty")}
    assert list(modes.values()) == [0o750, 0o750, 0o640]
    described = json.loads((folder / RESULTS_FILE).read_text())
    sums = {row["path"]: row["sha256"] for row in described["files"]}
    assert sums == {path: hashlib.sha256(body).hexdigest() for path, body in FILES.items()}
    begin, end = (json.loads(line) for line in mover.config.ledger.read_text().splitlines())
    assert (begin["command"], begin["run"], begin["ended"]) == ("results", "acme-7", ENDED.ended)
    size = sum(map(len, FILES.values()))
    assert end["bytes"] == size and end["usd"] == pytest.approx(begin["usd"], rel=0.05)
    assert end["usd"] > 0.09 * size / 2**30
    assert json.loads(mover.host.operator.get("results-at-site/acme-7.json") or b"")["path"] == report(mover).path
    assert list((mover.config.folder / "internal/.results").iterdir()) == []
    listed = mover.host.data("cost", "--ledger", str(mover.config.ledger))
    assert listed.returncode == 0 and f"1 transfers {size:>18,} bytes" in listed.stdout, listed.stderr
    # Another run of the mover copies nothing, also after the user has changed the files.
    (folder / "model.bin").write_bytes(b"mine")
    run(mover, ENDED)
    assert report(mover).state == "home" and len(mover.config.ledger.read_text().splitlines()) == 2


def test_another_run_never_replaces_results(mover: MoverHost) -> None:
    write(mover, {"a": b"first"})
    write(mover, {"a": b"second"}, "results/acme-8/out/")
    second = replace(ENDED, run="acme-8", name="7")
    run(mover, ENDED)
    run(mover, second)
    assert report(mover, "acme-8").state == "refused" and "exists with other content" in report(mover, "acme-8").text
    assert at_site(mover) == {"a": b"first"}
    # The same job, queued again after its end.
    run(mover, replace(ENDED, ended=ENDED.ended and ENDED.ended + 60))
    assert report(mover).state == "refused"
    # A link in the place of the folder is not followed.
    folder = mover.config.folder / "internal/_results/ada"
    (folder / "9").symlink_to(folder / "7")
    write(mover, {"a": b"third"}, "results/acme-9/out/")
    run(mover, replace(ENDED, run="acme-9", name="9"))
    assert report(mover, "acme-9").state == "refused" and at_site(mover) == {"a": b"first"}


REFUSALS = {
    "data of class public may not be at the site": {"data_class": "public"},
    "class restricted has no bucket": {"data_class": "restricted"},
    "no data class (none)": {"data_class": ""},
    "not permitted": {"user": "../root"},
    "a name that is not permitted": {"name": "../x"},
    "name that is not permitted": {"path": "../acme-8"},
    "is not permitted": {"run": "../x"},
}


def test_a_refusal_has_its_reason_and_moves_nothing(mover: MoverHost) -> None:
    mover.raw["classes"]["public"] = {"sites": ["aws"], "bucket": "acme-public", "mount": None}
    write(mover, {"a": b"a"})
    for text, change in REFUSALS.items():
        request = replace(ENDED, **change)  # type: ignore[arg-type]
        run(mover, request)
        assert report(mover, request.run).state == "refused" and text in report(mover, request.run).text
    assert mover.host.keys("results-at-site/") == [] and not mover.config.ledger.exists()
    run(mover, replace(ENDED, path="absent"))
    assert report(mover).state == "empty" and "results/acme-7/absent/" in report(mover).text


def test_names_that_are_no_paths_are_refused(mover: MoverHost) -> None:
    names = (("a", "a/b"), ("a//b",), ("../b",), (RESULTS_FILE,))
    requests = [replace(ENDED, run=f"acme-{number}", name=str(number)) for number in range(len(names))]
    for request, chosen in zip(requests, names, strict=True):
        write(mover, dict.fromkeys(chosen, b"x"), f"results/{request.run}/out/")
    run(mover, *requests)
    for request in requests:
        assert report(mover, request.run).state == "refused" and "s3://" in report(mover, request.run).text
    assert not (mover.config.folder / "internal/_results").exists()


def test_a_file_that_does_not_match_its_checksum_is_read_again(mover: MoverHost) -> None:
    write(mover, {"a": b"right", "b": b"b"})
    (first, _) = result_objects(mover.host.operator, "results/acme-7/out/")
    files = mover.config.folder / "internal/.results/acme-7/files"
    files.mkdir(parents=True)
    (files / first.digest).write_bytes(b"wrong")
    run(mover, ENDED)
    assert report(mover).state == "refused" and "does not match its checksum" in report(mover).text
    assert at_site(mover) == {}
    run(mover, ENDED)
    assert at_site(mover) == {"a": b"right", "b": b"b"}


#: Reads until a kill: two lists of objects, a small file, and the first block of a large one.
KILLS = (1, 2, 3, 4, 5)


@pytest.mark.long
@pytest.mark.parametrize("calls", KILLS)
def test_a_killed_mover_continues_and_nothing_partial_is_visible(mover: MoverHost, calls: int) -> None:
    write(mover, FILES)
    (mover.config.folder / "internal").mkdir(parents=True)
    write_results(mover.config.exchange, {ENDED.run: ENDED})
    cloud = mover.host.cloud
    cloud.control(reset=True, faults={"s3:GET": [{"times": calls}, {"hold": 3600, "cut": True}]})
    mover.raw["workers"] = 1
    command = [sys.executable, "-m", "landbridge.live.staging.service", "--config", str(mover.config_file), "--once"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for("the held call", lambda: cloud.control()["held"], lambda held: held.get("s3:GET"))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (mover.config.folder / "internal/_results").exists()
    assert mover.host.keys("results-at-site/") == []
    copies = mover.config.folder / "internal/.results"
    assert not copies.exists() or copies.stat().st_mode & 0o777 == 0o700
    parts = [path for path in copies.rglob("*") if path.is_file()]
    written = sum(path.stat().st_size for path in parts)
    cloud.control(reset=True)
    subprocess.run(command, cwd=ROOT, check=True)
    assert report(mover).state == "home" and at_site(mover) == FILES
    *_, end = (json.loads(line) for line in mover.config.ledger.read_text().splitlines())
    # Blocks that were written are not read again.
    assert end["bytes"] == sum(map(len, FILES.values())) - written


def test_a_copy_that_was_killed_after_its_rename_is_finished(mover: MoverHost) -> None:
    write(mover, {"a": b"a"})
    run(mover, ENDED)
    mover.host.operator.delete(["results-at-site/acme-7.json"])
    copies: Path = mover.config.folder / "internal/.results/acme-7/files"
    copies.mkdir(parents=True)
    run(mover, ENDED)
    assert report(mover).state == "home" and not copies.parent.exists()
    assert mover.host.keys("results-at-site/") == ["results-at-site/acme-7.json"]


def test_an_object_that_is_written_during_the_copy_is_refused(
    mover: MoverHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(mover, {"a": b"one"})
    known = result_objects(mover.host.operator, "results/acme-7/out/")
    write(mover, {"a": b"two"})
    copy = results_copy.ResultsCopy(mover.host.bucket(), known, mover.config.folder / "copy")
    with pytest.raises(results_copy.FindingsError, match="written or deleted"):
        copy.fetch(lambda count: None)
    run(mover, ENDED)
    assert at_site(mover) == {"a": b"two"}


def test_the_command_shows_data_and_results(mover: MoverHost) -> None:
    exchange = ("--exchange", str(mover.config.exchange))
    assert mover.host.status(*exchange).returncode == 1  # no report
    write(mover, {"a": b"a"})
    mover.request(DatasetPlace("corpus:v1", "internal", "aws"))
    mover.run()
    run(mover, ENDED, replace(ENDED, run="acme-8", ended=None), replace(ENDED, run="acme-9", user="../x"))
    shown = mover.host.status(*exchange)
    assert shown.returncode == 1
    for text in (
        "corpus:v1 in AWS: no dataset corpus:v1 is in the bucket",
        "results of acme-7: /home/datasets/internal/_results/ada/7",
        "results of acme-8: they are copied to the site after the end of the job",
        "results of acme-9: the request has a name that is not permitted",
        "1 places of data, 3 results; the mover reported",
    ):
        assert text in shown.stdout
    data = json.loads(mover.host.status(*exchange, "--format", "json").stdout)
    assert [row["report"]["state"] for row in data["results"]] == ["home", "open", "refused"]
    assert mover.host.status("--exchange", str(mover.config.folder / "absent")).returncode == 2


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 200_000, "null", ""], ids=["deep", "objects", "null", "empty"]
)
def test_a_users_file_in_the_place_of_results_stops_no_other_copy(mover: MoverHost, text: str) -> None:
    write(mover, FILES)
    write(mover, FILES, "results/acme-8/out/")
    evil = mover.config.folder / "internal/_results/ada/evil"
    evil.mkdir(parents=True)
    (evil / RESULTS_FILE).write_text(text)
    run(mover, replace(ENDED, name="evil"), replace(ENDED, run="acme-8", name="8"))
    assert report(mover).state == "refused"
    assert (report(mover, "acme-8").state, at_site(mover, "8")) == ("home", FILES)


def test_a_huge_file_or_a_pipe_in_the_place_of_results_is_not_read(mover: MoverHost) -> None:
    write(mover, FILES)
    folder = mover.config.folder / "internal/_results/ada"
    for name in ("pipe", "huge"):
        (folder / name).mkdir(parents=True)
    os.mkfifo(folder / "pipe" / RESULTS_FILE)
    with (folder / "huge" / RESULTS_FILE).open("wb") as file:
        file.truncate(1 << 40)
    run(mover, replace(ENDED, name="pipe"), replace(ENDED, run="acme-8", name="huge"))
    assert [report(mover, name).state for name in ("acme-7", "acme-8")] == ["refused", "refused"]


def test_an_unexpected_error_of_one_request_is_reported_as_its_own(mover: MoverHost) -> None:
    write(mover, FILES, "results/acme-8/out/")
    # A path that no operating system accepts.
    run(mover, replace(ENDED, data_class="internal\0"), replace(ENDED, run="acme-8", name="8"))
    assert (report(mover).state, report(mover, "acme-8").state) == ("refused", "home")


def test_the_time_of_the_movers_last_report_is_known_to_the_controller(mover: MoverHost) -> None:
    assert last_reports(mover.config.exchange) == 0.0
    run(mover)
    assert last_reports(mover.config.exchange) == 0.0
    Mover(mover.config, mover.lines.append, ClassBuckets(mover.config)).cycle()
    assert last_reports(mover.config.exchange) > 0.0
