"""Decision records of finished actions. Pure."""

from landbridge.burst.model import (
    Action,
    ActionOutcome,
    CommentJob,
    DecisionRecord,
    Down,
    Launch,
    PowerUp,
    Promote,
    Renew,
    SetAddresses,
    Terminate,
)


def outcome_records(action: Action, outcome: ActionOutcome, now: float) -> tuple[DecisionRecord, ...]:
    """Return the record of a finished action; none for a successful one that is no launch: its decision has a record."""
    if isinstance(action, Launch):
        gang, first = action.gang, action.attempts[0]
        details = {
            "offering": action.offering.key,
            "tokens": [attempt.token for attempt in action.attempts],
            "instances": dict(outcome.instances),
        }
        usd = sum(attempt.hold_usd for attempt in action.attempts)
        event = "not-launched" if outcome.code else "launched"
        return (
            DecisionRecord(
                now, event, gang.jobs, gang.nodes, first.pool, outcome.code, outcome.message, usd, details=details
            ),
        )
    if not outcome.code:
        return ()
    jobs, nodes, description = _description(action)
    return (
        DecisionRecord(now, "failed", jobs, nodes, "", outcome.code, outcome.message, details={"action": description}),
    )


def _description(action: Action) -> tuple[tuple[int, ...], tuple[str, ...], str]:
    name = type(action).__name__.lower()
    match action:
        case Down() | PowerUp():
            return (), action.nodes, name
        case SetAddresses():
            return (), tuple(action.addresses), name
        case CommentJob() | Promote():
            return (action.job,), (), name
        case Terminate() | Renew():
            return (), (), f"{name} {' '.join(action.instances)}"
    return (), (), name
