"""Report on faulty GPUs for the hardware support: identities, Xids with their times, counters, repairs, retests. Pure.

It has fields that are selected by name; environment, users, jobs and process names of the log are not among them.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from landbridge import timestamps
from landbridge.ops.gpu_health.kernel_log import KernelLog
from landbridge.ops.gpu_health.smi_xml import SmiReading
from landbridge.ops.gpu_health.values import HealthRecord

#: Program of the driver that collects NVIDIA's own report; the support asks for its file.
BUG_REPORT = "nvidia-bug-report.sh"


def rma_report(
    node: str,
    record: HealthRecord,
    reading: SmiReading | None,
    log: KernelLog | None,
    retest: Mapping[str, Any] | None,
    repairs: Mapping[str, Sequence[float]],
    now: float,
    bug_report: Path | None = None,
) -> dict[str, Any]:
    """Return the report as plain data. GPUs: those of the record, or all of the node if it names none."""
    gpus = list(reading.gpus) if reading is not None else []
    concerned = [gpu for gpu in gpus if gpu.identity.uuid in record.gpus or gpu.identity.address in record.gpus] or gpus
    listed = {gpu.identity.uuid for gpu in gpus}
    return {
        "report": "faulty GPUs",
        "at": timestamps.iso(now),
        "node": node,
        "fault": record.detail,
        "state": str(record.state),
        "driver": reading.driver if reading is not None else "",
        "gpus": [
            {
                **asdict(gpu.identity),
                "faults": [{"kind": kind, "detail": detail} for kind, detail, _ in gpu.faults],
                "counters": gpu.counters,
                "repairs": [timestamps.iso(at) for at in repairs.get(gpu.identity.uuid, ())],
            }
            for gpu in concerned
        ],
        # A GPU that has fallen off the bus is not in nvidia-smi; the log has its UUID and serial number.
        "missing_gpus": [
            {"address": address, "uuid": uuid, "serial": log.serials.get(address, "")}
            for address, uuid in sorted(log.uuids.items())
            if uuid not in listed
        ]
        if log is not None
        else [],
        "xids": [
            {"at": timestamps.iso(entry.at), "gpu": entry.gpu, "kind": entry.kind, "detail": entry.detail}
            for entry in (log.observations if log is not None else ())
        ],
        "retest": _retest(retest),
        "bug_report": _bug_report(bug_report),
    }


def rma_text(report: Mapping[str, Any]) -> str:
    """Return the report as text for a support case."""
    lines = [
        f"Faulty GPUs of node {report['node']}, {report['at']}",
        f"Fault: {report['fault'] or 'not recorded'}",
        f"Driver: {report['driver'] or 'did not answer'}",
    ]
    for gpu in report["gpus"]:
        lines += [
            "",
            f"GPU {gpu['index']}: {gpu['name']}",
            f"  serial number  {gpu['serial'] or 'not known'}",
            f"  UUID           {gpu['uuid']}",
            f"  PCI address    {gpu['address']}",
            f"  VBIOS          {gpu['vbios']}",
            f"  part number    {gpu['part_number']}",
            *(f"  fault          {fault['detail']}" for fault in gpu["faults"]),
            *(f"  {name:<24} {value:g}" for name, value in sorted(gpu["counters"].items())),
            *(f"  repaired       {at}" for at in gpu["repairs"]),
        ]
    for gpu in report["missing_gpus"]:
        lines += [
            "",
            f"Not listed by nvidia-smi: {gpu['uuid']} at {gpu['address']}, serial number {gpu['serial'] or 'not known'}",
        ]
    lines += ["", "Errors in the kernel log:"]
    lines += [f"  {row['at']}  {row['kind']} {row['detail']}  {row['gpu']}" for row in report["xids"]] or ["  none"]
    lines += ["", "Acceptance checks after the repair:"]
    lines += [f"  {row['rung']}: {row['status']} {row['failed']}".rstrip() for row in report["retest"]] or ["  none"]
    return "\n".join([*lines, "", f"NVIDIA bug report: {report['bug_report']}", ""])


def _retest(retest: Mapping[str, Any] | None) -> list[dict[str, str]]:
    rungs: Iterable[Mapping[str, Any]] = retest.get("rungs", ()) if retest is not None else ()
    return [
        {
            "rung": str(rung["rung"]),
            "status": str(rung["status"]),
            "failed": "; ".join(
                f"{check['what']}: {check['measured']}" for check in rung["checks"] if check["passed"] is False
            )
            or str(rung["message"]),
        }
        for rung in rungs
    ]


def _bug_report(path: Path | None) -> str:
    if path is None:
        return f"run {BUG_REPORT} on the node as root, and attach nvidia-bug-report.log.gz"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{path.name}, {path.stat().st_size} bytes, sha256 {digest}"
