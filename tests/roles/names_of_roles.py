"""Table of the names that belong to each role (ansible/role_names.yaml), as tests read it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from landbridge import yaml_text

TABLE = Path(__file__).parents[2] / "ansible/role_names.yaml"


def names() -> Mapping[str, Mapping[str, Any]]:
    """Return the table: role -> kind -> names or patterns."""
    table: Mapping[str, Mapping[str, Any]] = yaml_text.load(TABLE.read_text())["roles"]
    return table


def merged(role: str) -> dict[str, list[str]]:
    """Return a role's names with those of the roles that it includes."""
    table = names()
    whole: dict[str, list[str]] = {}
    for name in (role, *table[role].get("includes", [])):
        for kind, values in table[name].items():
            whole[kind] = [*whole.get(kind, []), *values]
    return whole
