"""Lint for words: findings for names and docstrings, and none for correct ones."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
WORDS: dict[str, Any] = yaml.safe_load((ROOT / "bootstrap/lint_words.yaml").read_text())


@pytest.fixture(scope="module")
def lint() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lint_words", ROOT / "bootstrap/lint_words.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- name: Template slurm.conf\n  ansible.builtin.template: {}\n", []),
        ("- name: Know the system\n  ansible.builtin.setup: {}\n", [1]),
        ("- hosts: all\n  tasks: []\n", [1]),
        ("- name: Configure hosts\n  hosts: all\n  tasks:\n    - name: Let users in\n", [4]),
        ("- name: Configure a\n  block:\n    - name: Begin it\n  rescue:\n    - name: Go on\n", [3, 5]),
        ("[]\n", []),
        ("", []),
    ],
)
def test_task_names_begin_with_a_verb(lint: ModuleType, text: str, lines: list[int]) -> None:
    assert sorted(line for line, _ in lint.task_names(text, WORDS["task_verbs"].split())) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""CloudTrail trail with object lock."""\n', []),
        ('"""Who called what."""\n', [1]),
        ('def drain():\n    """Drain a node."""\n\n\nclass A:\n    """Something."""\n', [6]),
        ('class A:\n    async def b(self):\n        """\n        Where it goes.\n        """\n', [3]),
        ('"""Whose is not in the list, and What later in the text is no finding."""\n', []),
        ("x = 1\n", []),
    ],
)
def test_docstrings_do_not_begin_with_a_pronoun(lint: ModuleType, source: str, lines: list[int]) -> None:
    tree = ast.parse(source)
    assert [line for line, _ in lint.docstring_openings(tree, WORDS["docstring_openings"].split())] == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""Price of a slice, from the price of a GPU."""\n', []),
        ('"""Price of a slice, from that of a GPU."""\n', [1]),
        ('def f():\n    """Return the bytes\n    and those\n    of a copy.\n    """\n', [2]),
        ('"""Price of a slice. It follows from that of a GPU."""\n', []),
        ('"""Price of a slice.\n\nIt follows from that of a GPU.\n"""\n', []),
    ],
)
def test_first_sentences_repeat_the_noun(lint: ModuleType, source: str, lines: list[int]) -> None:
    assert [line for line, _ in lint.pronouns(ast.parse(source), WORDS["pronouns"])] == lines


def test_nouns_are_repeated_in_the_listed_folders_only(lint: ModuleType, tmp_path: Path) -> None:
    names = ["landbridge/a.py", "tests/a.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('"""Price of a slice, from that of a GPU."""\n')
    assert [path for path, *_ in lint.check(tmp_path, names, WORDS)] == ["landbridge/a.py"]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("instance = 1\n", []),
        ("found = 1\nprint(found)\n", [1]),
        ("for one in []:\n    pass\n", [1]),
        ("def launch(told):\n    return [row for own in told]\n", [1, 2]),
        ("class A:\n    made: int\n\n    def there(self): ...\n", [2, 4]),
        ("print(a.found, one)\n", []),
    ],
)
def test_names_say_what_they_hold(lint: ModuleType, source: str, lines: list[int]) -> None:
    assert sorted(line for line, _ in lint.empty_names(ast.parse(source), WORDS["empty_names"].split())) == lines


def test_modules_and_programs_without_suffix_are_read(lint: ModuleType, tmp_path: Path) -> None:
    texts = {
        "a.py": "",
        "program": "#!/usr/bin/env python3\n",
        "script": "#!/bin/sh\n",
        "b.py.j2": "#!/usr/bin/python3\n",
    }
    for name, first_line in texts.items():
        (tmp_path / name).write_text(f'{first_line}"""What it is."""\n')
    findings = list(lint.check(tmp_path, list(texts), WORDS))
    assert [path for path, *_ in findings] == ["a.py", "program"]


def test_the_program_prints_file_and_line_and_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""Whoever reads this."""\n')
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "a.py"], cwd=tmp_path, check=True)
    program = [sys.executable, ROOT / "bootstrap/lint_words.py", tmp_path]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout.startswith('a.py:1: the docstring begins with "Whoever"')
    (tmp_path / "a.py").write_text('"""Reader of this."""\n')
    assert subprocess.run(program, check=False).returncode == 0
