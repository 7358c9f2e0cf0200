"""Removal of secrets and of restricted jobs' words from texts. Pure.

A text loses the known values of secrets in their usual encodings, whatever has the form of a secret, and the words of jobs
whose class is restricted.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from urllib.parse import quote

from landbridge.catalog.secret_forms import secret_forms

MARK = "[removed]"
#: A part of a value is a secret from this length: a line of a file, a value of a setting, a text in JSON. Landbridge's choice.
PART_LENGTH = 16
#: Shorter words of jobs are removed only where they are not part of another word.
_WORD_LENGTH = 4
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True)
class Redactor:
    """Values of secrets, and words of restricted jobs. `clean` removes them from a text."""

    secrets: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def clean(self, text: str, *, jobs: bool = True) -> tuple[str, int]:
        """Return the text without secrets, and the number of removals. `jobs`: without restricted jobs' words too."""
        text, total = self._values.remove(text)
        for pattern in _forms():
            text, number = pattern.subn(_removed, text)
            total += number
        if jobs:
            text, number = self._job_words.remove(text)
            total += number
            text, number = self._short_words.subn(MARK, text)
            total += number
        return text, total

    @cached_property
    def _values(self) -> "_Values":
        return _Values(form for value in self.secrets for form in _encoded(value))

    @cached_property
    def _job_words(self) -> "_Values":
        return _Values(word for word in self.words if len(word) >= _WORD_LENGTH)

    @cached_property
    def _short_words(self) -> re.Pattern[str]:
        short = sorted(word for word in self.words if 0 < len(word) < _WORD_LENGTH)
        return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in short) or r"(?!)")


class _Values:
    """Values to remove, by their first characters: the time grows with the text, and hardly with the number of values."""

    def __init__(self, values: Iterable[str]) -> None:
        self._by_start: dict[str, list[str]] = {}
        self._lengths: set[int] = set()
        # The longest first: it may contain a shorter one.
        for value in sorted({value for value in values if value}, key=lambda value: (-len(value), value)):
            start = value[:_WORD_LENGTH]
            self._by_start.setdefault(start, []).append(value)
            self._lengths.add(len(start))

    def remove(self, text: str) -> tuple[str, int]:
        """Return the text without the values, and the number of removals."""
        pieces, last, at, lengths = list[str](), 0, 0, sorted(self._lengths, reverse=True)
        by_start = self._by_start
        while lengths and at < len(text):
            for length in lengths:
                values = by_start.get(text[at : at + length])
                value = next((value for value in values if text.startswith(value, at)), "") if values else ""
                if value:
                    pieces += [text[last:at], MARK]
                    last = at = at + len(value)
                    break
            else:
                at += 1
        return "".join([*pieces, text[last:]]), len(pieces) // 2


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form.pattern.strip()) for form in secret_forms().forms.values())


def parts_of(value: str) -> frozenset[str]:
    """Return a secret's value, and its parts that are secrets of their own. Certificates are public and no part of it."""
    text = _CERTIFICATE.sub("", value).strip()
    if not text:
        return frozenset()
    parts = {text, *_strings(text)}
    for line in text.splitlines() if "\n" in text else ():
        parts |= {line.strip(), line.partition("=")[2].strip(), line.partition(":")[2].strip()}
    return frozenset(part for part in parts if part == text or (len(part) >= PART_LENGTH and part[:5] != "-----"))


def _strings(text: str) -> Iterator[str]:
    """Yield the texts in a JSON document."""
    try:
        left = [json.loads(text)]
    except ValueError:
        return
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value


def _encoded(value: str) -> Iterator[str]:
    """Yield a value as it appears in text, JSON, URLs and base64."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(value, safe="")
    yield base64.b64encode(value.encode()).decode()
    yield base64.urlsafe_b64encode(value.encode()).decode()


def _removed(match: re.Match[str]) -> str:
    part = match.groupdict().get("secret")
    if part is None:
        return MARK
    start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
    return match[0][:start] + MARK + match[0][end:]
