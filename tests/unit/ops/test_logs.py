"""Command `landbridge logs`: conditions, order, hosts of a job, and hosts that cannot be searched."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from landbridge.ops.hosts import named_hosts
from landbridge.ops.logs.query import LogQuery, entries_of, job_pattern, journal_program, slurm_program
from landbridge.ops.logs.window import LogWindow
from landbridge.plan.roles.log_store import node_log_sources
from tests.unit.core.samples import ROOT, changed, environment

AT = 1_795_298_400_000_000
#: One entry on every host, whose time depends on the host's name; the programs write their words to a file.
JOURNALCTL = f"""printf '%s\\n' "$*" >> "$FOLDER/words"
[ "$HOST" = 10.20.0.14 ] && exit 1
printf '{{"__REALTIME_TIMESTAMP":"%s","_SYSTEMD_UNIT":"slurmctld.service","MESSAGE":"JobId=7 on %s"}}\\n' \
  "$(({AT} + 1000000 * $(echo "$HOST" | cut -d. -f4)))" "$HOST"
"""
SSH = """while [ "$1" != -- ]; do shift; done
HOST="${2#*@}"; export HOST
[ "$HOST" = "$UNREACHABLE" ] && { echo "no route to host" >&2; exit 255; }
exec sh -c "$3"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an environment, and an ssh that runs the remote command here with stand-ins."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks/Pulumi.test.yaml").write_text(changed({}))
    (tmp_path / "bin").mkdir()
    for name, body in {
        "ssh": SSH,
        "journalctl": JOURNALCTL,
        "sacct": "echo 'dgx[01-02]'; echo 'None assigned'",
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def logs(folder: Path, *words: str, unreachable: str = "") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "landbridge.cli.main", "logs", "-s", "test", *words]
    variables = {
        **os.environ,
        "FOLDER": str(folder),
        "UNREACHABLE": unreachable,
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
    }
    return subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_entries_of_all_hosts_are_in_the_order_of_their_time(folder: Path) -> None:
    done = logs(folder, "--job", "7", "--since", "6h")
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()] == [
        "gw01",
        "ctl01",
        "dgx01",
        "db01",
        "dgx02",
        "login01",
        "mlops01",
    ]
    assert done.stdout.startswith("2026-11-21T22:00:01.000Z gw01 slurmctld: JobId=7 on 10.20.0.1\n")
    words = (folder / "words").read_text()
    assert "--since=-6h" in words and "--grep=" in words


def test_the_log_store_is_searched_for_the_hosts_and_the_time_of_the_job(folder: Path) -> None:
    text = changed({("onprem", "services", "logs"): "nfs01", ("aws", "logs", "flow_logs"): True})
    (folder / "stacks/Pulumi.test.yaml").write_text(text)
    stored = (
        f'{{"__REALTIME_TIMESTAMP":"{AT}","_SYSTEMD_UNIT":"slurmd.service","_HOSTNAME":"dgx01","MESSAGE":"JobId=7"}}'
    )
    # The shipper sent the entry twice.
    (folder / "bin/journalctl").write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$HOST $*\" >> \"$FOLDER/words\"\nprintf '%s\\n' '{stored}' '{stored}'\n"
    )
    (folder / "bin/sacct").write_text(
        "#!/bin/sh\necho 'dgx[01-02]|1795298000|1795298600'\necho 'None assigned|x|Unknown'\n"
    )
    done = logs(folder, "--job", "7", "--grep", "allocated")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "2026-11-21T22:00:00.000Z dgx01 slurmd: JobId=7\n"
    (words,) = (folder / "words").read_text().splitlines()
    assert words.startswith("10.20.0.14 ") and "--since=@1795298000" in words and "(?=.*(?:allocated))" in words
    assert words.count("--file=/var/log/landbridge-logs/remote-127.20.1.1") == 2
    logs(folder, "--node", "dgx01", "--since", "6h", "--until", "2h", "--on-hosts")
    assert (folder / "words").read_text().splitlines()[1].startswith("10.20.1.11 ")
    assert {"--since=-6h", "--until=-2h"} <= set((folder / "words").read_text().splitlines()[1].split())


