"""Outputs of the ladder's programs, written from documentation and sources; none was recorded on real hardware."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

H100 = "NVIDIA H100 80GB HBM3"


def smi(count: int = 8, name: str = H100, driver: str = "580.95.05", memory: int = 81559) -> str:
    """Return the output of nvidia-smi --query-gpu with csv,noheader,nounits (see nvidia-smi(1))."""
    return "".join(f"{name}, {driver}, {memory}, 00000000:{0x1B + index:02X}:00.0\n" for index in range(count))


def dcgmi(statuses: Mapping[str, str] | None = None, message: str = "", *, old: bool = False) -> str:
    """Return the output of dcgmi diag of version 4, or of version 3 if `old` (DCGM user guide, Diagnostics)."""
    tests: list[dict[str, Any]] = []
    for test, status in (
        statuses or {"software": "Pass", "memory": "Pass", "pcie": "Skip", "targeted_stress": "Pass"}
    ).items():
        warnings = [{"error_id": 29, "error_severity": 5, "warning": message}] if status in ("Fail", "Warn") else []
        entity = {"gpu_ids": "0"} if old else {"entity_group": "GPU", "entity_id": 0}
        result = {**entity, "status": status, **({"warnings": [message] if old else warnings} if warnings else {})}
        tests.append({"name": test, "results": [result], **({} if old else {"test_summary": {"status": status}})})
    key = "DCGM GPU Diagnostic" if old else "DCGM Diagnostic"
    return json.dumps(
        {"metadata": {"version": "4.4.1"}, key: {"test_categories": [{"category": "Hardware", "tests": tests}]}}
    )


def nvbandwidth(host: float = 55.2, peer: float = 390.1, slow: float | None = None) -> str:
    """Return nvbandwidth's JSON (json_output.cpp): matrices of texts, N/A where a GPU would copy to itself."""
    row = [f"{host:g}"] * 8
    slowed = [*row[:3], f"{slow:g}", *row[4:]] if slow is not None else row
    square = [["N/A" if a == b else f"{peer:g}" for b in range(8)] for a in range(8)]
    cases = {
        "host_to_device_memcpy_ce": [slowed],
        "device_to_host_memcpy_ce": [row],
        "device_to_device_memcpy_read_ce": square,
    }
    written = [
        {"name": name, "status": "Passed", "bandwidth_matrix": matrix, "sum": 1.0} for name, matrix in cases.items()
    ]
    return json.dumps({"nvbandwidth": {"version": "v0.8", "git_version": "v0.8", "testcases": written}}, indent=3)


def nccl(hosts: Sequence[str], busbw: Mapping[int, float], *, each: int = 8, wrong: int = 0) -> str:
    """Return the output of nccl-tests (common.cu): a comment per rank, a line per size, out of place and in place."""
    lines = [
        "# nThread 1 nGpus 1 minBytes 268435456 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20",
        "#",
    ]
    ranks = [(host, device) for host in hosts for device in range(each)]
    for rank, (host, device) in enumerate(ranks):
        lines.append(
            f"#  Rank {rank:2} Group  0 Pid {4000 + rank} on {host:>10} device {device:2} [0000:{device:02x}:00] {H100}"
        )
    lines += [
        "#",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong",
    ]
    for size, value in busbw.items():
        lines.append(
            f"{size:12} {size // 4:13}     float     sum      -1   1000.0  {value:6.2f}  {value:6.2f} {wrong:6}   1000.0  {value + 1:6.2f}  {value + 1:6.2f}    N/A"
        )
    return "\n".join(
        [*lines, f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}", "# Avg bus bandwidth    : 1", ""]
    )


def fio(read: int = 12_000_000_000, write: int = 9_000_000_000, error: int = 0) -> str:
    """Return fio's JSON output (its documentation); a warning may come before it."""
    jobs = [
        {"jobname": "write", "error": error, "read": {"bw_bytes": 0}, "write": {"bw_bytes": write}},
        {"jobname": "read", "error": 0, "read": {"bw_bytes": read}, "write": {"bw_bytes": 0}},
    ]
    return "fio: a note\n" + json.dumps({"fio version": "fio-3.39", "jobs": jobs})


def training(*losses: float, devices: str = "16 gpu") -> str:
    """Return the log of examples/digits/train.py."""
    lines = [f"12:00:00 [0/2 dgx01] 2 processes on dgx01,dgx02, {devices} devices, site unknown"]
    for epoch, loss in enumerate(losses, start=1):
        lines.append(f"12:00:0{epoch} [0/2 dgx01] epoch {epoch}/{len(losses)} loss={loss:.4g} test_accuracy=0.9")
    return "\n".join([*lines, "12:00:09 [0/2 dgx01] done after epoch 2", ""])
