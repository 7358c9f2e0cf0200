"""Parsers of the output of the ladder's programs. Pure; output of an unknown form raises Unreadable."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Exit code and line of nvidia-smi for a corrupted infoROM, which prints all values. Source: nvidia-smi(1), RETURN VALUE.
INFOROM_CORRUPTED = 14
_INFOROM = re.compile(r"^WARNING: infoROM is corrupted at gpu (\S+).*$", re.MULTILINE)


class Unreadable(Exception):
    """Output that does not have the program's form; the message contains the missing part."""


@dataclass(frozen=True, slots=True)
class MeasuredGpu:
    """One line of `nvidia-smi --query-gpu=name,driver_version,memory.total,pci.bus_id --format=csv,noheader,nounits`."""

    name: str
    driver: str
    memory_mib: int
    address: str


@dataclass(frozen=True, slots=True)
class Collective:
    """Result of a program of nccl-tests. `busbw` in GB/s by message size, the lower of out of place and in place."""

    ranks: int
    hosts: tuple[str, ...]
    busbw: Mapping[int, float]
    wrong: int


def gpus(text: str) -> tuple[MeasuredGpu, ...]:
    """Parse nvidia-smi's list of GPUs."""
    measured_gpus = []
    for line in _INFOROM.sub("", text).strip().splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) != 4 or not parts[2].isdigit():
            raise Unreadable(f"nvidia-smi failed: {line.strip()[:200]}")
        measured_gpus.append(MeasuredGpu(parts[0], parts[1], int(parts[2]), parts[3]))
    if not measured_gpus:
        raise Unreadable("nvidia-smi lists no GPU")
    return tuple(measured_gpus)


def corrupted(text: str) -> tuple[str, ...]:
    """Return the PCI addresses of the GPUs whose infoROM nvidia-smi reports as corrupted."""
    return tuple(_INFOROM.findall(text))


def diagnosis(text: str) -> dict[str, tuple[str, str]]:
    """Parse `dcgmi diag -j`: by test, its worst status (Pass, Warn, Skip, Fail) and its messages.

    Source: DCGM user guide, Diagnostics, JSON output. The top key is "DCGM Diagnostic" in DCGM 4, "DCGM GPU Diagnostic"
    in DCGM 3.
    """
    data = _json(text, "dcgmi")
    whole = data.get("DCGM Diagnostic") or data.get("DCGM GPU Diagnostic")
    if not isinstance(whole, dict):
        raise Unreadable(f"dcgmi returned no diagnosis: {_error(data)}")
    if whole.get("runtime_error"):
        raise Unreadable(f"dcgmi: {whole['runtime_error']}")
    diagnosis = {}
    for category in whole.get("test_categories", ()):
        for test in category.get("tests", ()):
            results = [*test.get("results", ()), test.get("test_summary") or {}]
            statuses = [str(result.get("status", "")) for result in results]
            worst = min((status for status in statuses if status), key=_rank, default="Skip")
            messages = [_warning_text(warning) for result in results for warning in result.get("warnings", ())]
            diagnosis[str(test.get("name", "?"))] = (worst, "; ".join(dict.fromkeys(messages)))
    if not diagnosis:
        raise Unreadable("dcgmi ran no test")
    return diagnosis


def bandwidths(text: str) -> dict[str, tuple[float, str]]:
    """Parse `nvbandwidth -j`: by test case, the lowest of its values in GB/s and its position.

    Source: nvbandwidth, json_output.cpp: values are texts, "N/A" for a cell without a measurement.
    """
    # Lines before the object are notes; DCGM, which runs it too, ignores them.
    start = text.find("\n{") + 1 if not text.startswith("{") else 0
    whole = _json(text[start:], "nvbandwidth").get("nvbandwidth")
    if not isinstance(whole, dict) or whole.get("error"):
        raise Unreadable(f"nvbandwidth: {whole.get('error') if isinstance(whole, dict) else 'no result'}")
    bandwidths = {}
    for case in whole.get("testcases", ()):
        cells = list(_cells(case.get("bandwidth_matrix", ())))
        if case.get("status") == "Waived":
            continue
        if case.get("status") != "Passed" or not cells:
            raise Unreadable(f"nvbandwidth: {case.get('name')}: {case.get('error') or case.get('status')}")
        bandwidths[str(case["name"])] = min(cells)
    if not bandwidths:
        raise Unreadable("nvbandwidth printed no measurement")
    return bandwidths


