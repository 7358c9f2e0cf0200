"""Glossary: each word has one row, no avoided word names a class or module, and a component has one noun."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.environment import Environment
from landbridge.environment.file.shape import places_of

ROOT = Path(__file__).resolve().parents[3]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
#: Pulumi derives a type token from the class name, so the adapters bear their components' names.
ADAPTERS = "components/multilang/"
#: Ansible finds a strategy by the name of its class, which all of them have.
STRATEGIES = "sandbox/strategies/"
#: Components that take another component's plan: an existing network is planned as a new one is.
SHARED_PLANS = {"ExistingNetwork": "NetworkArgs"}


def rows() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of each row of the glossary, and the words that are not used instead."""
    for line in GLOSSARY.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or cells[0] in ("word", "---"):
            continue
        assert len(cells) == 3, line
        avoided = re.sub(r"\([^)]*\)", "", cells[2])
        yield (
            [word.strip() for word in cells[0].split(",")],
            [word.strip() for word in avoided.split(",") if word.strip()],
        )


def public_classes() -> dict[str, list[str]]:
    """Return the files of each public class at the top level of a module."""
    listed = ["git", "ls-files", "landbridge/*.py", "components/*.py", "sandbox/*.py", "stacks/*.py"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    classes: dict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.startswith((ADAPTERS, STRATEGIES)) or not (ROOT / file).exists():
            continue
        for node in ast.parse((ROOT / file).read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(file)
    return classes


CLASSES = public_classes()


def test_each_word_has_one_row() -> None:
    words = [word for names, _ in rows() for word in names]
    assert len(words) > 60
    assert {word for word in words if words.count(word) > 1} == set()


def test_no_two_public_classes_have_one_name() -> None:
    twice = {name: files for name, files in CLASSES.items() if len(files) > 1}
    assert twice == {}


def test_no_class_or_module_bears_an_avoided_word() -> None:
    avoided = {word.replace(" ", "").lower() for _, words in rows() for word in words}
    modules = {Path(file).stem.replace("_", ""): file for files in CLASSES.values() for file in files}
    offending = {name: files for name, files in CLASSES.items() if name.lower() in avoided}
    offending |= {name: [file] for name, file in modules.items() if name in avoided}
    assert offending == {}, "rename them, or correct docs/reference/glossary.md"


def components() -> list[tuple[str, Path]]:
    """Return class and file of each Pulumi component that an environment's stacks use."""
    return [
        (name, ROOT / files[0])
        for name, files in sorted(CLASSES.items())
        if files[0].startswith("components/")
        and Path(files[0]).parent.name == "components"
        and files[0].count("/") == 1
    ]


def noun(snake: str) -> str:
    """Return the noun of a module's name, as documents write it: `sage_maker` is `sagemaker` there."""
    return snake.replace("sage_maker", "sagemaker").replace("_", " ")


@pytest.mark.parametrize(("name", "file"), components(), ids=[name for name, _ in components()])
def test_a_component_has_one_noun(name: str, file: Path) -> None:
    """File, class, plan module, `<Class>Args`, adapter and the glossary's row agree, and the row's environment keys exist."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    assert file.stem.replace("_", "") == snake.replace("_", ""), f"{file.name} holds {name}"
    tree = ast.parse(file.read_text())
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.name.endswith("Args") and node.module.startswith("landbridge.plan")
    }
    if imported:
        plan = SHARED_PLANS.get(name, f"{name}Args")
        assert plan in imported, f"{name} takes {sorted(imported)}"
        if name not in SHARED_PLANS:
            assert imported[plan].rpartition(".")[2] == file.stem
    row = next((line for line in GLOSSARY.read_text().splitlines() if line.startswith(f"| {noun(snake)} | ")), None)
    assert row, f"docs/reference/glossary.md has no row of the component {noun(snake)}"
    keys = re.search(r"Environment keys? ((?:`[a-z_.]+`(?:, )?)+)", row)
    assert keys, row
    for key in re.findall(r"`([a-z_.]+)`", keys[1]):
        parent, _, last = key.rpartition(".")
        paths, _ = places_of(Environment, last, ())
        assert parent in paths or (not parent and last in Environment.model_fields), f"the model has no key {key}"
    adapter = ROOT / ADAPTERS / file.name
    if adapter.exists():
        assert f"class {name}(" in adapter.read_text()
