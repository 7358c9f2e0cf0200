"""Parsed facts of a gateway. Pure; a fact that is missing or unreadable is an error, never an empty value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from landbridge.ops.netcheck import routing, swanctl

_T = TypeVar("_T")


class MissingFactError(Exception):
    """Fact that a host did not deliver; the message is the reason."""


@dataclass(frozen=True)
class GatewayFacts:
    """Parsed facts of a gateway. A missing or unreadable one raises MissingFactError when it is used."""

    data: Mapping[str, Any]

    def parsed(self, name: str, parser: Callable[[str], _T]) -> _T:
        """Return a program's output, parsed."""
        program = self.data.get("programs", {}).get(name)
        if program is None:
            raise MissingFactError(f"{name}: not collected")
        if program["code"] != 0:
            words = " ".join((program["err"] or program["out"] or f"exit status {program['code']}").split())
            raise MissingFactError(f"{name}: {words[-200:]}")
        try:
            return parser(program["out"])
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise MissingFactError(f"{name}: unreadable output ({type(error).__name__}: {error})"[:200]) from None

    def number(self, file: str) -> int:
        """Return the number in a file of /proc."""
        text = self.data.get("files", {}).get(file)
        if text is None or not text.strip().isdigit():
            raise MissingFactError(f"{file} could not be read")
        return int(text)

    @cached_property
    def associations(self) -> dict[str, swanctl.Association]:
        """Associations by connection; of several, the one with an installed child."""
        ordered = sorted(self.parsed("sas", swanctl.associations), key=lambda item: item.installed)
        return {item.name: item for item in ordered}

    @cached_property
    def failures(self) -> dict[str, tuple[str, str]]:
        """Cause and line of the last failure in charon's log, by connection."""
        return self.parsed("log", swanctl.last_failures)

    @cached_property
    def neighbors(self) -> dict[str, routing.BgpNeighbor]:
        """BGP neighbours by address."""
        return self.parsed("neighbors", routing.bgp_neighbors)

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Addresses of all interfaces."""
        return self.parsed("links", routing.interface_addresses)

    @cached_property
    def routes(self) -> tuple[routing.KernelRoute, ...]:
        """Routes of the kernel's main table."""
        return self.parsed("routes", routing.kernel_routes)
