"""Names in the documentation exist."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer.main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob("ansible/**/*.md")]
)


def names() -> list[str]:
    return [str(page.relative_to(ROOT)) for page in PAGES]


def test_reference_pages_agree_with_the_code() -> None:
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=names())
def test_the_target_of_each_link_exists(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    local = [target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")]
    missing = [target for target in local if not (page.parent / target).exists()]
    assert missing == []


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if hasattr(command, "list_commands"):
        context = click.Context(command, info_name="landbridge")
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from commands(inner, (*path, name))


def test_commands_in_the_text_exist() -> None:
    from landbridge.cli.main import build

    known = set(commands(typer.main.get_command(build())))
    unknown = []
    for page in PAGES:
        for first, second in re.findall(r"`?(?:\.venv/bin/)?landbridge ([a-z]+)(?: ([a-z]+))?[ `]", page.read_text()):
            quoted = f"landbridge {first}"
            if f"`{quoted}" not in page.read_text() and f".venv/bin/{quoted}" not in page.read_text():
                continue  # a sentence, not a command
            if (first,) not in known or (first == "sandbox" and second and (first, second) not in known):
                unknown.append((str(page.relative_to(ROOT)), first, second))
    assert unknown == []


def test_make_targets_in_the_text_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = {target for page in PAGES for target in re.findall(r"`make ([a-z-]+)(?=[` ])", page.read_text())}
    assert used and used <= targets


def test_every_direct_dependency_has_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    dependencies = [
        *project["dependencies"],
        *(dependency for group in project["optional-dependencies"].values() for dependency in group),
    ]
    text = (ROOT / "docs" / "dependencies.md").read_text()
    missing = [name for dependency in dependencies if (name := re.split(r"[\[<>=~! ]", dependency)[0]) not in text]
    assert missing == []


def test_every_decision_is_listed() -> None:
    index = (ROOT / "docs" / "decisions" / "index.md").read_text()
    pages = [page.name for page in (ROOT / "docs" / "decisions").glob("[0-9]*.md")]
    assert pages and all(f"({name})" in index for name in pages)
