"""Parts of a bundle, and the manifest of what was taken and what was left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from landbridge.ops.support.redact import Redactor

#: Largest part and largest bundle before compression, in bytes. Landbridge's choices: a mail's and a ticket's limit is near 25 MB.
PART_BYTES, BUNDLE_BYTES = 1_000_000, 20_000_000
CUT = "(the start of this part was cut off)\n"


@dataclass(frozen=True, slots=True)
class BundlePart:
    """Text of a bundle. `origin` host: it may have words of jobs."""

    name: str
    text: str
    origin: Literal["plan", "host"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Part that is not in a bundle, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class TakenPart:
    """Part as it is in a bundle: bytes, number of removals, and whether its start was cut off."""

    name: str
    content: bytes
    removals: int
    cut: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the part's line of the manifest."""
        return {"name": self.name, "bytes": len(self.content), "removals": self.removals, "cut": self.cut}


@dataclass(frozen=True, slots=True)
class SupportBundle:
    """Parts of a bundle without secrets, and the ones that were left out."""

    parts: tuple[TakenPart, ...]
    left_out: tuple[LeftOut, ...]

    def manifest(self, environment: str, at: str) -> dict[str, Any]:
        """Return the manifest as plain data."""
        return {
            "environment": environment,
            "at": at,
            "taken": [part.to_dict() for part in self.parts],
            "left_out": [{"name": item.name, "reason": item.reason} for item in self.left_out],
        }


def bundle_of(
    parts: Iterable[BundlePart], left_out: Iterable[LeftOut], redactor: Redactor, limit: int = BUNDLE_BYTES
) -> SupportBundle:
    """Return the parts without secrets and restricted words, at most `limit` bytes of them in their order.

    A part is cleaned before it is cut: a cut through a secret would leave a rest that nothing recognises.
    """
    parts_taken, missing, used = list[TakenPart](), list(left_out), 0
    for part in parts:
        text, removals = redactor.clean(part.text, jobs=part.origin == "host")
        content, is_cut = text.encode(errors="replace"), False
        if len(content) > PART_BYTES:
            content, is_cut = CUT.encode() + content[-PART_BYTES:].partition(b"\n")[2], True
        if used + len(content) > limit:
            missing.append(LeftOut(part.name, f"the bundle would be larger than {limit} bytes"))
            continue
        used += len(content)
        parts_taken.append(TakenPart(part.name, content, removals, is_cut))
    return SupportBundle(tuple(parts_taken), tuple(missing))
