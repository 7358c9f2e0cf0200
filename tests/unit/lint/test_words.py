"""Lint for first words: findings for names and docstrings, and none for correct ones."""

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
    assert [line for line, _ in lint.docstring_openings(source, WORDS["docstring_openings"].split())] == lines


def test_unfinished_folders_are_exempt_from_the_docstring_check_alone(lint: ModuleType, tmp_path: Path) -> None:
    names = ["ansible/site.yml", "old/a.py", "new/b.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('"""What it is."""\n' if name.endswith(".py") else "- name: Every host\n")
    findings = list(lint.check(tmp_path, names, {**WORDS, "unfinished": ["old/", "ansible/"]}))
    assert [path for path, *_ in findings] == ["ansible/site.yml", "new/b.py"]


def test_the_program_prints_file_and_line_and_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""Whoever reads this."""\n')
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "a.py"], cwd=tmp_path, check=True)
    program = [sys.executable, ROOT / "bootstrap/lint_words.py", tmp_path]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout.startswith('a.py:1: the docstring begins with "Whoever"')
    (tmp_path / "a.py").write_text('"""Reader of this."""\n')
    assert subprocess.run(program, check=False).returncode == 0
