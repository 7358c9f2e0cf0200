"""Facts of the stand-in, from `facts.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from landbridge import yaml_text


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VpnFacts(_Facts):
    """Values that AWS chooses for a VPN connection."""

    bgp_holdtime: int


class ProviderFacts(_Facts):
    """All facts of the file."""

    vpn: VpnFacts
    words: Mapping[str, Mapping[str, str | tuple[str, ...]]]


@cache
def facts() -> ProviderFacts:
    """Return the facts of the file (cached)."""
    return ProviderFacts.model_validate(yaml_text.load(Path(__file__).with_name("facts.yaml").read_text()))
