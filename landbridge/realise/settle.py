"""Recovery of resources that an interrupted operation created without recording them, before the next operation begins.

A killed engine leaves pending creates in the state; a failed create may have succeeded in AWS if its response was lost.
The resources that exist in AWS are added to the state, and the next `up` completes them: nothing is created twice, and
nothing has to be removed by hand.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from pulumi import automation as auto

from landbridge.plan.resource_change import ResourceChange
from landbridge.realise import state

#: Ids of resources in the state, by type.
Known = Mapping[str, frozenset[str]]
#: Returns the ids, by URN, of the changes whose resources exist in AWS and are not among the known ids of their type.
Find = Callable[[Sequence[ResourceChange], Known], Mapping[str, str]]
#: Returns the changes of a preview; empty if a preview is not possible.
Preview = Callable[[], Sequence[ResourceChange]]

#: Seconds after which all calls of AWS show a created resource. Source: EC2 API, "Eventual consistency": seconds to
#: minutes. An earlier search is repeated.
SETTLED_SECONDS = 30.0
_PAUSE_SECONDS = 2.0


@dataclass(frozen=True)
class Settled:
    """Resources of an interrupted operation: `taken_in` has the ids of those that exist in AWS, by URN; `absent` has
    the URNs of the others, which the next `up` creates.
    """

    taken_in: Mapping[str, str]
    absent: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.taken_in or self.absent)


def settle(
    stack: auto.Stack,
    find: Find,
    preview: Preview,
    settled_seconds: float = SETTLED_SECONDS,
    known_elsewhere: Callable[[], Known] = dict,
    report: Callable[[str], None] = lambda text: None,
) -> Settled:
    """Add resources that exist in AWS to the stack's state, and remove the pending creates of those that do not.
    Queries AWS only if a create is pending or the last update failed.

    `known_elsewhere`: the ids, by type, in the state of the environment's other stacks. `report` gets a message before
    a long search. Raises CommandError if Pulumi cannot read or write the state, and all errors of `find`.
    """
    with ThreadPoolExecutor(2) as executor:
        export, last_failure = executor.submit(stack.export_stack), executor.submit(_failed_last, stack)
        exported, failed_at = export.result(), last_failure.result()
    deployment = exported.deployment or {}
    records = {str(pending_create["urn"]): pending_create for pending_create in state.pending_creates(deployment)}
    started = [state.change_of_record(record) for record in records.values()]
    if failed_at is not None:
        for change in preview():
            if change.operation in ("create", "create-replacement") and change.urn not in records:
                records[change.urn] = state.record_of_change(change, deployment)
                started.append(change)
    started = [change for change in started if change.type.startswith("aws:")]
    pending_urns = {str(pending_create["urn"]) for pending_create in state.pending_creates(deployment)}
    if not started and not pending_urns:
        return Settled({})
    ids_in_state, until = (
        _merged(state.known_ids(deployment), known_elsewhere()),
        _until(deployment, failed_at, settled_seconds),
    )
    remaining_seconds = max(0, round(until - time.monotonic()))
    report(
        "an earlier operation was interrupted or failed: searching AWS for its resources"
        + (f", up to {remaining_seconds} s" if remaining_seconds else "")
    )
    ids = _find_until(find, started, ids_in_state, until)
    if ids or pending_urns:
        edited = state.taken_in(deployment, records.values(), ids)
        stack.import_stack(auto.Deployment(exported.version, edited))
    if ids:
        stack.refresh(target=sorted(ids), color="never", on_output=lambda _: None)
    return Settled(ids, tuple(sorted(pending_urns - set(ids))))


def _failed_last(stack: auto.Stack) -> datetime | None:
    """Return the time of the last update if it failed, else None. A later refresh or preview has no effect on this."""
    for update_summary in stack.history(page_size=10, page=1, show_secrets=False):
        if update_summary.kind in ("update", "destroy", "import", "resource-import"):
            failed = update_summary.result == "failed" and update_summary.kind == "update"
            return (update_summary.end_time or update_summary.start_time).replace(tzinfo=UTC) if failed else None
    return None


def _until(deployment: Mapping[str, object], failed_at: datetime | None, settled_seconds: float) -> float:
    """Return the time (time.monotonic) at which AWS shows all resources of the earlier operation."""
    last = max((time_ for time_ in (state.written_at(deployment), failed_at) if time_), default=datetime.now(UTC))
    age = max(0.0, (datetime.now(UTC) - last).total_seconds())
    return time.monotonic() + max(0.0, settled_seconds - age)


def _merged(first: Known, other: Known) -> Known:
    return {token: first.get(token, frozenset()) | other.get(token, frozenset()) for token in {*first, *other}}


def _find_until(find: Find, started: Sequence[ResourceChange], ids_in_state: Known, until: float) -> dict[str, str]:
    """Search until all resources are found, or until AWS would show the missing ones; return the ids by URN."""
    recovered: dict[str, str] = {}
    while True:
        missing = [change for change in started if change.urn not in recovered]
        type_ids = [(change.type, recovered[change.urn]) for change in started if change.urn in recovered]
        recovered |= find(
            missing,
            _merged(
                ids_in_state, {kind: frozenset(id_ for type_, id_ in type_ids if type_ == kind) for kind, _ in type_ids}
            ),
        )
        remaining_seconds = until - time.monotonic()
        if remaining_seconds <= 0 or all(change.urn in recovered for change in started):
            return recovered
        time.sleep(min(_PAUSE_SECONDS, remaining_seconds))