def test_nodes_in_aws_that_ship_are_searched_in_the_store_by_job_name_and_site(folder: Path) -> None:
    services = {("onprem", "services", name): "nfs01" for name in ("logs", "monitoring")}
    (folder / "stacks/Pulumi.test.yaml").write_text(changed({**services}))
    stored = (
        f'{{"__REALTIME_TIMESTAMP":"{AT}","_SYSTEMD_UNIT":"slurmd.service","_HOSTNAME":"p5-1","MESSAGE":"JobId=7"}}'
    )
    (folder / "bin/journalctl").write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$HOST $*\" >> \"$FOLDER/words\"\nprintf '%s\\n' '{stored}'\n"
    )
    (folder / "bin/sacct").write_text("#!/bin/sh\necho 'dgx01,p5-[1-2]|1795298000|1795298600'\n")
    sources = node_log_sources(environment(services))

    def searched(*words: str) -> set[str]:
        """Return the patterns of files of the only search, which the log store makes."""
        (folder / "words").unlink(missing_ok=True)
        done = logs(folder, *words)
        assert (done.returncode, done.stdout.split()[1:3]) == (0, ["p5-1", "slurmd:"]), done.stderr
        (line,) = (folder / "words").read_text().splitlines()
        assert line.startswith("10.20.0.14 ")
        return set(re.findall(r"remote-([0-9.]+)\[", line))

    assert {sources["p5-1"], sources["p5-2"], "127.20.1.11"} <= searched("--job", "7")
    assert searched("--job", "7", "--site", "aws") == {sources["p5-1"], sources["p5-2"]}
    assert searched("--node", "p5-[1-2],ctl01") == {sources["p5-1"], sources["p5-2"], "127.20.0.11"}
    assert searched("--site", "aws") == set(sources.values())
    assert not searched("--job", "7", "--site", "onprem") & set(sources.values())


def test_logs_of_aws_are_asked_with_printed_commands(folder: Path) -> None:
    (folder / "stacks/Pulumi.test.yaml").write_text(changed({("aws", "logs", "flow_logs"): True}))
    done = logs(folder, "--aws", "--since", "1h", "--grep", "10.60.1.21 REJECT", "--format", "json")
    queries = {query["log"]: query for query in json.loads(done.stdout)["queries"]}
    assert done.returncode == 0 and set(queries) >= {"flow", "trail"}, done.stderr
    assert "--log-group-name /landbridge/test/flow" in queries["flow"]["command"]
    assert "filter @message like /10.60.1.21 REJECT/" in queries["flow"]["command"]
    assert queries["trail"]["command"].startswith("aws cloudtrail lookup-events --region us-east-1 --start-time ")


def test_a_host_that_cannot_be_searched_has_status_2_and_no_entry_status_1(folder: Path) -> None:
    done = logs(folder, "--node", "ctl01,db01", "--format", "json", unreachable="10.20.0.12")
    assert done.returncode == 2
    result = json.loads(done.stdout)
    assert [entry["host"] for entry in result["entries"]] == ["ctl01"]
    assert list(result["not_read"]) == ["db01"] and "no route to host" in result["not_read"]["db01"]
    done = logs(folder, "--node", "nfs01")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--node", "dgx09"], "dgx09 is not a host of test"),
        (["--since", "soon"], "soon is not a time"),
        (["--until", "2"], "2 is not a time"),
        (["--grep", "["], "is not a regular expression"),
        (["--site", "cloud"], "is neither onprem nor aws"),
        (["--node", "p5-1"], "p5-1 is not a host of test"),
    ],
)
def test_wrong_options_are_usage_errors(folder: Path, words: list[str], message: str) -> None:
    done = logs(folder, *words)
    assert done.returncode == 2 and message in " ".join(done.stderr.replace("│", "").split())


