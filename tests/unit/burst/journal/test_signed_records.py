"""Signed records of residency: their content, and the verification of removed, changed, added and moved lines."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.burst.config.config import BurstConfig
from landbridge.burst.daemon.residency_records import ResidencyRecords, open_records
from landbridge.burst.journal.signed_records import Head, SignedRecords, files, public_text, signing_key
from landbridge.burst.journal.verify_records import verify
from landbridge.burst.model import DecisionRecord, SlurmJob, SlurmView
from landbridge.cli.main import build
from tests.unit.burst.situations import NOW, site

KEY = signing_key("s" * 43)
PUBLIC = public_text(KEY)


def written(folder: Path, count: int = 5, limit: int = 1_000_000) -> list[bytes]:
    """Write records, each opened anew as after a restart; return the lines."""
    for number in range(1, count + 1):
        SignedRecords(folder, KEY, limit).write([{"event": "launch", "jobs": [number]}], NOW + number)
    return b"".join(file.read_bytes() for file in files(folder)).splitlines(keepends=True)


def changed(line: bytes) -> bytes:
    return line.replace(b'"launch"', b'"placed"')


@pytest.mark.parametrize(
    ("alter", "text"),
    [
        (lambda lines: [*lines[:2], *lines[3:]], "record 4 follows 2: 1 removed"),
        (lambda lines: [*lines[:2], changed(lines[2]), *lines[3:]], "record 3 was changed"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "record 3 follows 1"),
        (lambda lines: [*lines, lines[1]], "record 2 follows 5: repeated or moved"),
        (lambda lines: lines[1:], "record 2 follows 0: 1 removed"),
        (lambda lines: [*lines, b"{}\n"], "the line is not a record"),
    ],
    ids=["removed", "changed", "reordered", "repeated", "first removed", "foreign line"],
)
def test_an_altered_log_is_found(tmp_path: Path, alter: Callable[[list[bytes]], list[bytes]], text: str) -> None:
    lines = written(tmp_path)
    assert verify(tmp_path, [PUBLIC]).faults == ()
    (file,) = files(tmp_path)
    file.write_bytes(b"".join(alter(lines)))
    faults = verify(tmp_path, [PUBLIC]).faults
    assert any(text in fault.text and fault.line >= 1 for fault in faults), faults


def test_a_record_signed_again_with_another_key_breaks_the_chain(tmp_path: Path) -> None:
    """A forger without the site's key writes a whole new log: every record has a key that is not the site's."""
    forged = signing_key("other")
    SignedRecords(tmp_path, forged).write([{"event": "launch"}, {"event": "launch"}], NOW)
    assert len(verify(tmp_path, [PUBLIC]).faults) == 2
    assert verify(tmp_path, [PUBLIC, public_text(forged)]).faults == ()


def test_a_log_cut_at_its_end_is_found_with_the_head_of_an_earlier_verification(tmp_path: Path) -> None:
    lines = written(tmp_path)
    head = verify(tmp_path, [PUBLIC]).head
    files(tmp_path)[0].write_bytes(b"".join(lines[:3]))
    assert verify(tmp_path, [PUBLIC]).faults == ()
    (fault,) = verify(tmp_path, [PUBLIC], head).faults
    assert fault.text == "the last record is 3; record 5 was removed"
    assert verify(tmp_path, [PUBLIC], Head(2, "0" * 64)).faults[0].text.startswith("record 2 is not the one")


def test_files_rotate_and_a_removed_one_is_found(tmp_path: Path) -> None:
    written(tmp_path, count=6, limit=400)
    assert len(files(tmp_path)) >= 3
    assert verify(tmp_path, [PUBLIC]).faults == ()
    files(tmp_path)[1].unlink()
    assert "removed" in verify(tmp_path, [PUBLIC]).faults[0].text


def test_a_line_that_was_not_written_completely_is_cut_off(tmp_path: Path) -> None:
    lines = written(tmp_path, count=3)
    (file,) = files(tmp_path)
    file.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    SignedRecords(tmp_path, KEY).write([{"event": "launch"}], NOW)
    result = verify(tmp_path, [PUBLIC])
    assert result.faults == () and result.head.number == 3
    file.write_bytes(lines[0][:40])
    SignedRecords(tmp_path, KEY).write([{"event": "launch"}], NOW)
    assert verify(tmp_path, [PUBLIC]).head.number == 1


def test_a_launch_is_recorded_with_class_places_and_rules(tmp_path: Path) -> None:
    policy = site()
    log = SignedRecords(tmp_path, KEY)
    records = ResidencyRecords(log, policy, lambda side, code: pytest.fail(f"{side}: {code}"))
    lab = SlurmJob(7, "PENDING", account="lab", comment="patient 12")
    ward = SlurmJob(8, "PENDING", account="ward")
    records.seen(SlurmView(NOW, {7: lab, 8: ward}, {}))
    records.recorded(
        (
            DecisionRecord(NOW, "launch", (7,), ("g-1", "g-2"), "gpu", details={"offering": "p5/a/on-demand"}),
            DecisionRecord(NOW, "refused", (8,), ("g-3",), "gpu", "RESIDENCY", "data of class patients"),
            DecisionRecord(NOW, "renew", (), ("g-1",)),
        )
    )
    running = replace(lab, state="RUNNING", nodes=("g-1", "g-2"))
    for _ in range(2):
        records.seen(SlurmView(NOW, {7: running}, {}))
    bodies = [json.loads(line)["body"] for line in files(tmp_path)[0].read_text().splitlines()]
    job = {"job": 7, "account": "lab", "class": "internal", "regions": ["r"]}
    assert [body["event"] for body in bodies] == ["launch", "refused", "placed"]
    assert bodies[0]["jobs"] == [job] and bodies[0]["place"] == ["pool gpu: g-[1-2]"] and bodies[0]["region"] == "r"
    assert bodies[1]["jobs"] == [{"job": 8, "account": "ward", "class": "patients", "regions": []}]
    assert bodies[1]["code"] == "RESIDENCY" and len(bodies[0]["rules"]) == 16
    assert "patient 12" not in files(tmp_path)[0].read_text()
    other_rules = site(accounts={**policy.accounts, "ward": replace(policy.accounts["ward"], aws=True)})
    assert ResidencyRecords(None, other_rules, print)._rules != bodies[0]["rules"]


def test_a_key_that_is_missing_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    failures: list[tuple[str, str]] = []
    config = BurstConfig(site(), state_dir=tmp_path, records_key=tmp_path / "absent")
    records = open_records(config, lambda side, code: failures.append((side, code)))
    records.recorded((DecisionRecord(NOW, "launch", (1,), ("g-1",), "gpu"),))
    assert [side for side, _ in failures] == ["records"] and not (tmp_path / "residency-records").exists()


def test_the_command_verifies_and_names_the_line(tmp_path: Path) -> None:
    lines = written(tmp_path)
    runner = CliRunner()
    words = ["residency", "records", "verify", str(tmp_path), "--public-key", PUBLIC]
    sound = runner.invoke(build(), words)
    assert sound.exit_code == 0 and sound.stdout.startswith("5 records, verified; last record 5:")
    (file,) = files(tmp_path)
    file.write_bytes(b"".join([lines[0], *lines[2:]]))
    broken = runner.invoke(build(), words)
    assert broken.exit_code == 1
    assert f"{file}:2: error: record 3 follows 1: 1 removed, or moved [residency-records]" in broken.stdout


def test_the_command_reads_the_key_of_the_environments_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    runner = CliRunner()
    assert runner.invoke(build(), ["secrets", "init", "-s", "hybrid"]).exit_code == 0
    printed = runner.invoke(build(), ["residency", "records", "key", "-s", "hybrid"])
    assert printed.exit_code == 0 and len(printed.stdout.strip()) == 44
    assert os.fspath(tmp_path) not in printed.stdout
