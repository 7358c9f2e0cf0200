"""Running jobs with their GPUs, from `scontrol show jobs --json`. Pure.

Source: Slurm's data_parser: `gres_detail` has one text for each node, such as gpu:h100:2(IDX:0-1), in the order of `nodes`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from landbridge import hostlist

_GPUS = re.compile(r"\bgpu(?::[^(,]*)?\(IDX:([0-9,-]+)\)")


@dataclass(frozen=True, slots=True)
class GpuJob:
    """Running job with whole GPUs. `gpus`: (node, number of the device file). `id`: as scontrol takes it."""

    id: str
    user: str
    account: str
    partition: str
    qos: str
    name: str
    started: float
    ends: float | None
    is_batch: bool
    may_requeue: bool
    comment: str
    admin_comment: str
    gpus: tuple[tuple[str, int], ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes with a GPU of the job."""
        return tuple(dict.fromkeys(node for node, _ in self.gpus))


def running_jobs(answer: Mapping[str, Any]) -> tuple[GpuJob, ...]:
    """Return the running jobs that have GPUs."""
    jobs = (_job(raw) for raw in answer.get("jobs") or [] if _is_running(raw.get("job_state")))
    return tuple(job for job in jobs if job.gpus)


def _job(raw: Mapping[str, Any]) -> GpuJob:
    array, task = _number(raw.get("array_job_id")), raw.get("array_task_id")
    job = str(raw["job_id"])
    if array and isinstance(task, Mapping) and task.get("set") and _number(task) is not None:
        job = f"{array:.0f}_{_number(task):.0f}"
    return GpuJob(
        id=job,
        user=str(raw.get("user_name") or ""),
        account=str(raw.get("account") or ""),
        partition=str(raw.get("partition") or ""),
        qos=str(raw.get("qos") or ""),
        name=str(raw.get("name") or ""),
        started=_number(raw.get("start_time")) or 0.0,
        ends=_number(raw.get("end_time")) or None,
        is_batch=bool(raw.get("batch_flag", True)),
        may_requeue=bool(raw.get("requeue", True)),
        comment=str(raw.get("comment") or ""),
        admin_comment=str(raw.get("admin_comment") or ""),
        gpus=tuple(_gpus(raw)),
    )


def _gpus(raw: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the GPUs of a job; none if the details do not fit its nodes."""
    details = raw.get("gres_detail") or []
    try:
        nodes = hostlist.expand(str(raw.get("nodes") or ""))
    except hostlist.HostlistError:
        return
    if len(details) != len(nodes):
        return
    for node, detail in zip(nodes, details, strict=True):
        for match in _GPUS.finditer(str(detail)):
            for part in match.group(1).split(","):
                first, _, last = part.partition("-")
                yield from ((node, number) for number in range(int(first), int(last or first) + 1))


def _is_running(state: Any) -> bool:
    words = state if isinstance(state, list) else [state]
    return "RUNNING" in words and not {"CONFIGURING", "COMPLETING", "SUSPENDED"} & set(words)


def _number(value: Any) -> float | None:
    if isinstance(value, Mapping):
        return (
            float(value["number"])
            if value.get("set", True) and not value.get("infinite") and "number" in value
            else None
        )
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
