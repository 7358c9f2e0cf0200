"""That a role needs no other: it says what it takes, and takes what it needs along itself."""

import re
from pathlib import Path

import pytest

from landbridge import yaml_text

ROLES = Path(__file__).parents[2] / "ansible/roles"
NAMES = sorted((path.name for path in ROLES.iterdir() if path.is_dir()), key=len, reverse=True)
_VARIABLE = re.compile(r"(?<![\w./'\"-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?![\w/(])(?!\s*\|\s*default\()")


def owner(variable: str) -> str | None:
    """The role whose variable it is, by the longest name that begins it."""
    return next((name for name in NAMES if variable.startswith(f"{name}_")), None)


def expressions(text: str) -> str:
    """Return the text that Jinja reads: between braces, and after `when`, `loop`, `that` and similar keys."""
    found = re.findall(r"{{.*?}}|{%.*?%}", text, re.DOTALL)
    return "\n".join([*found, *re.findall(r"^\s*(?:when|until|failed_when|changed_when):(.*)$", text, re.MULTILINE)])


def reads(role: str) -> set[str]:
    """Variables of any role that occur in a role's own expressions, without a value for when they are not there."""
    found: set[str] = set()
    for path in (ROLES / role).rglob("*"):
        if path.is_file() and path.parts[-2] in ("tasks", "handlers", "defaults", "vars", "templates"):
            text = re.sub(r"#.*", "", path.read_text(encoding="utf-8", errors="replace"))
            found |= {one for one in _VARIABLE.findall(expressions(text)) if owner(one) is not None}
    return found


def included(role: str) -> set[str]:
    """Roles that it brings along, those of its `dependencies` among them."""
    text = "".join(path.read_text() for path in (ROLES / role / "tasks").glob("*.yml"))
    named = set(re.findall(r"(?:include_role|import_role):\s*\n\s*name: (\w+)", text))
    meta = yaml_text.load((ROLES / role / "meta/main.yml").read_text())
    return named | {str(one.get("role", one) if isinstance(one, dict) else one) for one in meta["dependencies"]}


@pytest.mark.parametrize("role", NAMES)
def test_appliance_723_no_role_waits_for_another_that_it_does_not_bring(role: str) -> None:
    """A role that reads another's variables works only where somebody has run that one, and nobody says so."""
    foreign = {one for one in reads(role) if owner(one) not in {role, *included(role)}}
    assert foreign == set()
