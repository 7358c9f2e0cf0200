"""State machine of GPU health. Pure: the next journal and the actions follow from journal, views, observations and results.

The present state of a node decides, not the change since the last pass: a lost result or journal leads to the same end.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from landbridge.catalog.hardware.gpu_health import GpuHealthFacts, RepairLimit
from landbridge.ops.gpu_health.requirement import Requirement, requirement
from landbridge.ops.gpu_health.values import (
    PREFIX,
    HealthAction,
    HealthJournal,
    HealthObservation,
    HealthRecord,
    HealthState,
    HealthStep,
    NodeView,
    RepairResult,
)

#: Characters of a reason, as in the role node_health.
_MAX_LENGTH = 200
_REASON = re.compile(rf"^{re.escape(PREFIX)}(\w+); (.*); do: (\w+)$")
_DAY = 86_400.0


@dataclass(slots=True)
class _Pass:
    """Inputs of one pass, and the actions and repairs that it adds."""

    facts: GpuHealthFacts
    now: float
    repairs: dict[str, tuple[float, ...]]
    results: Sequence[RepairResult]
    free: int
    actions: list[HealthAction] = field(default_factory=list)

    def act(self, step: HealthStep, record: HealthRecord, reason: str = "") -> None:
        self.actions.append(HealthAction(step, record.node, record.gpus, reason, record.since))

    def result(self, record: HealthRecord, step: str) -> RepairResult | None:
        """Return the result of the step that the record waits for; results of earlier attempts do not count."""
        matching = (result for result in self.results if result.node == record.node and result.step == step)
        return next((result for result in matching if result.started == record.since), None)

    def repeated(self, gpus: Iterable[str]) -> str:
        """Return a GPU that was repaired too often; empty without one."""
        since = self.now - self.facts.repeated.days * _DAY
        counts = {gpu: sum(at > since for at in self.repairs.get(gpu, ())) for gpu in gpus}
        return next((gpu for gpu, count in counts.items() if count >= self.facts.repeated.repairs), "")


def advance(
    journal: HealthJournal,
    views: Iterable[NodeView],
    observations: Iterable[HealthObservation],
    results: Sequence[RepairResult],
    facts: GpuHealthFacts,
    budget: int,
    now: float,
) -> tuple[HealthJournal, tuple[HealthAction, ...]]:
    """Return the next journal, which is written before the actions are carried out, and the actions.

    `budget`: on-prem nodes that health checks and this machine may keep out of service at the same time.
    """
    present = sorted(views, key=lambda view: view.node)
    records = {view.node: _adopted(journal.records.get(view.node, HealthRecord(view.node)), view) for view in present}
    used = sum(
        view.site == "onprem" and (not records[view.node].state.in_service or view.is_of_a_check) for view in present
    )
    current = _Pass(facts, now, dict(journal.repairs), results, budget - used)
    by_node: dict[str, list[HealthObservation]] = {}
    for observation in observations:
        by_node.setdefault(observation.node, []).append(observation)
    for view in present:
        record = records[view.node]
        fresh = [entry for entry in by_node.get(view.node, ()) if record.cleared_at < entry.at <= now]
        records[view.node] = _next(current, record, view, requirement(fresh, facts))
    others = {name: record for name, record in journal.records.items() if name not in records}
    return HealthJournal({**others, **records}, current.repairs), tuple(current.actions)


def reason(state: HealthState, detail: str, action: str) -> str:
    """Return Slurm's reason of a drain, one line without quotes."""
    tail = f"; do: {action}"
    text = re.sub(r"[^\x20-\x7e]|[\"']", " ", f"{PREFIX}{state}; {detail}")
    return text[: _MAX_LENGTH - len(tail)].rstrip() + tail


def _adopted(record: HealthRecord, view: NodeView) -> HealthRecord:
    """Return the record of a drain of this machine whose journal was lost, from the reason in Slurm."""
    match = _REASON.match(view.reason) if view.is_ours and record.state.in_service else None
    if match is None:
        return record
    state, detail, action = match.groups()
    final = {str(HealthState.QUARANTINED): HealthState.QUARANTINED, str(HealthState.RMA): HealthState.RMA}
    return replace(
        record,
        state=final.get(state, HealthState.DRAINING),
        detail=detail,
        required=action if action in ("repair", "reboot", "reset") else "reboot",
        attempts={},
        drain_seen=True,
    )


