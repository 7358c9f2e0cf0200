"""Log store and shippers: mutual TLS, files of each host, an outage of the store, and retention."""

import runpy
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from landbridge.ops.logs.query import LogQuery, entries_of, journal_program
from landbridge.ops.logs.window import LogWindow
from landbridge.plan.network.host_role import hosts
from landbridge.plan.roles.log_store import SEVERAL, log_class, log_files, log_source, log_store_variables
from landbridge.plan.site.firewall import firewall_rules
from landbridge.plan.site.site_tls import server_names
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import ROOT, environment
from tests.unit.observability.log_programs import HOSTS, NODES, NODES_NAME, LoopbackLogStore, protocol, tls_refused

LOGS = ("onprem", "services", "logs")
PROGRAM = runpy.run_path(str(ROOT / "ansible/roles/log_store/files/landbridge-log-retention"))
DAY, GIB, NOW = 86_400, 1024**3, 1_795_298_400.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LoopbackLogStore]:
    running = LoopbackLogStore(tmp_path)
    try:
        running.prepare()
        yield running
    finally:
        running.close()


def test_entries_of_each_host_are_kept_and_nothing_is_lost_in_an_outage(store: LoopbackLogStore) -> None:
    store.log("ctl01", "JobId=7 allocated")
    store.log("dgx01", "launch task StepId=7.0")
    assert store.ship("ctl01").returncode == store.ship("dgx01").returncode == 0
    assert store.entries("ctl01") == ["JobId=7 allocated"] and store.entries("dgx01") == ["launch task StepId=7.0"]
    store.stop("receiver")
    store.log("dgx01", "in the outage", "in the outage too")
    assert store.ship("dgx01").returncode != 0
    store.start_receiver()
    assert store.ship("dgx01").returncode == 0
    # Entries may be sent twice; none is lost.
    received = list(dict.fromkeys(store.entries("dgx01")))
    assert received == ["launch task StepId=7.0", "in the outage", "in the outage too"]
    # A certificate of the CA whose name is not a host's, and none at all.
    assert "403" in store.ship("ctl01", "stranger").stderr
    assert tls_refused(store)
    assert store.entries("ctl01") == ["JobId=7 allocated"]
    # The search by job finds the job's lines only, in the files of the chosen hosts.
    patterns = tuple(f"{store.folder}/store/remote-{source}[.@]*journal" for source in HOSTS.values())
    query = LogQuery(LogWindow(1, "h"), 7, span=(int(NOW), int(NOW) + 200), files=patterns)
    assert found_by(query) == [("ctl01", "JobId=7 allocated"), ("dgx01", "launch task StepId=7.0")]
    assert found_by(replace(query, files=patterns[1:])) == [("dgx01", "launch task StepId=7.0")]
    assert found_by(replace(query, job=None, words="outage too")) == [("dgx01", "in the outage too")]
    assert found_by(replace(query, words="launch")) == [("dgx01", "launch task StepId=7.0")]
    assert found_by(replace(query, span=(int(NOW) + 50, int(NOW) + 200))) == []
    # Headers of real files: the times of their entries.
    files = PROGRAM["stored"](store.folder / "store")
    assert {file["source"] for file in files.values()} == {"127.20.0.11", "127.20.1.11"}
    (file,) = [file for file in files.values() if file["source"] == "127.20.1.11"]
    assert (file["first"], file["last"], file["closed"]) == (NOW, NOW + 101, False)


def test_the_store_does_not_speak_http_2_with_which_uploads_of_many_entries_end(store: LoopbackLogStore) -> None:
    assert protocol(store) == "http/1.1"


def found_by(query: LogQuery) -> list[tuple[str, str]]:
    """Return host and message of each entry that the real journalctl finds."""
    done = subprocess.run(journal_program(query), capture_output=True, text=True, check=False)
    return sorted({(entry.host, entry.message) for entry in entries_of("", done.stdout)})


def stored_file(source: str, last_days: float, gib: float = 1, *, closed: bool = True) -> dict[str, Any]:
    last = NOW - last_days * DAY
    return {"source": source, "bytes": gib * GIB, "first": last - DAY, "last": last, "closed": closed}


def settings(**limits: tuple[int, int]) -> dict[str, Any]:
    return {
        "retention": {name: {"days": days, "gib": gib} for name, (days, gib) in limits.items()},
        "sources": {
            "127.0.0.1": {"name": "ctl01", "class": "internal"},
            "127.0.0.2": {"name": "srv01", "class": "restricted"},
        },
        "nodes": {"127.0.0.9": {"name": "p5-1", "class": "restricted"}},
    }


def test_files_are_deleted_by_the_days_and_the_size_of_their_class() -> None:
    deletions = PROGRAM["deletions"]
    limits = settings(internal=(10, 3), restricted=(100, 3))
    files = {
        "old": stored_file("127.0.0.1", 11),
        "open": stored_file("127.0.0.1", 12, closed=False),
        "new": stored_file("127.0.0.1", 9),
        "long": stored_file("127.0.0.2", 99),
        "node": stored_file("127.0.0.9", 99),
        # A host that is no longer known has the shortest retention.
        "former": stored_file("127.0.0.3", 11),
    }
    assert deletions(files, limits, NOW) == ["old", "former"]
    full = {str(number): stored_file("127.0.0.1", number) for number in range(5)} | {
        "open": stored_file("127.0.0.1", 0, closed=False)
    }
    assert deletions(full, limits, NOW) == ["4", "3", "2"]
    assert deletions({"open": stored_file("127.0.0.1", 0, 4, closed=False)}, limits, NOW) == ["open"]


