"""Decision of a canary from its record and the counters of a look. Pure and level-triggered: a look is one reading of the counters of both
versions, and the next look includes the requests of a missed one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from landbridge.models.canary.guards import Guard, GuardEvidence, harm_of_all, threshold, with_block
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.shadow import ShadowEvidence, refusal, unproven, with_copies
from landbridge.models.canary.tallies import Tally, VersionCounters, merged, new_requests


class CanaryAction(StrEnum):
    """Decision of a look. `advance` is the next weight; `promote` and `roll_back` end the canary."""

    HOLD = "hold"
    ADVANCE = "advance"
    EXTEND = "extend"
    PROMOTE = "promote"
    ROLL_BACK = "roll_back"


FINAL = (CanaryAction.PROMOTE, CanaryAction.ROLL_BACK)


@dataclass(frozen=True, slots=True)
class CanaryLook:
    """Counters of both versions at a time, and whether a server of the candidate is ready.

    `copies`: tallies of the candidate's answers to copies of the champion's requests, by the champion's server and the shadow's guard.
    """

    at: float
    champion: VersionCounters
    candidate: VersionCounters
    ready: bool = True
    copies: VersionCounters = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CanaryRecord:
    """State of a canary: its versions, its step, the counters of the last look, and the evidence by guard.

    While `is_shadow` the candidate has the weight 0, and copies of requests are compared. `content`: digests of both versions' files.
    """

    model: str
    champion: str
    candidate: str
    started_at: float
    step: int = 0
    step_at: float = 0.0
    step_requests: int = 0
    extended: int = 0
    down_at: float | None = None
    outcome: CanaryAction | None = None
    reason: str = ""
    seen: Mapping[str, VersionCounters] = field(default_factory=dict)
    evidence: Mapping[str, GuardEvidence] = field(default_factory=dict)
    is_shadow: bool = False
    shadow: Mapping[str, ShadowEvidence] = field(default_factory=dict)
    content: str = ""

    def is_of(self, versions: tuple[str, str, str], content: str) -> bool:
        """Return whether this is the record of a model, its champion and a candidate, with the same files."""
        return (self.model, self.champion, self.candidate, self.content) == (*versions, content)


@dataclass(frozen=True, slots=True)
class CanaryDecision:
    """Decision of a look, with the candidate's percent of the traffic from now on and the reason."""

    action: CanaryAction
    weight: int
    reason: str


def begun(
    model: str, champion: str, candidate: str, look: CanaryLook, *, is_shadow: bool = False, content: str = ""
) -> CanaryRecord:
    """Return the record of a new canary: requests before this look do not count. With `is_shadow` it begins with copies."""
    seen = {
        "champion": merged(look.champion, {}),
        "candidate": merged(look.candidate, {}),
        "copies": merged(look.copies, {}),
    }
    return CanaryRecord(
        model, champion, candidate, look.at, step_at=look.at, seen=seen, is_shadow=is_shadow, content=content
    )


def decided(plan: CanaryPlan, record: CanaryRecord, look: CanaryLook) -> tuple[CanaryDecision, CanaryRecord]:
    """Return the decision of a look, and the new record. A canary that has ended keeps its decision."""
    if record.outcome is not None:
        return _kept(plan, record), record
    updated = _with_look(plan, record, look)
    action, reason = next(_reasons(plan, updated, look.at))
    match action:
        case CanaryAction.ADVANCE if updated.is_shadow:
            updated = replace(updated, is_shadow=False, step_at=look.at, step_requests=0)
        case CanaryAction.ADVANCE:
            updated = replace(updated, step=updated.step + 1, step_at=look.at, step_requests=0)
        case CanaryAction.EXTEND:
            updated = replace(updated, extended=updated.extended + 1)
        case CanaryAction.PROMOTE | CanaryAction.ROLL_BACK:
            updated = replace(updated, outcome=action, reason=reason)
    return CanaryDecision(action, weight_of(plan, updated), reason), updated


def replayed(plan: CanaryPlan, record: CanaryRecord, looks: "Iterator[CanaryLook]") -> CanaryRecord:
    """Return the record after a series of looks, from the record of the first one."""
    for look in looks:
        _, record = decided(plan, record, look)
    return record


def weight_of(plan: CanaryPlan, record: CanaryRecord) -> int:
    """Return the candidate's percent of the traffic by a record."""
    match record.outcome:
        case CanaryAction.PROMOTE:
            return 100
        case CanaryAction.ROLL_BACK:
            return 0
        case _:
            return 0 if record.is_shadow else plan.weights[record.step]


def _kept(plan: CanaryPlan, record: CanaryRecord) -> CanaryDecision:
    assert record.outcome is not None
    return CanaryDecision(record.outcome, weight_of(plan, record), record.reason)


