"""Placement of a service: the version in each slot, and the version that serves. Pure and level-triggered.

The version that serves changes when the next one is ready. A slot is emptied or gets another version only if its version does not
serve and is not a candidate any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from landbridge.plan.network.services.serving import SLOTS


@dataclass(frozen=True, slots=True)
class RegistryAliases:
    """Versions of the aliases champion and staging, empty without one, and the digest of each version's files.

    A version of a model that is deleted and created again has the same number and another digest.
    """

    champion: str = ""
    staging: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)

    def digest(self, version: str) -> str:
        """Return the digest of a version; empty if it is not known."""
        return self.digests.get(version, "")


@dataclass(frozen=True, slots=True)
class Placement:
    """Versions by slot (empty: none), the version that serves, and the time at which the candidate got its slot."""

    slots: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(SLOTS, ""))
    serving: str = ""
    staged_at: float = 0.0

    @property
    def candidate(self) -> str:
        """Return the version in a slot that does not serve; empty without one."""
        return next((version for version in self.slots.values() if version and version != self.serving), "")


def adopted(running: Mapping[str, str], champion: str) -> Placement:
    """Return the first placement: the versions by slot that run already, of which the champion serves, else the first one."""
    present = {slot: running.get(slot, "") for slot in SLOTS}
    versions = [version for version in present.values() if version]
    serving = champion if champion in versions else next(iter(versions), "")
    return Placement(present, serving)


def placed(before: Placement, aliases: RegistryAliases, ready: Mapping[str, int], at: float) -> Placement:
    """Return the next placement. `ready`: number of servers by version that are ready and that the gateway uses.

    A champion without a slot takes the one that does not serve. It serves when as many of its servers are ready as of the version before.
    """
    if not aliases.champion:
        return before
    placement = before
    if aliases.champion not in before.slots.values():
        placement = _in_free_slot(before, aliases.champion, at)
    if placement.serving != aliases.champion:
        enough = max(1, ready.get(placement.serving, 0))
        if ready.get(aliases.champion, 0) < enough:
            return placement
        placement = replace(placement, serving=aliases.champion)
    wanted = aliases.staging if aliases.staging != aliases.champion else ""
    return placement if wanted == placement.candidate else _in_free_slot(placement, wanted, at)


def canary_of(model: str, placement: Placement, aliases: RegistryAliases) -> tuple[tuple[str, str, str], str]:
    """Return the model, champion and candidate of a placement's canary, and the digests of their files."""
    pair = (placement.serving, placement.candidate)
    return (model, *pair), " ".join(map(aliases.digest, pair))


def _in_free_slot(placement: Placement, version: str, at: float) -> Placement:
    free = next(slot for slot in SLOTS if not placement.slots.get(slot) or placement.slots[slot] != placement.serving)
    return replace(placement, slots={**placement.slots, free: version}, staged_at=at)
