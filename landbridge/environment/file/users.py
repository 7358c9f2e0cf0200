"""Removal of users from an environment file: only the text of these users changes.

The new text is parsed again and compared with the expected data: a file with an unsupported layout is rejected with a
hint for a manual change, and never partly changed.
"""

import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from typing import Any

from landbridge.environment.file.edit import scalars
from landbridge.environment.file.list_items import at_path, without_item
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.source import Source, read
from landbridge.environment.file.suppressions import Moves, removed_suppressions, with_moved_suppressions
from landbridge.findings import DataPath, Finding, FindingsError, Severity, did_you_mean, in_order, path_text

USERS: DataPath = (*ROOT, "users")
_ACCOUNTS: DataPath = (*ROOT, "scheduler", "accounts", "*", "users")
_MODEL: DataPath = (*ROOT, "mlops", "teams", "*", "models", "*")
#: Rights that all members have without the list: an empty list is for nobody, and an absent one for everybody.
_MEMBERS: tuple[DataPath, ...] = ((*_MODEL, "may_register"), (*_MODEL, "may_promote"))
#: Lists of users, from which a person is removed.
LISTS: tuple[DataPath, ...] = (USERS, _ACCOUNTS, *_MEMBERS)
#: Other keys that let a person in: names of groups, and the operators' account, key files and public keys.
RIGHTS: tuple[DataPath, ...] = (
    (*ROOT, "hosts", "ssh", "nodes_without_job"),
    (*ROOT, "hosts", "directory", "groups"),
    (*ROOT, "onprem", "access"),
    (*ROOT, "aws", "services", "access"),
    (*ROOT, "serving", "aws", "public_keys"),
)
#: Keys and certificates, in which any short name may occur.
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{60,}")


def without_users(text: str, file: str, names: Collection[str]) -> tuple[str, tuple[Finding, ...]]:
    """Return the text without these users, a warning for each other text that names one of them, and a finding for each
    suppression that moved with its item or left with it.

    Raises FindingsError for unknown names, for the last member with a right on a model, for keys that let one of them in
    without `users`, and for a layout that cannot be changed automatically.
    """
    source = read(text, file)
    if source.data is None or source.findings:
        raise FindingsError(source.findings)
    mentions = [*_mentions(source, names)]
    obstacles = [*_unknown(source, names), *_last(source, names)]
    obstacles += [finding for finding in mentions if finding.severity is Severity.ERROR]
    if obstacles:
        raise FindingsError(in_order(obstacles))
    expected = deepcopy(source.data)
    for path, items in _lists(expected):
        at_path(expected, path[:-1])[path[-1]] = [item for item in items if _name(item) not in names]
    changed, left = source, len([*_items(source.data, names)])
    while left:
        text = without_item(text, changed, next(_items(changed.data, names)))
        changed = read(text, file)
        before, left = left, len([*_items(changed.data, names)])
        if left >= before:
            break
    if changed.data != expected:
        message, fix = "the users are written in a way that cannot be changed here", "change the file by hand"
        raise FindingsError([_finding(source, "edit-layout", message, next(_items(source.data, names)), fix)])
    text, moved = with_moved_suppressions(text, file, _moves(source.data, names))
    removed = removed_suppressions(moved)
    return text, in_order([*moved, *(finding for finding in mentions if not _is_in(finding.path, removed))])


def _moves(data: Any, names: Collection[str]) -> dict[DataPath, Moves]:
    """Return the new index of each item that stays in a list, by the list's path."""
    moves: dict[DataPath, Moves] = {}
    for path, items in _lists(data):
        stays = [_name(item) not in names for item in items]
        moves[path] = [[sum(stays[:index])] if stay else [] for index, stay in enumerate(stays)]
    return moves


def _unknown(source: Source, names: Collection[str]) -> Iterator[Finding]:
    known = [name for _, items in _lists(source.data) for name in map(_name, items) if name is not None]
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            fix = f'did you mean "{near}"?' if near else "if it was removed before, run landbridge configure"
            yield _finding(source, "user-unknown", f'the file has no user "{name}"', USERS, fix)


def _last(source: Source, names: Collection[str]) -> Iterator[Finding]:
    for pattern in _MEMBERS:
        for path, items in _matching(source.data, pattern):
            if isinstance(items, list) and items and all(item in names for item in items):
                message = f"nobody else {str(path[-1]).replace('_', ' ')} {path[-2]}"
                fix = "write another member of the team first; without the key all members may"
                yield _finding(source, "user-last", message, path, fix)


def _mentions(source: Source, names: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each text besides the lists of users that contains a name as a word."""
    for path, value in scalars(source.data, ()):
        if path[: len(ROOT)] != ROOT or _is_in(path, LISTS) or not isinstance(value, str):
            continue
        text, place = _BASE64.sub(" ", value), path_text(path[len(ROOT) :])
        for name in names:
            if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text):
                continue
            if _is_in(path, RIGHTS):
                message, fix = f"{place} names {name} and gives rights without users", "change it first"
                yield _finding(source, "user-rights", message, path, fix)
            else:
                message, fix = f"{place} still names {name}", "change it if it is this person"
                yield _finding(source, "user-named", message, path, fix, Severity.WARNING)


def _finding(
    source: Source, rule: str, message: str, path: DataPath, fix: str, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(rule, message, path, fix, severity).at(source.file, *source.locate(path))


def _items(data: Any, names: Collection[str]) -> Iterator[DataPath]:
    """Yield the paths of the list items that are one of these users."""
    for path, items in _lists(data):
        yield from ((*path, index) for index, item in enumerate(items) if _name(item) in names)


def _lists(data: Any) -> Iterator[tuple[DataPath, list[Any]]]:
    for pattern in LISTS:
        for path, items in _matching(data, pattern):
            if isinstance(items, list):
                yield path, items


def _matching(data: Any, pattern: DataPath, path: DataPath = ()) -> Iterator[tuple[DataPath, Any]]:
    """Yield the values at the paths of a pattern, in which a star is any key."""
    if not pattern:
        yield path, data
    elif isinstance(data, dict):
        for key in data if pattern[0] == "*" else {pattern[0]} & set(data):
            yield from _matching(data[key], pattern[1:], (*path, key))


def _is_in(path: DataPath, patterns: Collection[DataPath]) -> bool:
    return any(
        len(path) >= len(pattern) and all(part in ("*", at) for part, at in zip(pattern, path, strict=False))
        for pattern in patterns
    )


def _name(item: Any) -> str | None:
    """Return the user of a list item."""
    name = item.get("name") if isinstance(item, dict) else item
    return name if isinstance(name, str) else None
