"""Literals of Lua: strings, tables, and sets of sites."""

from collections.abc import Iterable

from landbridge.environment.base import SITES, Site


def lua_text(value: str) -> str:
    """Return a string literal. Quotes, backslashes and control characters are escaped."""
    escaped = "".join(char if char.isprintable() and char not in '"\\' else f"\\{ord(char):03d}" for char in value)
    return f'"{escaped}"'


def lua_table(fields: Iterable[tuple[str, str]]) -> str:
    """Return a table of keys and values that are Lua already."""
    return "{" + ", ".join(f"{key} = {value}" for key, value in fields) + "}"


def lua_set(sites: Iterable[Site]) -> str:
    """Return a table with `true` for each site, in a fixed order."""
    site_set = frozenset(sites)
    return lua_table((site, "true") for site in SITES if site in site_set)
