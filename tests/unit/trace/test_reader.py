"""Readers of traces: CSV, sacct, squeue and JSON; findings of files that are no trace."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.findings import Severity
from landbridge.trace import Trace, TraceJob, read
from landbridge.trace.reader import MAX_LINE_FINDINGS
from tests.thorough import examples
from tests.unit.core.samples import ROOT
from tests.unit.simulation.queues import START

HEADER = "timestamp,duration,num_gpus,cluster\n"
SACCT_FORMAT = "JobIDRaw,User,Account,Partition,QOS,Submit,Start,End,State,ElapsedRaw,NNodes,AllocTRES,ReqTRES,Constraints,Eligible"


def trace_of(text: str | bytes, folder: Path, name: str = "queue.csv") -> Trace:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path)


def problems(trace: Trace) -> list[tuple[str, int | None]]:
    return [(finding.rule, finding.line) for finding in trace.findings]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "timestamp,duration,num_gpus,cluster\n2017-10-30 00:00:00,60,8.0,vc\n2017-10-30 00:00:00,60,0,vc\n"),
        ("b.csv", f"submit,run_time,gpus,vc\n{START},60.0,8,vc\n\n"),
        ("c.json", json.dumps([{"submitted": START, "seconds": 60, "gpus": 8, "group": "vc"}])),
        ("d.json", json.dumps({"jobs": [{"submitted": "2017-10-30T02:00:00+02:00", "seconds": 60, "gpus": 8, "vc": "vc"}]})),
        ("e.csv", "\ufeffTimestamp,Duration,Num_GPUs,Cluster\r\n2017-10-30 00:00:00,60,8,vc\r\n"),
    ],
)  # fmt: skip
def test_traces_are_read_from_csv_and_json(name: str, text: str, tmp_path: Path) -> None:
    assert trace_of(text, tmp_path, name) == Trace((TraceJob(START, 60.0, 8, "vc"),))


def test_a_trace_is_read_from_the_output_of_squeue(tmp_path: Path) -> None:
    def set_to(number: float) -> dict[str, object]:
        return {"set": True, "infinite": False, "number": number}

    job = {"account": "vision", "submit_time": set_to(START), "time_limit": set_to(90), "user_name": "x", "nodes": "n1"}
    jobs = [
        {**job, "tres_req_str": "cpu=8,mem=1G,node=1,gres/gpu:h100=16", "job_state": ["PENDING"]},
        {**job, "tres_req_str": "cpu=8,node=1"},
    ]
    trace = trace_of(json.dumps({"jobs": jobs}), tmp_path, "queue.json")
    job_with_gpus = TraceJob(START, 5400.0, 16, account="vision", minutes=90.0, kind="h100", user="x", state="PENDING")
    assert trace == Trace((job_with_gpus,))


def sacct_line(number: int, elapsed: int, alloc: str, request: str = "", state: str = "COMPLETED") -> str:
    times = "2017-10-30T00:00:00|2017-10-30T00:01:00|2017-10-30T01:00:00"
    return f"{number}|ann|vision|gpu|normal|{times}|{state}|{elapsed}|2|{alloc}|{request}||Unknown\n"


@pytest.mark.parametrize("header", [False, True])
def test_a_trace_is_read_from_the_output_of_sacct(header: bool, tmp_path: Path) -> None:
    lines = [
        sacct_line(1, 600, "billing=8,cpu=8,gres/gpu:h100=16,gres/gpu=16,mem=1G,node=2"),
        sacct_line(2, 600, "billing=8,cpu=8,node=2"),
        sacct_line(3, 0, "", "cpu=8,gres/gpu=4", "CANCELLED by 1001"),
        sacct_line(4, 60, "cpu=8", "cpu=8,gres/gpu:a100=4", "CANCELLED by 1001"),
        sacct_line(5, 60, "gres/gpu:a100=4,gres/gpu:h100=1"),
    ]
    text = ("|".join(SACCT_FORMAT.split(",")) + "\n" if header else "") + "".join(lines)
    trace = trace_of(text, tmp_path, "jobs.txt")
    assert trace.findings == ()
    assert [(job.job, job.gpus, job.kind, job.state) for job in trace.jobs] == [
        ("1", 16, "h100", "COMPLETED"), ("4", 4, "a100", "CANCELLED"), ("5", 5, "", "COMPLETED"),
    ]  # fmt: skip
    first = trace.jobs[0]
    assert (first.submitted, first.started, first.seconds, first.nodes) == (START, START + 60, 600.0, 2)
    assert (first.user, first.group, first.account) == ("ann", "ann", "vision")


@pytest.mark.parametrize(
    ("text", "expected", "words"),
    [
        ("", [("trace-empty", 1)], "empty"),
        (HEADER, [("trace-empty", 1)], "no job"),
        (HEADER + "2017-10-30,60,0,vc\n", [("trace-empty", 1)], "AccountingStorageTRES"),
        ("when,length,num_gpus\n2017-10-30,60,1\n", [("trace-columns", 1)], "submitted: one of submitted, timestamp"),
        ("when,length,size\n", [("trace-columns", 1)], "3 of the 3"),
        (HEADER + "yesterday,60,1,vc\n", [("trace-line", 2)], "timestamp: 'yesterday' is not a number"),
        (HEADER + "2017-13-30,60,1,vc\n", [("trace-line", 2)], "is not a time"),
        (HEADER + "2017-10-30,long,1,vc\n", [("trace-line", 2)], "duration: 'long' is not a number"),
        (HEADER + "2017-10-30,nan,1,vc\n", [("trace-line", 2)], "finite"),
        (HEADER + "2017-10-30,1e999,1,vc\n", [("trace-line", 2)], "finite"),
        (HEADER + "2017-10-30,-60,1,vc\n", [("trace-line", 2)], "negative"),
        (HEADER + "2017-10-30,60,-1,vc\n", [("trace-line", 2)], "whole GPUs"),
        (HEADER + "2017-10-30,60,0.5,vc\n", [("trace-line", 2)], "whole GPUs"),
        (HEADER + ",60,1,vc\n", [("trace-line", 2)], "submission is missing"),
        (HEADER + "2017-10-30,60,1\n2017-10-30,60,1,vc,more\n", [("trace-line", 2), ("trace-line", 3)], "5 fields"),
        (HEADER.encode() + b"2017-10-30,60,1,v\xff\n2017-10-30,60,2,x\n", [("trace-line", 2)], "UTF-8"),
        (b"\x7fELF\x02\x01\x01\x00\x00", [("trace-columns", 1)], "required columns"),
        (HEADER + "2017-10-30,x,1,vc\n2017-10-30,60,1,vc\n2017-10-29,-5,1,vc\n", [("trace-line", 2), ("trace-line", 4)], "'x'"),
    ],
)  # fmt: skip
def test_a_bad_file_has_all_its_findings_at_their_lines(
    text: str | bytes, expected: list[tuple[str, int]], words: str, tmp_path: Path
) -> None:
    trace = trace_of(text, tmp_path)
    assert problems(trace) == expected and trace.has_errors
    assert any(words in f"{finding.message} {finding.fix}" for finding in trace.findings)
    assert all(finding.file == str(tmp_path / "queue.csv") for finding in trace.findings)


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("[", "trace-line", 1),
        ("{}", "trace-columns", 1),
        ('{"jobs": [3]}', "trace-line", None),
        ('{"jobs": [{"seconds": 1, "gpus": 1}]}', "trace-line", None),
        ("[" * 100_000, "trace-line", 1),
    ],
)
def test_json_that_is_no_trace_is_a_finding(text: str, rule: str, line: int | None, tmp_path: Path) -> None:
    trace = trace_of(text, tmp_path, "queue.json")
    assert problems(trace) == [(rule, line)] and trace.has_errors


def test_findings_of_lines_are_bounded_and_the_rest_is_counted(tmp_path: Path) -> None:
    trace = trace_of(HEADER + "x,60,1,vc\n" * 1000 + "2017-10-30,60,1,vc\n", tmp_path)
    assert len(trace.findings) == MAX_LINE_FINDINGS + 1 and len(trace.jobs) == 1
    assert trace.findings[-1].message.startswith("980 more lines")


def test_an_unsorted_file_is_sorted_with_an_info(tmp_path: Path) -> None:
    trace = trace_of(HEADER + "2017-10-31,60,1,vc\n2017-10-30,60,2,vc\n", tmp_path)
    assert [job.gpus for job in trace.jobs] == [2, 1] and not trace.has_errors
    assert [(finding.rule, finding.severity) for finding in trace.findings] == [("trace-order", Severity.INFO)]


@settings(max_examples=examples(66, 200), deadline=None)
@given(some.one_of(some.binary(max_size=200), some.binary(max_size=80).map(HEADER.encode().__add__)))
def test_any_bytes_give_a_trace_or_findings(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("any.csv", "any.json"):
        trace = trace_of(data, folder, name)
        assert trace.has_errors or trace.jobs


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        (HEADER + "2017-10-30,long,1,vc\n2017-10-30,60,x,vc\n", 1, ["queue.csv:2", "queue.csv:3", "trace-line"]),
        (None, 2, ["unreadable-file"]),
    ],
)
def test_the_command_prints_all_findings_and_no_traceback(
    text: str | None, status: int, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "queue.csv"
    if text is not None:
        path.write_text(text)
    command = ["burst", "simulate", str(path), "-f", str(ROOT / "stacks/Pulumi.hybrid.yaml")]
    completed = CliRunner().invoke(build(), command)
    assert completed.exit_code == status and all(word in completed.output for word in words), completed.output
