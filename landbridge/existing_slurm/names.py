"""Node names of Slurm's files: host lists with several pairs of brackets, `ALL`, and node sets."""

import itertools
import re
from collections.abc import Iterator, Mapping

from landbridge import hostlist

_PIECE = re.compile(r"[^\[\]]*\[[^\[\]]*\]|[^\[\]]+")


def expand_names(text: str) -> list[str]:
    """Return the names of a host list, in the order written.

    >>> expand_names("r[1-2]n[1-2],login")
    ['r1n1', 'r1n2', 'r2n1', 'r2n2', 'login']

    Raises HostlistError for a text that is not a host list.
    """
    names: list[str] = []
    for word in _words(text):
        pieces = _PIECE.findall(word)
        if "".join(pieces) != word or not word:
            raise hostlist.HostlistError(text, 0, f'"{word}" is not a host list')
        parts = [hostlist.expand(piece) for piece in pieces]
        if sum(len(part) > 1 for part in parts) and _count(parts) > hostlist.LIMIT:
            raise hostlist.HostlistError(text, 0, f"more than {hostlist.LIMIT} hosts")
        names += ["".join(combination) for combination in itertools.product(*parts)]
    return names


def members(text: str, nodes: tuple[str, ...], sets: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the nodes of a partition's or node set's `Nodes`: names, node sets, or ALL."""
    listed: list[str] = []
    for word in _words(text):
        if word.casefold() == "all":
            listed += nodes
        elif word in sets:
            listed += sets[word]
        else:
            listed += expand_names(word)
    return list(dict.fromkeys(listed))


def _words(text: str) -> Iterator[str]:
    """Yield the words between commas outside of brackets."""
    depth = start = 0
    for offset, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            yield text[start:offset]
            start = offset + 1
    yield text[start:]


def _count(parts: list[list[str]]) -> int:
    count = 1
    for part in parts:
        count *= len(part)
    return count
