"""Which things in AWS are the ones that were being made."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from landbridge.live.answers import AwsRefusal
from landbridge.live.answers import RefusalKind as Answer
from landbridge.live.aws import AwsClient
from landbridge.live.recovery.kinds import FINISH, KINDS
from landbridge.plan.resource_change import ResourceChange


def find(
    connect: Callable[[str | None], AwsClient], begun: Sequence[ResourceChange], known: Mapping[str, frozenset[str]]
) -> dict[str, str]:
    """The ids, by URN, of those of `begun` that exist in AWS and whose id is not among those `known` of their type.

    `connect` makes a connection without earlier answers, to a region or (None) to the environment's own. Things that are
    alike in everything that was asked for are interchangeable: each is given out once. Raises Refused where AWS cannot be
    asked; what these credentials may not look at is not found.
    """
    found: dict[str, str] = {}
    given: dict[str, set[str]] = {}
    connections: dict[str | None, AwsClient] = {}
    for change in begun:
        kind = KINDS.get(change.type)
        if kind is None:
            continue
        where = change.new.get("region")
        if where not in connections:
            connections[where] = connect(where)
        taken = given.setdefault(change.type, set(known.get(change.type, ())))
        one = next((id_ for id_ in _there(kind, connections[where], change.new) if id_ not in taken), None)
        if one is not None:
            taken.add(one)
            if change.type in FINISH:
                FINISH[change.type](connections[where], one)
            found[change.urn] = one
    return found


def _there(
    kind: Callable[[AwsClient, Mapping[str, Any]], Sequence[str]], aws: AwsClient, inputs: Mapping[str, Any]
) -> list[str]:
    try:
        return sorted(kind(aws, inputs))
    except AwsRefusal as refused:
        if refused.kind in (Answer.CREDENTIALS, Answer.NETWORK, Answer.BUSY):
            raise
        return []  # "there is no such thing", in one of its many spellings, or not for these eyes
    except KeyError:
        return []  # what tells it from others was not known yet, so that it cannot have been asked for
