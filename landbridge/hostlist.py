"""Expansion and compression of Slurm host lists such as `dgx[01-04,07],login01`."""

import re
from collections.abc import Iterable, Iterator
from itertools import cycle, product

LIMIT = 65_536
_DIGITS = "0123456789"
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


class HostlistError(ValueError):
    """Invalid host list; `offset` is the character at which parsing stopped."""

    def __init__(self, text: str, offset: int, reason: str) -> None:
        self.text, self.offset, self.reason = text, offset, reason
        super().__init__(f'host list "{text}", character {offset + 1}: {reason}')


def expand(text: str) -> list[str]:
    """Return the hosts in `text`, in the order written.

    >>> expand("dgx[01-03],smc7")
    ['dgx01', 'dgx02', 'dgx03', 'smc7']

    Raises HostlistError for syntax that Slurm would read differently, and for more than 65,536 hosts.
    """
    hosts: list[str] = []
    for offset, word in _words(text):
        for host in _expand_word(text, offset, word):
            if len(hosts) >= LIMIT:
                raise HostlistError(text, offset, f"more than {LIMIT} hosts")
            hosts.append(host)
    if not hosts:
        raise HostlistError(text, 0, "no host in it")
    return hosts


def compress(hosts: Iterable[str]) -> str:
    """Return the shortest list that expands to the same hosts, without duplicates, sorted by prefix and number.

    >>> compress(["dgx02", "dgx01", "dgx03", "login1"])
    'dgx[01-03],login1'
    """
    groups: dict[tuple[str, int], set[int]] = {}
    plain: set[str] = set()
    for host in hosts:
        prefix = host.rstrip(_DIGITS)
        width = len(host) - len(prefix)
        # Width is part of the name: dgx1 and dgx01 are two hosts, and one bracket cannot hold both.
        if width == 0 or width > 15:
            plain.add(host)
        else:
            numbers = groups.get((prefix, width))
            if numbers is None:
                numbers = groups[prefix, width] = set()
            numbers.add(int(host[-width:]))
    folded = _fold_widths(groups)
    words = [(prefix, width, _word(prefix, width, sorted(numbers))) for (prefix, width), numbers in folded.items()]
    return ",".join([word for _, _, word in sorted([*words, *((name, 0, name) for name in plain)])])


def without_inner_commas(text: str) -> list[str]:
    """Return words for the same hosts without a comma in brackets.

    For programs that divide a list at every comma, such as Slurm's reader of SuspendExcNodes with counts.

    >>> without_inner_commas("dgx[01,03-04],nfs1")
    ['dgx01', 'dgx[03-04]', 'nfs1']
    """
    words: list[str] = []
    for _, word in _words(text):
        parts = [
            [f"[{part}]" if "-" in part else part for part in piece.split(",")] if is_body else [piece]
            for is_body, piece in zip(cycle((False, True)), _BRACKETS.split(word))
        ]
        words += map("".join, product(*parts))
    return words


def _fold_widths(groups: dict[tuple[str, int], set[int]]) -> dict[tuple[str, int], set[int]]:
    """Join numbers without leading zeros (`n9`, `n10`) into one group of the smallest width."""
    folded: dict[tuple[str, int], set[int]] = {}
    for (prefix, width), numbers in sorted(groups.items()):
        least = 0 if width == 1 else 10 ** (width - 1)
        natural = numbers if min(numbers) >= least else {number for number in numbers if number >= least}
        smallest_width = next((smaller for smaller in range(1, width) if (prefix, smaller) in folded), width)
        if natural:
            folded.setdefault((prefix, smallest_width), set()).update(natural)
        if len(natural) < len(numbers):
            folded.setdefault((prefix, width), set()).update(numbers - natural)
    return folded


def _word(prefix: str, width: int, numbers: list[int]) -> str:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    parts = [f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}" for a, b in runs]
    return f"{prefix}{parts[0]}" if len(numbers) == 1 else f"{prefix}[{','.join(parts)}]"


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comma-separated words with their offsets; commas inside brackets do not separate."""
    start = depth = 0
    for offset, character in enumerate(text + ","):
        if character == "[":
            depth += 1
            if depth > 1:
                raise HostlistError(text, offset, "a bracket inside brackets")
        elif character == "]":
            depth -= 1
            if depth < 0:
                raise HostlistError(text, offset, '"]" without "["')
        elif character == "," and (depth == 0 or offset == len(text)):
            if depth:
                raise HostlistError(text, text.rindex("["), '"[" is never closed')
            if offset == start:
                raise HostlistError(text, min(start, max(len(text) - 1, 0)), "an empty name")
            yield start, text[start:offset]
            start = offset + 1


def _expand_word(text: str, offset: int, word: str) -> Iterator[str]:
    opening = word.find("[")
    head, suffix = (word, "") if opening < 0 else (word[:opening], word[opening:])
    _check_literal(text, offset, head)
    if not suffix:
        yield head
        return
    closing = suffix.index("]")
    tail_at = offset + opening + closing + 1
    if "[" in suffix[closing:]:
        raise HostlistError(text, tail_at, "only one pair of brackets in a name")
    _check_literal(text, tail_at, suffix[closing + 1 :])
    for number in _numbers(text, offset + opening + 1, suffix[1:closing]):
        yield f"{head}{number}{suffix[closing + 1 :]}"


def _check_literal(text: str, offset: int, part: str) -> None:
    for index, character in enumerate(part):
        if not (character.isascii() and (character.isalnum() or character in "-_.")):
            raise HostlistError(text, offset + index, f"{character!r} cannot be part of a host's name")


def _numbers(text: str, offset: int, body: str) -> Iterator[str]:
    for part in body.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        for number in (first, last):
            if not re.fullmatch(r"[0-9]{1,15}", number):
                raise HostlistError(text, offset, f'"{part}" is neither a number nor a range such as 01-04')
        if len(first) > len(last):
            raise HostlistError(text, offset, f'"{part}": both ends of a range need the same number of digits')
        if len(first) < len(last) and last.startswith("0"):
            raise HostlistError(text, offset, f'"{part}": both ends of a range need the same number of digits')
        if int(last) < int(first):
            raise HostlistError(text, offset, f'"{part}" counts downwards')
        if int(last) - int(first) >= LIMIT:
            raise HostlistError(text, offset, f'"{part}" is more than {LIMIT} hosts')
        for number_value in range(int(first), int(last) + 1):
            yield f"{number_value:0{len(first)}}"
        offset += len(part) + 1
