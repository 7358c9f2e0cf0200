"""Recovery of resources that an interrupted operation created without recording them, before the next operation begins.

A killed engine leaves pending creates in the state; a create that failed may have succeeded in AWS, its answer lost. What is
found there is taken into the state, and the next `up` finishes it: nothing is made twice, and nothing has to be removed by hand.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from pulumi import automation as auto

from landbridge.plan.resource_change import ResourceChange
from landbridge.realise import state

#: By type, ids of things that are remembered.
Known = Mapping[str, frozenset[str]]
#: The ids, by URN, of those of the changes that exist in AWS and are not among the known ids of their type.
Find = Callable[[Sequence[ResourceChange], Known], Mapping[str, str]]
#: What a preview would do; empty where there can be none.
Preview = Callable[[], Sequence[ResourceChange]]

#: Seconds after which AWS shows everywhere what was made. Source: EC2 API, "Eventual consistency": seconds to minutes; a read
#: that follows a write by less than this is repeated.
SETTLED_SECONDS = 30.0
_PAUSE_SECONDS = 2.0


@dataclass(frozen=True)
class Settled:
    """Resources of an interrupted operation: `taken_in` exist in AWS, by URN their ids; `absent` do not, and will be
    created.
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
    elsewhere: Callable[[], Known] = dict,
    tell: Callable[[str], None] = lambda text: None,
) -> Settled:
    """Take resources that exist into the stack's state, and forget those that do not. Queries AWS only where a create
    is pending.

    `elsewhere`: the ids, by type, that other stacks of the environment remember. `tell` hears why this takes a while.
    Raises CommandError where Pulumi cannot read or write the state, and whatever `find` raises.
    """
    with ThreadPoolExecutor(2) as both:
        exporting, telling = both.submit(stack.export_stack), both.submit(_failed_last, stack)
        exported, failed_at = exporting.result(), telling.result()
    deployment = exported.deployment or {}
    records = {str(pending_create["urn"]): pending_create for pending_create in state.pending_creates(deployment)}
    begun = [state.change_of_record(record) for record in records.values()]
    if failed_at is not None:
        for change in preview():
            if change.operation in ("create", "create-replacement") and change.urn not in records:
                records[change.urn] = state.record_of_change(change, deployment)
                begun.append(change)
    begun = [one for one in begun if one.type.startswith("aws:")]
    open_ = {str(pending_create["urn"]) for pending_create in state.pending_creates(deployment)}
    if not begun and not open_:
        return Settled({})
    ids_in_state, until = (
        _merged(state.known_ids(deployment), elsewhere()),
        _until(deployment, failed_at, settled_seconds),
    )
    left = max(0, round(until - time.monotonic()))
    tell(
        "an earlier operation was interrupted or failed: searching AWS for its resources"
        + (f", up to {left} s" if left else "")
    )
    ids = _patiently(find, begun, ids_in_state, until)
    if ids or open_:
        edited = state.taken_in(deployment, records.values(), ids)
        stack.import_stack(auto.Deployment(exported.version, edited))
    if ids:
        stack.refresh(target=sorted(ids), color="never", on_output=lambda _: None)
    return Settled(ids, tuple(sorted(open_ - set(ids))))


def _failed_last(stack: auto.Stack) -> datetime | None:
    """Return the time of the last update if it failed. A later refresh or preview does not change that."""
    for update_summary in stack.history(page_size=10, page=1, show_secrets=False):
        if update_summary.kind in ("update", "destroy", "import", "resource-import"):
            failed = update_summary.result == "failed" and update_summary.kind == "update"
            return (update_summary.end_time or update_summary.start_time).replace(tzinfo=UTC) if failed else None
    return None


def _until(deployment: Mapping[str, object], failed_at: datetime | None, settled_seconds: float) -> float:
    """Return the time (time.monotonic) from which on AWS shows all resources of the earlier operation."""
    last = max((one for one in (state.written_at(deployment), failed_at) if one), default=datetime.now(UTC))
    age = max(0.0, (datetime.now(UTC) - last).total_seconds())
    return time.monotonic() + max(0.0, settled_seconds - age)


def _merged(first: Known, other: Known) -> Known:
    return {token: first.get(token, frozenset()) | other.get(token, frozenset()) for token in {*first, *other}}


def _patiently(find: Find, begun: Sequence[ResourceChange], ids_in_state: Known, until: float) -> dict[str, str]:
    """Search until all resources are found, or until missing ones cannot exist."""
    recovered: dict[str, str] = {}
    while True:
        missing = [change for change in begun if change.urn not in recovered]
        type_ids = [(change.type, recovered[change.urn]) for change in begun if change.urn in recovered]
        recovered |= find(
            missing,
            _merged(ids_in_state, {kind: frozenset(id_ for of, id_ in type_ids if of == kind) for kind, _ in type_ids}),
        )
        left = until - time.monotonic()
        if left <= 0 or all(change.urn in recovered for change in begun):
            return recovered
        time.sleep(min(_PAUSE_SECONDS, left))