def _with_look(plan: CanaryPlan, record: CanaryRecord, look: CanaryLook) -> CanaryRecord:
    """Return the record with the requests since the last look as one block of each guard."""
    before_a, before_b = record.seen.get("champion", {}), record.seen.get("candidate", {})
    evidence, most = {}, Tally()
    of_requests = [guard for guard in plan.guards if not guard.per_row] or plan.guards
    for guard in plan.guards:
        champion = new_requests(look.champion, before_a, guard.name)
        candidate = new_requests(look.candidate, before_b, guard.name)
        before = record.evidence.get(guard.name, GuardEvidence())
        evidence[guard.name] = with_block(guard, before, champion, candidate)
        if guard in of_requests:
            most = max(most, candidate, key=lambda tally: tally.all)
    before_copies = record.seen.get("copies", {})
    shadow = dict(record.shadow)
    for watched in plan.shadow.guards if plan.shadow is not None and record.is_shadow else ():
        new = new_requests(look.copies, before_copies, watched.name)
        shadow[watched.name] = with_copies(watched, shadow.get(watched.name, ShadowEvidence()), new)
    return replace(
        record,
        step_requests=record.step_requests + most.all,
        down_at=None if look.ready else record.down_at if record.down_at is not None else look.at,
        seen={
            "champion": merged(look.champion, before_a),
            "candidate": merged(look.candidate, before_b),
            "copies": merged(look.copies, before_copies),
        },
        evidence=evidence,
        shadow=shadow,
    )


def _reasons(plan: CanaryPlan, record: CanaryRecord, at: float) -> Iterator[tuple[CanaryAction, str]]:
    """Yield the actions that apply, the most urgent first."""
    if record.down_at is not None and at - record.down_at >= plan.down_seconds:
        yield CanaryAction.ROLL_BACK, f"no server of the candidate has been ready for {at - record.down_at:.0f} s"
    if record.is_shadow:
        yield from _shadow_reasons(plan, record, at)
        return
    harm = harm_of_all(record.evidence)
    if harm >= threshold(plan.false_rollbacks):
        worst = max(plan.guards, key=lambda guard: record.evidence[guard.name].harm_e)
        yield CanaryAction.ROLL_BACK, f"{worst.name}: {_rates(worst, record.evidence[worst.name])}, e-value {harm:.3g}"
    open_guards = [
        guard.name
        for guard in plan.guards
        if guard.required and record.evidence[guard.name].safe_e < threshold(plan.false_promotions)
    ]
    above = [guard.name for guard in plan.guards if record.evidence[guard.name].candidate.share > guard.most]
    is_last = record.step == len(plan.weights) - 1
    is_done = not above and record.step_requests >= plan.requests and at - record.step_at >= plan.step_seconds
    if record.down_at is None and is_done and not is_last:
        yield CanaryAction.ADVANCE, f"{record.step_requests} requests without evidence for harm"
    if record.down_at is None and is_done and is_last and not open_guards:
        yield CanaryAction.PROMOTE, "every required guard has evidence that its rise is below its effect"
    yield from _overdue(plan, record, at, above or open_guards)
    waits = "".join(f", {name} in {record.evidence[name].candidate.share:.0%}" for name in above)
    if is_last and open_guards:
        waits += f", no evidence yet in {', '.join(open_guards)}"
    yield CanaryAction.HOLD, f"{record.step_requests} requests in this step{waits}"


def _shadow_reasons(plan: CanaryPlan, record: CanaryRecord, at: float) -> Iterator[tuple[CanaryAction, str]]:
    if plan.shadow is None:
        # The service has no shadow any more.
        yield CanaryAction.ADVANCE, "copies of requests are not compared any more"
        return
    reason = refusal(plan.shadow, record.shadow)
    if reason:
        yield CanaryAction.ROLL_BACK, reason
    open_guards = unproven(plan.shadow, record.shadow)
    copies = max((each.copies.all for each in record.shadow.values()), default=0)
    if record.down_at is None and not open_guards and at - record.step_at >= plan.step_seconds:
        yield CanaryAction.ADVANCE, f"shadow: {copies} copies, every share is below its limit"
    yield from _overdue(plan, record, at, open_guards)
    yield (
        CanaryAction.HOLD,
        f"shadow: {copies} copies" + (f", no evidence yet in {', '.join(open_guards)}" if open_guards else ""),
    )


def _overdue(
    plan: CanaryPlan, record: CanaryRecord, at: float, open_guards: Sequence[str]
) -> Iterator[tuple[CanaryAction, str]]:
    if at - record.started_at < plan.limit_seconds * (1 + record.extended):
        return
    if record.extended < plan.extensions:
        yield CanaryAction.EXTEND, f"undecided after {plan.limit_seconds:.0f} s"
    else:
        missing = f": no evidence in {', '.join(open_guards)}" if open_guards else ": too few requests"
        yield CanaryAction.ROLL_BACK, f"undecided after {at - record.started_at:.0f} s{missing}"


def _rates(guard: Guard, evidence: GuardEvidence) -> str:
    champion, candidate, unit = evidence.champion, evidence.candidate, "rows" if guard.per_row else "requests"
    return f"candidate {candidate.share:.2%} of {candidate.all} {unit}, champion {champion.share:.2%} of {champion.all}"
