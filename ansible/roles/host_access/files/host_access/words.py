"""Names of requests, and the format of their arguments. A request with any other character is refused."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

#: Characters of a request; eight UUIDs of GPUs have 330.
MOST = 1024
_UUID = r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
#: Arguments of each request, as a regular expression of the text after its name.
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
    """Permitted request: its name and its arguments."""

    word: str
    arguments: tuple[str, ...] = ()


def parse(text: str, allowed: Collection[str]) -> Request:
    """Return the request of a text. Raises RefusedError for a text that is not exactly a permitted request."""
    word, _, _ = text[:MOST].partition(" ")
    form = FORMS.get(word)
    if len(text) > MOST or form is None or word not in allowed or not re.fullmatch(word + form, text, re.ASCII):
        raise RefusedError(f"refused: this host accepts {', '.join(sorted(allowed)) or 'no request'}")
    return Request(word, tuple(text.split(" ")[1:]))
