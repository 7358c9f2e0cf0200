"""Lint for words: Ansible task names, first words and first sentences of Python docstrings, and names that say nothing.

`python bootstrap/lint_words.py [FOLDER]` prints `file:line: message` for each finding among the files that git tracks, and
exits with 1 when there is one. The words are data in lint_words.yaml.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
WORDS = Path(__file__).with_name("lint_words.yaml")
#: Keys of a play or a block that hold lists of tasks.
TASK_LISTS = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
_TASK_FILE = re.compile(r"^ansible/(site\.yml|playbooks/.*\.yml|roles/[^/]+/(tasks|handlers)/.*\.yml)$")
_PYTHON_PROGRAM = re.compile(rb"#!.*[/ ]python3?\b")
_WORD = re.compile(r"\W*([\w'-]+)")
_SENTENCE = re.compile(r".+?[.!?](?= [A-Z`]|$)")


def main(argv: Sequence[str]) -> int:
    """Print the findings of a checkout; 1 when there is one."""
    root = Path(argv[0]) if argv else ROOT
    words = yaml.safe_load(WORDS.read_text())
    findings = sorted(check(root, tracked(root), words))
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    return 1 if findings else 0


def check(root: Path, names: Sequence[str], words: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield the path, line and message of each finding in the named files."""
    nouns = tuple(words["folders_with_nouns"].split())
    for name in names:
        if _TASK_FILE.match(name):
            for line, message in task_names((root / name).read_text(), words["task_verbs"].split()):
                yield name, line, message
        elif is_python(root / name):
            tree = ast.parse((root / name).read_text())
            for line, message in docstring_openings(tree, words["docstring_openings"].split()):
                yield name, line, message
            if name.startswith(nouns):
                for line, message in pronouns(tree, words["pronouns"]):
                    yield name, line, message
            for line, message in empty_names(tree, set(words["empty_names"].split())):
                yield name, line, message


def task_names(text: str, verbs: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield a finding for each play, task or handler whose name is missing or does not begin with a known verb."""
    document = yaml.compose(text)
    pending = list(document.value) if isinstance(document, yaml.SequenceNode) else []
    while pending:
        task = pending.pop()
        keys = {key.value: value for key, value in task.value}
        for name in TASK_LISTS:
            if isinstance(tasks := keys.get(name), yaml.SequenceNode):
                pending += tasks.value
        if "name" not in keys:
            yield task.start_mark.line + 1, "a task without a name: begin one with a verb"
            continue
        line, name = keys["name"].start_mark.line + 1, keys["name"].value
        if first_word(name) not in verbs:
            yield line, f'the task name "{name}" does not begin with a verb of lint_words.yaml'


def is_python(path: Path) -> bool:
    """Return true for a module, and for a program without a suffix whose first line names Python."""
    if path.suffix:
        return path.suffix == ".py"
    with path.open("rb") as file:
        return bool(_PYTHON_PROGRAM.match(file.readline(100)))


def docstring_openings(tree: ast.Module, openings: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield a finding for each module, class or function whose docstring begins with a forbidden word."""
    for line, docstring in docstrings(tree):
        if (word := first_word(docstring)) in openings:
            yield line, f'the docstring begins with "{word}": name the standard object, or begin with a verb'


def pronouns(tree: ast.Module, forbidden: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield a finding for each docstring whose first sentence has a pronoun in place of its noun."""
    for line, docstring in docstrings(tree):
        sentence = f" {first_sentence(docstring)}"
        for words in forbidden:
            if f" {words} " in sentence:
                yield line, f'the docstring\'s first sentence has "{words}": repeat the noun'


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, docstring


def empty_names(tree: ast.Module, forbidden: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield a finding for each variable, parameter, function or class whose name does not say what it holds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        else:
            continue
        if name in forbidden:
            yield node.lineno, f'the name "{name}" does not say what it holds: write the noun, such as "instance"'


def first_word(text: str) -> str:
    """Return the first word of a text, without punctuation before it."""
    match = _WORD.match(text)
    return match.group(1) if match else ""


def first_sentence(text: str) -> str:
    """Return the first sentence of a text's first paragraph, on one line."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    match = _SENTENCE.match(paragraph)
    return match.group() if match else paragraph


def tracked(root: Path) -> list[str]:
    """Return the paths of the files that git tracks and that exist."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (root / name).is_file()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