def _next(current: _Pass, record: HealthRecord, view: NodeView, need: Requirement | None) -> HealthRecord:
    if record.state.in_service:
        return _in_service(current, record, view, need)
    if view.is_of_another:
        # A person's drain is never changed; the machine's own ends with it.
        if record.state is HealthState.RETESTING:
            current.act(HealthStep.RELEASE, record)
        return replace(record, state=HealthState.SUSPECT, since=current.now, attempts={}, drain_seen=False)
    if not view.drained and record.drain_seen and record.state is not HealthState.RETESTING:
        # A person resumed the node (in AWS: another instance has its name), which acknowledges its faults.
        if record.attempts.get("retest"):
            current.act(HealthStep.RELEASE, record)
        return _returned(current, record)
    if view.site == "aws":
        if not view.drained:
            current.act(HealthStep.REPLACE, record, f"landbridge:{_check_reason(record)}")
        return replace(record, drain_seen=view.drained)
    match record.state:
        case HealthState.DRAINING:
            return _draining(current, record, view, need)
        case HealthState.RESETTING:
            return _resetting(current, record)
        case HealthState.REBOOTING:
            return _rebooting(current, record, view)
        case HealthState.RETESTING:
            return _retesting(current, record, need)
        case _:
            return _final(current, record, view)


def _in_service(current: _Pass, record: HealthRecord, view: NodeView, need: Requirement | None) -> HealthRecord:
    if need is None:
        is_over = current.now - record.since > current.facts.suspect_minutes * 60
        if record.state is HealthState.HEALTHY or not is_over:
            return replace(record, withheld=False)
        return HealthRecord(record.node, since=current.now, cleared_at=record.cleared_at)
    known = replace(record, gpus=need.gpus, detail=need.detail, required=need.action, withheld=False)
    is_permitted = view.is_of_a_check or view.site == "aws" or current.free > 0
    if need.drains and is_permitted and not view.is_of_another:
        if not view.is_of_a_check and view.site == "onprem":
            current.free -= 1
        started = replace(known, state=HealthState.DRAINING, since=current.now, attempts={}, drain_seen=False)
        if view.site == "aws":
            if not view.drained:
                current.act(HealthStep.REPLACE, started, f"landbridge:{_check_reason(started)}")
            return replace(started, drain_seen=view.drained)
        current.act(HealthStep.DRAIN, started, reason(started.state, started.detail, started.required))
        return started
    if current.now - need.last > current.facts.suspect_minutes * 60 and not need.drains:
        return replace(known, state=HealthState.HEALTHY, since=current.now, cleared_at=need.last)
    return replace(
        known,
        state=HealthState.SUSPECT,
        since=record.since if record.state is HealthState.SUSPECT else current.now,
        withheld=need.drains and not view.is_of_another,
    )


def _draining(current: _Pass, record: HealthRecord, view: NodeView, need: Requirement | None) -> HealthRecord:
    if need is not None and need.drains and _is_more_serious(need.action, record.required):
        record = replace(record, required=need.action, gpus=need.gpus or record.gpus, detail=need.detail)
    if not view.is_ours:
        # Not applied yet, or a health check's drain, which the check would end by itself.
        current.act(HealthStep.DRAIN, record, reason(record.state, record.detail, record.required))
        return record
    record = replace(record, drain_seen=True)
    if view.jobs:
        return record
    repeated = current.repeated(record.gpus)
    if repeated:
        count, days = current.facts.repeated.repairs, current.facts.repeated.days
        return _ended(current, record, HealthState.QUARANTINED, f"{repeated} repaired {count} times in {days:g} days")
    if record.required == "repair":
        return _ended(current, record, HealthState.RMA, record.detail)
    can_reset = record.required == "reset" and bool(record.gpus) and view.gpu_processes == 0
    if can_reset and _may(record, "reset", current.facts.steps.reset):
        return _begun(current, record, HealthState.RESETTING)
    if _may(record, "reboot", current.facts.steps.reboot):
        return _begun(current, record, HealthState.REBOOTING)
    return _ended(current, record, HealthState.QUARANTINED, record.detail)


def _resetting(current: _Pass, record: HealthRecord) -> HealthRecord:
    result = current.result(record, "reset")
    if result is not None and result.ok:
        return _begun(current, record, HealthState.RETESTING)
    if result is not None or _is_late(current, record, current.facts.steps.reset):
        return _begun(current, record, HealthState.REBOOTING)
    return record


