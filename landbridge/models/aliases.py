"""Aliases of a model: candidate, staging and champion, and the moves that are legal.

A version becomes candidate when it is registered, staging after its signature was verified, and champion from staging. Champion
goes back only to a version that was champion before. A canary takes staging from the version that it rolls back. The registry's permissions decide who may move an alias.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

CANDIDATE, STAGING, CHAMPION = "candidate", "staging", "champion"
ALIASES = (CANDIDATE, STAGING, CHAMPION)
#: Alias that a version must have before it gets another one.
_BEFORE = {STAGING: CANDIDATE, CHAMPION: STAGING}


@dataclass(frozen=True, slots=True)
class AliasMove:
    """Move of an alias. `before` is empty if no version had it, `after` if no version has it any more."""

    alias: str
    before: str
    after: str


def registration(aliases: Mapping[str, str], version: str) -> AliasMove:
    """Return the move of a new version. `aliases`: versions by alias."""
    return AliasMove(CANDIDATE, aliases.get(CANDIDATE, ""), version)


def promotion(aliases: Mapping[str, str], version: str, alias: str) -> AliasMove | str:
    """Return the move of an alias to a version, or the reason why it is not legal."""
    if alias not in ALIASES:
        return f'"{alias}" is not an alias of a model: {", ".join(ALIASES)}'
    needed = _BEFORE.get(alias)
    if needed is not None and version not in (aliases.get(needed), aliases.get(alias)):
        holder = aliases.get(needed)
        return f"version {version} is not {needed} ({holder or 'no version'} is): an alias goes {' → '.join(ALIASES)}"
    return AliasMove(alias, aliases.get(alias, ""), version)


def withdrawal(aliases: Mapping[str, str], version: str) -> AliasMove | None:
    """Return the move that removes staging from a version; None if the version is not staging."""
    return AliasMove(STAGING, version, "") if aliases.get(STAGING) == version else None


def rollback(aliases: Mapping[str, str], champions: Collection[str], version: str | None) -> AliasMove | str:
    """Return the move of champion back to a version, or the reason why it is not legal.

    `champions`: versions that were champion, in order. Without `version` it is the last one before the present champion.
    """
    present = aliases.get(CHAMPION)
    if present is None:
        return "no version is champion"
    earlier = [each for each in champions if each != present]
    if version is None:
        if not earlier:
            return f"no version was champion before {present}"
        version = earlier[-1]
    elif version == present:
        return f"version {version} is champion already"
    elif version not in earlier:
        return f"version {version} was never champion; these were: {', '.join(dict.fromkeys(earlier)) or 'none'}"
    return AliasMove(CHAMPION, present, version)
