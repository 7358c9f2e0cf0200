"""Impact of a preview on a running cluster and on data: the effect of each step, with the first action for the
operator.

The classes of effects follow AWS ParallelCluster's update policy. They are derived from the steps that the engine
plans, so that they apply to every change, independent of its origin.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.aws_resources import BY_TOKEN
from landbridge.catalog.aws.impact import Case, Effect, ImpactFacts, TypeImpact, impact_facts
from landbridge.plan.resource_change import ResourceChange

#: The engine's operations of a replacement, which consists of several of them.
_REPLACING = frozenset({"replace", "create-replacement", "delete-replaced", "read-replacement", "import-replacement"})
_DELETING = frozenset({"delete", "discard", "discard-replaced"})
#: Operations that do not change the resource itself.
_READING = frozenset({"same", "read", "refresh", "import", "remove-pending-replace"})


@dataclass(frozen=True)
class Impact:
    """Impact of one resource's change. `operation` is create, update, replace or delete; `holds` is the data that is
    lost."""

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
        """Return plain data, for `--format json`."""
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
    """Impacts of a preview, the worst first. `unnamed`: impacts with a loss of data that the operator has not named;
    `unknown`: names that match no lost resource.
    """

    impacts: tuple[Impact, ...]
    unnamed: tuple[Impact, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def worst(self) -> Effect:
        """Return the worst effect."""
        return max((impact.effect for impact in self.impacts), key=lambda effect: effect.rank, default=Effect.NONE)

    @property
    def refused(self) -> bool:
        """Return whether data would be lost that the operator has not named, or AWS refuses a change."""
        return bool(self.unnamed or self.refused_by_aws)

    @property
    def refused_by_aws(self) -> tuple[Impact, ...]:
        """Return the changes that AWS refuses."""
        return tuple(impact for impact in self.impacts if impact.effect is Effect.REFUSED)


def impacts(changes: Iterable[ResourceChange], facts: ImpactFacts | None = None) -> tuple[Impact, ...]:
    """Return the impacts of a preview's changes, the worst first. Steps of one resource are one change; unchanged
    resources are omitted."""
    known_facts = facts or impact_facts()
    by_urn: dict[str, list[ResourceChange]] = {}
    for change in changes:
        if change.operation not in _READING:
            by_urn.setdefault(change.urn, []).append(change)
    all_impacts = [_impact(steps, known_facts) for steps in by_urn.values()]
    return tuple(sorted(all_impacts, key=lambda impact: (-impact.effect.rank, impact.type, impact.name)))


def report(
    changes: Iterable[ResourceChange], lose: Iterable[str] = (), facts: ImpactFacts | None = None
) -> ImpactReport:
    """Classify a preview, and compare lost resources with those that the operator named.

    The name of a resource is its URN, `TYPE::NAME`, or its name if only one lost resource has it.
    """
    all_impacts = impacts(changes, facts)
    lost = [impact for impact in all_impacts if impact.effect is Effect.DATA_LOSS]
    allowed, unknown = set[str](), []
    for word in lose:
        urns = [impact.urn for impact in lost if word in (impact.urn, f"{impact.type}::{impact.name}")]
        urns = urns or [impact.urn for impact in lost if word == impact.name]
        if len(urns) == 1:
            allowed.add(urns[0])
        else:
            unknown.append(word)
    return ImpactReport(all_impacts, tuple(impact for impact in lost if impact.urn not in allowed), tuple(unknown))


def _impact(steps: list[ResourceChange], facts: ImpactFacts) -> Impact:
    operations = {step.operation for step in steps}
    # A replacement has several steps in the preview, and only some of them have the difference.
    change = max(steps, key=lambda step: (len(step.causes), len(step.paths)))
    replace_operations, delete_operations = operations & _REPLACING, operations & _DELETING
    operation = (
        "replace"
        if replace_operations
        else "delete"
        if delete_operations
        else "update"
        if "update" in operations
        else "create"
    )
    paths = change.paths or tuple(key for key in sorted({*change.old, *change.new}) if _differs(change, key))
    causes = change.causes if operation == "replace" else ()
    shown = paths if operation == "update" else causes
    effect, why, first, holds = _judge(change, operation, paths, facts)
    protected = any(step.protected for step in steps) and operation in ("replace", "delete")
    if protected and effect is not Effect.DATA_LOSS:
        # A program protects only data and its keys. Pulumi refuses the operation and does not name the data.
        effect, holds = Effect.DATA_LOSS, holds or "not known: the resource is protected"
        why = f"{why}; protected, so it holds data or protects data"
        first = "find the data that belongs to it, then remove the protection (`pulumi state unprotect`); Pulumi refuses until then"
    return Impact(change.urn, change.type, change.name, operation, effect, shown, why, first, holds, protected)


Judged = tuple[Effect, str, str, str | None]


def _judge(change: ResourceChange, operation: str, paths: tuple[str, ...], facts: ImpactFacts) -> Judged:
    def judged(effect: Effect, why: str, first: str | None = None, holds: str | None = None) -> Judged:
        return effect, why, first or facts.effects[effect].first, holds

    if not change.type.startswith("aws:") or operation == "create":
        why = "new" if operation == "create" else "exists only in Pulumi's state, not in AWS"
        return judged(Effect.NONE, why)
    type_impact = facts.of_type(change.type) or _default(change.type)
    if change.retained and operation in ("replace", "delete"):
        why = f"Pulumi removes it from the state; it stays in AWS and costs money: {type_impact.holds or type_impact.noun if type_impact else change.type}"
        return judged(Effect.REPLACE, why, "give the id to its users, or the id of the new resource")
    refused = _refused_size(type_impact, change, paths) if type_impact and operation == "update" else None
    if type_impact and refused and refused.is_sure:
        why = f"{type_impact.noun}: {_description(operation, paths, ())}; AWS: {refused.says}"
        return judged(Effect.REFUSED, why)
    case = _case(type_impact, change, operation, paths) if type_impact else None
    if type_impact and case:
        return judged(
            case.effect, f"{type_impact.noun}: {_description(operation, paths, change.causes)}", case.first, case.holds
        )
    if operation == "update":
        effect, why, first, holds = _update(type_impact, paths, facts)
        return effect, why, f"{first}; {refused.says}" if refused else first, holds
    description = _description(operation, paths, change.causes)
    if type_impact is None:
        why = f"{description}; Landbridge does not know whether {change.type} holds data"
        return judged(Effect.DATA_LOSS, why, "find out which data it holds, then name it with --lose", "not known")
    if type_impact.holds:
        first = f"{type_impact.first or facts.effects[Effect.DATA_LOSS].first}; then name it with --lose"
        return judged(
            Effect.DATA_LOSS, f"{type_impact.noun}: {description}; lost: {type_impact.holds}", first, type_impact.holds
        )
    return judged(
        type_impact.replace if operation == "replace" else type_impact.delete,
        f"{type_impact.noun}: {description}",
        type_impact.first,
    )


@dataclass(frozen=True)
class _Refusal:
    """AWS's refusal of a change of size; not sure if it depends on the time of the last change."""

    is_sure: bool
    says: str