def _rebooting(current: _Pass, record: HealthRecord, view: NodeView) -> HealthRecord:
    result = current.result(record, "reboot")
    if (view.booted_at or 0) > record.since or (result is not None and result.ok):
        return _begun(current, record, HealthState.RETESTING)
    if result is None and not _is_late(current, record, current.facts.steps.reboot):
        return record
    if _may(record, "reboot", current.facts.steps.reboot):
        return _begun(current, record, HealthState.REBOOTING)
    return _ended(current, record, HealthState.QUARANTINED, f"did not start again after {record.detail}")


def _retesting(current: _Pass, record: HealthRecord, need: Requirement | None) -> HealthRecord:
    result = current.result(record, "retest")
    is_faulty = need is not None and need.drains
    if result is not None and result.ok and not is_faulty:
        for gpu in record.gpus:
            current.repairs[gpu] = (*current.repairs.get(gpu, ()), current.now)
        current.act(HealthStep.RETURN, record)
        return _returned(current, record)
    if is_faulty or (result is not None and result.ok is False):
        first = record.detail.partition("; retest: ")[0]
        detail = (
            f"{first}; retest: {need.detail if need is not None and is_faulty else result.detail if result else ''}"
        )
        if not record.attempts.get("reboot"):
            # Drained first: the restart begins when the machine sees its own drain again.
            again = replace(record, state=HealthState.DRAINING, since=current.now, required="reboot", detail=detail)
            current.act(HealthStep.DRAIN, again, reason(again.state, detail, "reboot"))
            return replace(again, drain_seen=False)
        final = HealthState.RMA if record.gpus else HealthState.QUARANTINED
        return _ended(current, record, final, detail)
    if result is None and not _is_late(current, record, current.facts.steps.retest):
        return record
    # Not run, or without a result in time: this says nothing about the GPU.
    if _may(record, "retest", current.facts.steps.retest):
        return _begun(current, record, HealthState.RETESTING)
    return _ended(current, record, HealthState.QUARANTINED, f"retest without a result: {record.detail}")


def _final(current: _Pass, record: HealthRecord, view: NodeView) -> HealthRecord:
    text = reason(record.state, record.detail, "repair")
    if view.is_ours and view.reason == text:
        return replace(record, drain_seen=True)
    current.act(HealthStep.RMA if record.state is HealthState.RMA else HealthStep.QUARANTINE, record, text)
    return record


def _begun(current: _Pass, record: HealthRecord, state: HealthState) -> HealthRecord:
    """Return the record of a step that begins now, with one more attempt."""
    step = {HealthState.RESETTING: HealthStep.RESET, HealthState.REBOOTING: HealthStep.REBOOT}.get(
        state, HealthStep.RETEST
    )
    attempts = {**record.attempts, str(step): record.attempts.get(str(step), 0) + 1}
    begun = replace(record, state=state, since=current.now, attempts=attempts)
    if step is HealthStep.RETEST:
        # The repair resolves earlier observations; a fault that is still there is observed again.
        begun = replace(begun, cleared_at=current.now)
    current.act(step, begun, reason(state, record.detail, record.required))
    return begun


def _ended(current: _Pass, record: HealthRecord, state: HealthState, detail: str) -> HealthRecord:
    ended = replace(record, state=state, since=current.now, detail=detail, drain_seen=False)
    step = HealthStep.RMA if state is HealthState.RMA else HealthStep.QUARANTINE
    current.act(step, ended, reason(state, detail, "repair"))
    return ended


def _returned(current: _Pass, record: HealthRecord) -> HealthRecord:
    return replace(
        record,
        state=HealthState.RETURNED,
        since=current.now,
        cleared_at=current.now,
        attempts={},
        drain_seen=False,
        withheld=False,
    )


def _may(record: HealthRecord, step: str, limit: RepairLimit) -> bool:
    return record.attempts.get(step, 0) < limit.attempts


def _is_late(current: _Pass, record: HealthRecord, limit: RepairLimit) -> bool:
    return current.now - record.since > limit.minutes * 60


def _is_more_serious(action: str, than: str) -> bool:
    order: Mapping[str, int] = {"repair": 0, "reboot": 1, "reset": 2}
    return order.get(action, 3) < order.get(than, 3)


def _check_reason(record: HealthRecord) -> str:
    kind, _, detail = record.detail.partition(" ")
    return f"{kind}:{detail}; do: {record.required}"
