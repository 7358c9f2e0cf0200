"""Simulated world of pipelines: Slurm with late and lost answers, owners' folders, a journal, and crashes."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from landbridge.pipelines.reconcile.view import JobView, Measurement, StepJob, SubmitOutcome, merged_jobs
from landbridge.pipelines.runs.names import job_name
from landbridge.pipelines.runs.record import RunRecord
from landbridge.pipelines.runs.request import PipelineSource, RunRequest
from landbridge.pipelines.service.config import PipelinesConfig
from landbridge.pipelines.service.passes import PipelinePass
from landbridge.pipelines.service.ports import PortError

SETTLE, LATEST = 420.0, 360.0
#: Time in which slurmctld keeps an ended job (MinJobAge, slurm.conf(5)).
MIN_JOB_AGE = 300.0
CONFIG = PipelinesConfig({"lab": "internal"}, ("ann", "bob"), SETTLE, 60, ("Socket timed out",))


class CrashError(BaseException):
    """kill -9 of the service."""


def source(steps: list[dict[str, Any]], **keys: Any) -> PipelineSource:
    """Return a pipeline of steps with a script each."""
    definition = {
        "name": "digits",
        "owner": "ann",
        "account": "lab",
        "data_class": "internal",
        "triggers": [{"kind": "hand"}],
        **keys,
        "steps": [{"script": "job.sh", **step} for step in steps],
    }
    scripts = {step["name"]: "#!/bin/sh\n" for step in steps}
    return PipelineSource.parse({"definition": definition, "folder": "/home/ann/digits", "scripts": scripts})


def request(steps: list[dict[str, Any]], key: str = "1", **keys: Any) -> RunRequest:
    """Return a request by hand."""
    return RunRequest(source(steps, **keys), "hand", key, 1000.0)


@dataclass
class Point:
    """Points at which the service can be killed; `deadly` is the number of points until then."""

    deadly: int | None = None

    def __call__(self) -> None:
        if self.deadly is not None:
            self.deadly -= 1
            if self.deadly < 0:
                self.deadly = None
                raise CrashError


@dataclass
class SimulatedJob:
    """Job: `accepted` is the time since which slurmctld has it."""

    id: int
    name: str
    user: str
    accepted: float
    seconds: float
    state: str = "PENDING"
    ended: float | None = None
    history: list[tuple[float, str]] = field(default_factory=list)

    def change(self, state: str, now: float) -> None:
        self.state = state
        self.history.append((now, state))
        if state not in ("PENDING", "RUNNING"):
            self.ended = now


@dataclass
class World:
    """Clock, Slurm, folders and journal."""

    now: float = 10_000.0
    jobs: list[SimulatedJob] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)  # of sbatch
    lag: float = 0.0
    delay: float = LATEST
    squeue_fails: int = 0
    seconds: float = 60.0
    point: Point = field(default_factory=Point)
    journal: dict[str, str] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    ended: dict[str, RunRecord] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    cancels: list[str] = field(default_factory=list)
    definitions: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, dict[str, float]] = field(default_factory=dict)
    models: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    measurements: Callable[[str, str], Measurement] = lambda run, step: Measurement({"accuracy": 0.97})
    log: list[str] = field(default_factory=list)
    past: dict[str, dict[str, float]] = field(default_factory=dict)

    def a_pass(self) -> None:
        try:
            PipelinePass(CONFIG, self, self, self, self.log.append, lambda: self.now).run()
        except CrashError:
            self.log.append("killed")

    def advance(self, seconds: float) -> None:
        """Let time pass: jobs start, and end after their time."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + 15.0)
            for job in self.jobs:
                if job.accepted <= self.now:
                    if job.state == "PENDING":
                        job.change("RUNNING", self.now)
                    elif job.state == "RUNNING" and self.now >= job.history[-1][0] + job.seconds:
                        job.change("COMPLETED", self.now)

    def run(self, passes: int) -> None:
        for _ in range(passes):
            self.advance(15.0)
            self.a_pass()

    def settle(self) -> None:
        """End all faults, and make passes until all runs have ended."""
        self.point.deadly, self.squeue_fails = None, 0
        self.answers.clear()
        for _ in range(400):
            self.run(1)
            if not self.requests and not self.journal:
                return
        raise AssertionError(f"runs have not ended: {self.requests.keys()} {self.log[-20:]}")

    def ask(self, wanted: RunRequest) -> str:
        self.requests[wanted.name] = json.loads(json.dumps(wanted.to_json()))
        return wanted.name

    def jobs_of(self, run: str, step: str) -> list[SimulatedJob]:
        return [job for job in self.jobs if job.name == job_name(run, step)]

    # RunJournal.

    def load(self) -> dict[str, RunRecord]:
        return {name: RunRecord.parse(json.loads(text)) for name, text in self.journal.items()}

    def save(self, record: RunRecord) -> None:
        self.point()
        self.journal[record.name] = json.dumps(record.to_json())
        self.point()

    def remove(self, name: str) -> None:
        self.point()
        self.journal.pop(name, None)

    def remember(self, owner: str, runs: Mapping[str, float]) -> dict[str, float]:
        self.past.setdefault(owner, {}).update(runs)
        self.point()
        return dict(self.past[owner])

    # OwnerFolders.

    def read(self, owner: str) -> dict[str, Any]:
        if owner != "ann":
            return {
                **{name: {} for name in ("requests", "records", "definitions", "drift", "ended", "versions", "models")}
            } | {
                "cancel": [],
                "faults": [],
            }
        return {
            "requests": dict(self.requests),
            "records": {name: json.loads(text) for name, text in self.copies.items()},
            "definitions": self.definitions,
            "drift": {},
            "cancel": list(self.cancels),
            "ended": {name: record.ended or 0.0 for name, record in self.ended.items()},
            "versions": {"internal": self.versions},
            "models": {"lab": self.models},
            "faults": [],
        }

    def request(self, owner: str, name: str, data: Mapping[str, Any]) -> None:
        self.point()
        self.requests[name] = json.loads(json.dumps(data))

    def prepare(self, record: RunRecord) -> None:
        self.point()
        self.copies[record.name] = json.dumps(record.to_json())
        self.point()

    def finish(self, record: RunRecord) -> None:
        self.point()
        self.ended[record.name] = record
        self.point()
        self.requests.pop(record.name, None)
        self.point()
        self.copies.pop(record.name, None)

    def discard(self, owner: str, name: str) -> None:
        self.requests.pop(name, None)

    def refuse(self, owner: str, name: str, reason: str) -> None:
        self.refused[name] = reason
        self.requests.pop(name, None)

    def measure(self, record: RunRecord, step: str) -> Measurement:
        self.point()
        return self.measurements(record.name, step)

    # PipelineSlurm.

    def view(self, names: Collection[str], since: float) -> JobView:
        self.point()
        if self.squeue_fails:
            self.squeue_fails -= 1
            raise PortError("squeue: Unable to contact slurm controller (connect failure)")
        queued, accounted = [], []
        for job in self.jobs:
            if job.name not in names or job.accepted > self.now:
                continue
            if job.ended is None or self.now < job.ended + MIN_JOB_AGE:
                queued.append(StepJob(job.id, job.name, job.user, job.state))
            past = [state for at, state in job.history if at + self.lag <= self.now]
            if job.accepted + self.lag <= self.now:
                accounted.append(StepJob(job.id, job.name, job.user, past[-1] if past else "PENDING", usd=1.0))
        return merged_jobs(self.now, queued, accounted)

    def submit(self, record: RunRecord, step: str) -> SubmitOutcome:
        self.point()
        answer = self.answers.pop(0) if self.answers else "ok"
        if answer in ("lost", "killed before"):
            number = None
        else:
            late = self.delay if answer in ("late", "killed late") else 0.0
            number = self._accept(job_name(record.name, step), record.owner, self.now + late)
        if answer.startswith("killed"):
            raise CrashError
        if answer in ("lost", "late", "fault"):
            return SubmitOutcome(fault="Socket timed out on send/recv operation")
        self.point()
        return SubmitOutcome(job=number)

    def _accept(self, name: str, user: str, at: float) -> int:
        number = 100 + len(self.jobs)
        self.jobs.append(SimulatedJob(number, name, user, at, self.seconds))
        return number

    def cancel(self, record: RunRecord, job: int) -> None:
        self.point()
        cancelled_job = next(each for each in self.jobs if each.id == job)
        if cancelled_job.ended is None:
            cancelled_job.change("CANCELLED", self.now)
        self.point()