def _refused_size(type_impact: TypeImpact, change: ResourceChange, paths: tuple[str, ...]) -> _Refusal | None:
    """Return the first refusal of a property's new size, a sure one before others."""
    refusals: list[_Refusal] = []
    for name in dict.fromkeys(_property(path) for path in paths):
        rule = type_impact.properties.get(name)
        refusal = rule.refusal(change.old.get(name), change.new.get(name), None, change.new) if rule else None
        if refusal is None:
            continue
        row, is_sure = refusal
        unknown = ""
        if row.hours is not None:
            when = f"after {row.times} changes within {row.hours:g} hours"
            if row.times == 1:
                when = f"within {row.hours:g} hours after the last change of {name if row.change == 'changes' else 'its size'}"
            unknown = f"AWS refuses it {when}; Landbridge does not know that time"
        refusals.append(_Refusal(is_sure, row.says if is_sure else unknown))
    return min(refusals, key=lambda refusal: not refusal.is_sure, default=None)


def _default(token: str) -> TypeImpact | None:
    entry = BY_TOKEN.get(token)
    return entry.impact if entry else None


def _update(type_impact: TypeImpact | None, paths: tuple[str, ...], facts: ImpactFacts) -> Judged:
    """Return the worst effect of the changed properties."""
    worst, first, noun = Effect.NONE, None, type_impact.noun if type_impact else "resource"
    for path in paths:
        name = _property(path)
        if name in facts.harmless:
            continue
        rule = type_impact.properties.get(name) if type_impact else None
        effect = rule.effect if rule else type_impact.update if type_impact else Effect.IN_PLACE
        if effect.rank > worst.rank:
            # The type's advice is about replacement and deletion, unless an update has the same effect.
            general = (
                type_impact.first
                if type_impact and effect is type_impact.update and effect.rank > Effect.IN_PLACE.rank
                else None
            )
            worst, first = effect, (rule.first if rule else None) or general
    return worst, f"{noun}: {_description('update', paths, ())}", first or facts.effects[worst].first, None


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
    """Return whether a number decreases or a new one appears: without an expiry age, objects never expire.

    0 days of a log group mean that its events never expire.
    """
    if isinstance(new, bool):
        return False
    if isinstance(new, int | float):
        return new != 0 and (not isinstance(old, int | float) or old == 0 or new < old)
    if isinstance(new, Mapping):
        old_values = old if isinstance(old, Mapping) else {}
        return any(_shrinks(old_values.get(key), value) for key, value in new.items() if key != "daysAfterInitiation")
    if isinstance(new, list | tuple):
        # Items with an id are compared by id: the order of the list has no meaning.
        old_items = {_id(item, index): item for index, item in enumerate(old if isinstance(old, list | tuple) else ())}
        return any(_shrinks(old_items.get(_id(item, index)), item) for index, item in enumerate(new))
    return False


def _id(item: Any, index: int) -> Any:
    return item.get("id", index) if isinstance(item, Mapping) else index


def _differs(change: ResourceChange, key: str) -> bool:
    return not key.startswith("__") and change.old.get(key) != change.new.get(key)


def _property(path: str) -> str:
    return path.split("[", 1)[0].split(".", 1)[0]


def _description(operation: str, paths: tuple[str, ...], causes: tuple[str, ...]) -> str:
    names = list(dict.fromkeys(_property(path) for path in (causes or paths)))
    match operation:
        case "replace":
            return "replaced" + (f", because {_and(names)} cannot change in place" if causes else "")
        case "delete":
            return "deleted"
        case _:
            return f"{_and(names)} {'change' if len(names) > 1 else 'changes'}" if names else "changes"


def _and(names: Iterable[str]) -> str:
    *first_names, last = tuple(names) or ("a property",)
    return f"{', '.join(first_names)} and {last}" if first_names else last


def by_effect(all_impacts: Iterable[Impact]) -> Iterator[tuple[Effect, list[Impact]]]:
    """Group impacts by effect, the worst effect first."""
    impact_list = list(all_impacts)
    for effect in reversed(Effect):
        of_effect = [impact for impact in impact_list if impact.effect is effect]
        if of_effect:
            yield effect, of_effect
