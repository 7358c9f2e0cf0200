"""Impact of a preview on a running cluster and on data: each step's effect, with the first thing to do.

The idea of the ladder is AWS ParallelCluster's update policy; here it is drawn from what the engine says it will do, so that it
holds for any change, whoever made it and wherever.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.catalog.aws.impact import Case, Effect, ImpactFacts, TypeImpact, impact_facts
from landbridge.plan.resource_change import ResourceChange

#: The engine's words for making a resource anew, of which one replacement has several.
_REPLACING = frozenset({"replace", "create-replacement", "delete-replaced", "read-replacement", "import-replacement"})
_DELETING = frozenset({"delete", "discard", "discard-replaced"})
#: Nothing is done to the thing itself.
_LOOKING = frozenset({"same", "read", "refresh", "import", "remove-pending-replace"})


@dataclass(frozen=True)
class Impact:
    """Impact of one resource's change. `operation` is create, update, replace or delete; `holds` names the data that is lost."""

    urn: str
    type: str
    name: str
    operation: str
    effect: Effect
    properties: tuple[str, ...]
    why: str
    first: str
    holds: str | None = None
    protected: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `--format json`."""
        return {
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "operation": self.operation,
            "class": self.effect.value,
            "properties": list(self.properties),
            "why": self.why,
            "first": self.first,
            "holds": self.holds,
            "protected": self.protected,
        }


@dataclass(frozen=True)
class ImpactReport:
    """A preview, worst first. `unnamed` would be lost and nobody has said so; `unknown` are names that fit nothing lost."""

    impacts: tuple[Impact, ...]
    unnamed: tuple[Impact, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def worst(self) -> Effect:
        """The highest rung."""
        return max((impact.effect for impact in self.impacts), key=lambda effect: effect.rank, default=Effect.NONE)

    @property
    def refused(self) -> bool:
        """Return true where data would be lost that the operator has not named."""
        return bool(self.unnamed)


def impacts(changes: Iterable[ResourceChange], facts: ImpactFacts | None = None) -> tuple[Impact, ...]:
    """Classify every step of a preview, worst first. Steps of one resource are one; what stays as it is is left out."""
    known_facts = facts or impact_facts()
    by_urn: dict[str, list[ResourceChange]] = {}
    for change in changes:
        if change.operation not in _LOOKING:
            by_urn.setdefault(change.urn, []).append(change)
    all_impacts = [_impact(steps, known_facts) for steps in by_urn.values()]
    return tuple(sorted(all_impacts, key=lambda impact: (-impact.effect.rank, impact.type, impact.name)))


def report(
    changes: Iterable[ResourceChange], lose: Iterable[str] = (), facts: ImpactFacts | None = None
) -> ImpactReport:
    """Classify a preview, and hold what would be lost against what somebody has said may be.

    A resource is named by its URN, by `TYPE::NAME`, or by its name where only one that is lost has it.
    """
    all_impacts = impacts(changes, facts)
    lost = [impact for impact in all_impacts if impact.effect is Effect.DATA_LOSS]
    allowed, unknown = set[str](), []
    for word in lose:
        meant = [one.urn for one in lost if word in (one.urn, f"{one.type}::{one.name}")]
        meant = meant or [one.urn for one in lost if word == one.name]
        if len(meant) == 1:
            allowed.add(meant[0])
        else:
            unknown.append(word)
    return ImpactReport(all_impacts, tuple(one for one in lost if one.urn not in allowed), tuple(unknown))


def _impact(steps: list[ResourceChange], facts: ImpactFacts) -> Impact:
    operations = {step.operation for step in steps}
    # A replacement is told in several steps, and only some of them carry the difference.
    change = max(steps, key=lambda step: (len(step.causes), len(step.paths)))
    replacing, deleting = operations & _REPLACING, operations & _DELETING
    operation = "replace" if replacing else "delete" if deleting else "update" if "update" in operations else "create"
    paths = change.paths or tuple(key for key in sorted({*change.old, *change.new}) if _differs(change, key))
    causes = change.causes if operation == "replace" else ()
    shown = paths if operation == "update" else causes
    effect, why, first, holds = _judge(change, operation, paths, facts)
    protected = any(step.protected for step in steps) and operation in ("replace", "delete")
    if protected and effect is not Effect.DATA_LOSS:
        # Somebody has marked it as data, or as what guards data. Pulumi stops there, and does not say what hangs on it.
        effect, holds = Effect.DATA_LOSS, holds or "what it belongs to: it is protected"
        why = f"{why}; protected, so it holds data or guards what does"
        first = (
            "Pulumi refuses until somebody unprotects it (`pulumi state unprotect`): look at what belongs to it first"
        )
    return Impact(change.urn, change.type, change.name, operation, effect, shown, why, first, holds, protected)


Judged = tuple[Effect, str, str, str | None]


def _judge(change: ResourceChange, operation: str, paths: tuple[str, ...], facts: ImpactFacts) -> Judged:
    def told(effect: Effect, why: str, first: str | None = None, holds: str | None = None) -> Judged:
        return effect, why, first or facts.effects[effect].first, holds

    if not change.type.startswith("aws:") or operation == "create":
        why = "new" if operation == "create" else "only a name in Pulumi: nothing in AWS"
        return told(Effect.NONE, why)
    type_impact = facts.of_type(change.type)
    if change.retained and operation in ("replace", "delete"):
        why = f"Pulumi forgets it and AWS keeps it, with its cost: {type_impact.holds or type_impact.what if type_impact else change.type}"
        return told(Effect.REPLACE, why, "what uses it has to find it, or the new one, by another id")
    case = _case(type_impact, change, operation, paths) if type_impact else None
    if type_impact and case:
        return told(case.effect, f"{type_impact.what}: {_did(operation, paths, change.causes)}", case.first, case.holds)
    if operation == "update":
        return _update(type_impact, paths, facts)
    did = _did(operation, paths, change.causes)
    if type_impact is None:
        why = f"{did}; Landbridge does not know whether {change.type} holds data"
        return told(Effect.DATA_LOSS, why, "find out what it holds, then name it with --lose", "not known")
    if type_impact.holds:
        first = f"{type_impact.first or facts.effects[Effect.DATA_LOSS].first}; then name it with --lose"
        return told(Effect.DATA_LOSS, f"{type_impact.what}: {did}; lost: {type_impact.holds}", first, type_impact.holds)
    return told(
        type_impact.replace if operation == "replace" else type_impact.delete,
        f"{type_impact.what}: {did}",
        type_impact.first,
    )


def _update(type_impact: TypeImpact | None, paths: tuple[str, ...], facts: ImpactFacts) -> Judged:
    """The worst of the properties that change."""
    worst, first, what = Effect.NONE, None, type_impact.what if type_impact else "resource"
    for path in paths:
        name = _property(path)
        if name in facts.harmless:
            continue
        rule = type_impact.properties.get(name) if type_impact else None
        effect = rule.effect if rule else type_impact.update if type_impact else Effect.IN_PLACE
        if effect.rank > worst.rank:
            # Advice for the whole type is about its own, worse fate unless updating it is the thing.
            general = (
                type_impact.first
                if type_impact and effect is type_impact.update and effect.rank > Effect.IN_PLACE.rank
                else None
            )
            worst, first = effect, (rule.first if rule else None) or general
    return worst, f"{what}: {_did('update', paths, ())}", first or facts.effects[worst].first, None


def _case(type_impact: TypeImpact, change: ResourceChange, operation: str, paths: tuple[str, ...]) -> Case | None:
    for case in type_impact.cases:
        key = case.property
        if (
            case.operation == operation
            and (key is None or (key in {_property(path) for path in paths}))
            and (case.to is None or (key is not None and change.new.get(key) == case.to))
            and (not case.shrinks or (key is not None and _shrinks(change.old.get(key), change.new.get(key))))
            and (case.has is None or bool((change.old or change.new).get(case.has)))
        ):
            return case
    return None


def _shrinks(old: Any, new: Any, path: str = "") -> bool:
    """Return true where a number gets smaller, or appears where there was none: without an age of expiry, objects never expire.

    A log group's 0 days mean for ever.
    """
    if isinstance(new, bool):
        return False
    if isinstance(new, int | float):
        return new != 0 and (not isinstance(old, int | float) or old == 0 or new < old)
    if isinstance(new, Mapping):
        before = old if isinstance(old, Mapping) else {}
        return any(_shrinks(before.get(key), value) for key, value in new.items() if key != "daysAfterInitiation")
    if isinstance(new, list | tuple):
        # By their ids where they have some: a list's order means nothing.
        was = {_id(item, index): item for index, item in enumerate(old if isinstance(old, list | tuple) else ())}
        return any(_shrinks(was.get(_id(item, index)), item) for index, item in enumerate(new))
    return False


def _id(item: Any, index: int) -> Any:
    return item.get("id", index) if isinstance(item, Mapping) else index


def _differs(change: ResourceChange, key: str) -> bool:
    return not key.startswith("__") and change.old.get(key) != change.new.get(key)


def _property(path: str) -> str:
    return path.split("[", 1)[0].split(".", 1)[0]


def _did(operation: str, paths: tuple[str, ...], causes: tuple[str, ...]) -> str:
    names = list(dict.fromkeys(_property(path) for path in (causes or paths)))
    match operation:
        case "replace":
            return "made anew" + (f", because {_and(names)} cannot change in place" if causes else "")
        case "delete":
            return "removed"
        case _:
            return f"{_and(names)} {'change' if len(names) > 1 else 'changes'}" if names else "changes"


def _and(names: Iterable[str]) -> str:
    *most, last = tuple(names) or ("something",)
    return f"{', '.join(most)} and {last}" if most else last


def by_effect(all_impacts: Iterable[Impact]) -> Iterator[tuple[Effect, list[Impact]]]:
    """Impacts by rung, the worst rung first, none that is empty."""
    every = list(all_impacts)
    for effect in reversed(Effect):
        mine = [impact for impact in every if impact.effect is effect]
        if mine:
            yield effect, mine