def test_open_files_are_closed_once_a_day() -> None:
    due = PROGRAM["due"]
    recent = {**stored_file("127.0.0.1", 0, closed=False), "first": NOW - 3600}
    assert due({"a": recent}, NOW) == []
    assert due({"a": recent, "b": {**recent, "first": NOW - 2 * DAY}, "c": stored_file("127.0.0.1", 5)}, NOW) == [
        "a",
        "b",
    ]


def test_metrics_have_every_host_and_class() -> None:
    text = PROGRAM["metrics"]({"a": stored_file("127.0.0.1", 1, 2)}, settings(internal=(10, 3), restricted=(1, 1)), NOW)
    # A node in AWS ends as planned.
    assert "p5-1" not in text
    assert f'landbridge_log_last_entry_timestamp_seconds{{host="ctl01"}} {NOW - DAY:.12g}' in text
    assert 'landbridge_log_last_entry_timestamp_seconds{host="srv01"} 0' in text
    assert f'landbridge_log_store_bytes{{class="internal"}} {2 * GIB}' in text
    assert f'landbridge_log_store_limit_bytes{{class="restricted"}} {GIB}' in text


def test_nodes_in_aws_with_one_certificate_have_files_of_their_own(store: LoopbackLogStore) -> None:
    for node in NODES:
        store.log(node, f"launch task on {node}")
        assert store.ship(node, NODES_NAME, f"/nodes/{node}").returncode == 0
    assert {node: store.entries(node) for node in NODES} == {node: [f"launch task on {node}"] for node in NODES}
    store.log("p5-1", "again")
    # The certificate of nodes writes into no host's file, that of a host into no node's; a node of no pool is refused.
    for certificate, path, status in (
        (NODES_NAME, "", "405"),
        (NODES_NAME, "/nodes/p5-9", "403"),
        (NODES_NAME, "/nodes/ctl01", "403"),
        (NODES_NAME, "/nodes/p5-1/../../x", "405"),
        ("dgx01", "/nodes/p5-1", "405"),
        ("dgx01", "/nodes/ctl01", "405"),
        ("stranger", "", "403"),
    ):
        assert status in store.ship("p5-1", certificate, path).stderr, (certificate, path)
    assert store.ship("p5-1", NODES_NAME, "/nodes/p5-1").returncode == 0
    assert [*dict.fromkeys(store.entries("p5-1"))] == ["launch task on p5-1", "again"]
    assert store.entries("ctl01") == store.entries("dgx01") == []


def test_a_stop_of_the_shipper_waits_for_the_position_of_the_newest_entry(
    store: LoopbackLogStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = runpy.run_path(str(ROOT / "ansible/roles/log_shipper/files/landbridge-log-flush"))
    state = store.folder / "state-dgx01"
    assert program["shipped"](state) == 0
    store.log("dgx01", "last words")
    assert store.ship("dgx01").returncode == 0
    # The state of the real shipper has the time of the entry that the store has.
    assert program["shipped"](state) == int(NOW * 1_000_000)
    monkeypatch.setitem(program["main"].__globals__, "newest", lambda: int(NOW * 1_000_000))
    program["main"]("60", state)
    assert capsys.readouterr().out == ""
    # An entry that the store does not have: the stop of the unit goes on after its seconds.
    monkeypatch.setitem(program["main"].__globals__, "newest", lambda: int(NOW * 1_000_000) + 1)
    program["main"]("0", state)
    assert "does not have the last entries" in capsys.readouterr().out


def test_without_a_log_store_nothing_changes() -> None:
    plain = environment()
    assert log_store_variables(plain) == {} and "log_store" not in firewall_rules(plain)
    assert "SyslogDebug" not in slurm_files(plain)["slurm.conf"]


def test_every_host_of_the_site_ships_with_its_certificate_and_only_the_site_reaches_the_store() -> None:
    site = environment({LOGS: "mlops01"})
    variables = log_store_variables(site)
    assert [host["name"] for host in variables["log_store_hosts"]] == [host.name for host in hosts(site)]
    assert len({host["source"] for host in variables["log_store_hosts"]}) == len(hosts(site))
    assert set(server_names(site)) == {host.name for host in hosts(site)}
    (rule,) = firewall_rules(site)["log_store"]
    assert rule.sources == ("10.20.0.0/16",) and rule.ports == ("19532",)
    conf = slurm_files(site)["slurm.conf"]
    assert "SlurmctldSyslogDebug=info" in conf and "SlurmdSyslogDebug=info" in conf
    (controller, *_) = hosts(site)
    assert log_source(controller) == "127.20.0.11" and log_files(log_source(controller)).startswith(
        "remote-127.20.0.11"
    )


def test_retention_is_that_of_a_hosts_only_class() -> None:
    several = environment({LOGS: "mlops01"})
    assert {log_class(several, host) for host in hosts(several)} == {SEVERAL}
    single = environment(
        {
            LOGS: "mlops01",
            ("data_classes", "internal", "sites"): ["aws"],
            ("observability", "logs"): {"classes": {"restricted": {"days": 365, "gib": 5}}},
        }
    )
    assert {log_class(single, host) for host in hosts(single)} == {"restricted"}
    assert log_store_variables(single)["log_store_retention"]["restricted"] == {"days": 365, "gib": 5}