def collective(text: str) -> Collective:
    """Parse the output of `all_reduce_perf`. Source: nccl-tests, common.cu; columns: size, count, type, redop, root,
    then time, algbw, busbw and #wrong out of place, and the same in place.
    """
    ranks = re.findall(r"^#\s+Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device", text, re.MULTILINE)
    bandwidths: dict[int, float] = {}
    wrong = 0
    for line in text.splitlines():
        words = line.split()
        if len(words) < 13 or not words[0].isdigit() or not words[1].isdigit():
            continue
        columns = words[-8:]
        try:
            bandwidths[int(words[0])] = min(float(columns[2]), float(columns[6]))
        except ValueError:
            raise Unreadable(f"nccl-tests failed: {line.strip()[:200]}") from None
        wrong += sum(int(column) for column in (columns[3], columns[7]) if column.isdigit())
    bounds = re.search(r"Out of bounds values\s*:\s*(\d+)", text)
    if not bandwidths or not ranks:
        raise Unreadable(f"nccl-tests printed no result: {_last(text)}")
    return Collective(
        len(ranks),
        tuple(dict.fromkeys(host for _, host in ranks)),
        bandwidths,
        max(wrong, int(bounds[1]) if bounds else 0),
    )


def provider(text: str) -> str:
    """Return the libfabric provider that NCCL's plugin for EFA prints with NCCL_DEBUG=INFO; empty without the plugin.

    Source: awslabs/awsome-distributed-ai, gpu-cluster-healthcheck, checks/5-nccl-allreduce.sh, which searches for
    "Selected Provider is efa" in any case: aws-ofi-nccl's releases differ in it.
    """
    named = re.search(r"NET/OFI Selected provider is (\w+)", text, re.IGNORECASE)
    return named[1] if named else ""


def disks(text: str) -> dict[str, float]:
    """Parse `fio --output-format=json`: GB/s read and written by all its jobs. Source: fio's documentation, JSON
    output."""
    data = _json(text[text.find("{") :], "fio")
    jobs = data.get("jobs") or []
    failed = [job for job in jobs if job.get("error")]
    if not jobs or failed:
        raise Unreadable(f"fio: {'error ' + str(failed[0]['error']) if failed else 'no job ran'}")
    total = {
        direction: sum(job.get(direction, {}).get("bw_bytes", 0) for job in jobs) / 1e9
        for direction in ("read", "write")
    }
    return {direction: value for direction, value in total.items() if value}


def losses(text: str) -> tuple[float, ...]:
    """Parse the loss after each epoch of examples/digits/train.py, as its first process prints it."""
    values = tuple(float(number) for number in re.findall(r"epoch \d+/\d+ .*?\bloss=(\S+)", text))
    if not values:
        raise Unreadable(f"the training printed no epoch: {_last(text)}")
    return tuple(math.nan if math.isinf(number) else number for number in values)


def _json(text: str, program: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError:
        raise Unreadable(f"{program} did not answer in JSON: {_last(text)}") from None
    if not isinstance(data, dict):
        raise Unreadable(f"{program} did not answer with an object")
    return data


def _cells(matrix: Any) -> Iterator[tuple[float, str]]:
    for row, values in enumerate(matrix):
        for column, value in enumerate(values):
            if value != "N/A":
                yield float(value), f"row {row}, column {column}"


def _rank(status: str) -> int:
    order = ("fail", "warn", "pass", "skip")
    return order.index(status.lower()) if status.lower() in order else 0


def _warning_text(warning: Any) -> str:
    return str(warning.get("warning", warning)) if isinstance(warning, dict) else str(warning)


def _error(data: Mapping[str, Any]) -> str:
    return str(next(iter(data.values()), "nothing"))[:200]


def _last(text: str) -> str:
    return next((line.strip()[:200] for line in reversed(text.splitlines()) if line.strip()), "nothing")