@pytest.mark.parametrize(
    "line",
    [
        "sched: Allocate JobId=4711 NodeList=dgx01",
        "_job_complete: JobId=4711_2(4712) WEXITSTATUS 0",
        "_job_complete: JobId=4700_2(4711) WEXITSTATUS 0",
        "launch task StepId=4711.0 request from UID:20001",
        "task_p_slurmd_batch_request: 4711",
        "[4711.batch] done with step",
        "launched p5-1 for job 4711",
        "jobs 4711 wait after InsufficientInstanceCapacity",
    ],
)
def test_the_pattern_finds_a_job_as_slurm_and_landbridge_write_it(line: str) -> None:
    assert re.search(job_pattern(4711), line, re.IGNORECASE)
    assert not re.search(job_pattern(471), line, re.IGNORECASE)
    assert not re.search(job_pattern(711), line, re.IGNORECASE)


def test_log_files_of_slurm_are_searched_by_time_job_and_error(tmp_path: Path) -> None:
    """A real run of the program in a process, whose time zone is not UTC."""

    def stamp(seconds: int) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 7200 - seconds))

    (tmp_path / "slurmctld.log.1").write_text(
        f"[{stamp(9000)}.000] JobId=7 too early\n[{stamp(600)}.250] JobId=7 allocated\n"
    )
    (tmp_path / "slurmctld.log").write_text(
        f"[{stamp(60)}.500] error: JobId=7 failed\n  second line of JobId=7\n[{stamp(30)}.000] JobId=71 began\n"
    )

    def searched_lines(query: LogQuery, *, plain: bool = False) -> list[str]:
        words = slurm_program(query, plain=plain)
        words[2] = words[2].replace("/var/log/slurm", str(tmp_path))
        variables = {**os.environ, "TZ": "XXX-2"}
        return subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout.splitlines()

    window = LogWindow(1, "h")
    entries = list(entries_of("ctl01", "\n".join(searched_lines(LogQuery(window, 7)))))
    assert [entry.message for entry in entries] == [
        "JobId=7 allocated",
        "error: JobId=7 failed",
        "  second line of JobId=7",
    ]
    assert {entry.unit for entry in entries} == {"slurmctld"}
    assert time.time() - entries[0].at > 590 and entries[0].at < entries[1].at == entries[2].at
    assert [
        entry.message for entry in entries_of("ctl01", "\n".join(searched_lines(LogQuery(window, errors=True))))
    ] == ["error: JobId=7 failed"]
    assert searched_lines(LogQuery(window, 71), plain=True) == [
        f"[{(tmp_path / 'slurmctld.log').read_text().splitlines()[2][1:]}"
    ]
    assert searched_lines(LogQuery(window, unit="slurmd")) == []
    assert len(searched_lines(LogQuery(window, most=1))) == 1


def test_a_search_asks_for_all_conditions() -> None:
    words = journal_program(LogQuery(LogWindow(3, "d"), 7, "slurmd", errors=True, most=50))
    assert {"--since=-3d", "--unit=slurmd", "--priority=err", "--lines=50"} <= set(words)


def test_entries_without_a_unit_or_with_bytes_are_shown_and_other_text_is_refused() -> None:
    text = json.dumps({"__REALTIME_TIMESTAMP": str(AT), "MESSAGE": [78, 86, 255]})
    (entry,) = entries_of("dgx01", text)
    assert (entry.unit, entry.message, entry.time) == ("kernel", "NV\ufffd", "2026-11-21T22:00:00.000Z")
    for wrong in ("no json", "{}", "[1]"):
        with pytest.raises(ValueError):
            list(entries_of("dgx01", wrong))


def test_a_node_in_aws_is_named_by_its_address() -> None:
    (host,) = named_hosts(environment(), ["admin@10.60.1.21"])
    assert (host.side, host.address, host.words[-1]) == ("aws", "10.60.1.21", "admin@10.60.1.21")
    with pytest.raises(ValueError, match=r"192\.0\.2\.1 is not a host"):
        named_hosts(environment(), ["192.0.2.1"])
