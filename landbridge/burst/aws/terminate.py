"""Calls for many instances of which EC2 refuses some.

EC2 refuses TerminateInstances for all instances of an Availability Zone if one of them is termination-protected, and any
call for all its instances if one is unknown (EC2 API Reference, TerminateInstances; error InvalidInstanceID.NotFound).
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from landbridge.burst.model import ActionOutcome
from landbridge.burst.model.errors import AwsError, facts

UNKNOWN_INSTANCE = "InvalidInstanceID.NotFound"
_ID = re.compile(r"\bi-[0-9a-f]{8,17}\b")
Call = Callable[[list[str]], Any]


def call_for_existing(ids: list[str], call: Call) -> None:
    """Make a call for the instances that exist: the unknown ones, which the error names, are removed."""
    try:
        call(ids)
    except AwsError as error:
        unknown = set(_ID.findall(error.message)) & set(ids)
        if error.code != UNKNOWN_INSTANCE or not unknown:
            raise
        if present := [instance_id for instance_id in ids if instance_id not in unknown]:
            call_for_existing(present, call)


def terminate_each(batches: Iterable[list[str]], call: Call) -> ActionOutcome:
    """Make a call for each batch; a refused one is repeated for its halves, down to the single refused instances.

    A batch ends at `refusals` refused instances, so that a missing permission costs few calls. Its others follow in the
    next pass, which requests the refused ones separately. A transient error ends all calls.
    """
    refused: dict[str, tuple[str, str]] = {}
    last: AwsError | None = None
    for batch in batches:
        refused_before = len(refused)
        pending = [batch]
        while pending:
            ids = pending.pop()
            try:
                call_for_existing(ids, call)
            except AwsError as error:
                if error.kind.is_transient:
                    return ActionOutcome(error.code, error.message, refused=refused)
                if len(ids) > 1:
                    pending += [ids[len(ids) // 2 :], ids[: len(ids) // 2]]
                    continue
                refused[ids[0]] = (error.code, error.message)
                if pending and len(refused) - refused_before >= facts()["calls"]["refusals"]:
                    last = error
                    break
    return ActionOutcome(last.code, last.message, refused=refused) if last else ActionOutcome(refused=refused)
