"""Answer to a request: exit status, output and errors."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Answer:
    """Answer of the root service, one JSON document on the socket."""

    code: int
    out: str = ""
    err: str = ""

    def text(self) -> str:
        """Return the document."""
        return json.dumps(asdict(self))
