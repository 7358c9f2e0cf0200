"""Words of requests, and the form of their arguments. A request with any other character is refused."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

#: Characters of a request; eight UUIDs of GPUs have 330.
MOST = 1024
_UUID = r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
#: Arguments of each word, as a regular expression of the text after it.
FORMS = {
    "facts": "",
    "samples": "",
    "link": "",
    "reset": rf" {_UUID}(?:,{_UUID}){{0,15}}",
    "reboot": "",
    "rung": rf" {_NAME} [a-z]+",
}


class RefusedError(Exception):
    """Request that is not on the list; the message is for the client."""


@dataclass(frozen=True)
class Request:
    """Word of the list, with its arguments."""

    word: str
    arguments: tuple[str, ...] = ()


def parse(text: str, allowed: Collection[str]) -> Request:
    """Return the request of a text. Raises RefusedError for a text that is not exactly a word with its arguments."""
    word, _, _ = text[:MOST].partition(" ")
    form = FORMS.get(word)
    if len(text) > MOST or form is None or word not in allowed or not re.fullmatch(word + form, text, re.ASCII):
        raise RefusedError(f"refused: this host answers {', '.join(sorted(allowed)) or 'no word'}")
    return Request(word, tuple(text.split(" ")[1:]))
