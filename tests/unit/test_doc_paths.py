"""Paths in documents, docstrings and comments: each exists in the tree."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "ansible",
    "bench",
    "bootstrap",
    "components",
    "docs",
    "examples",
    "landbridge",
    "sandbox",
    "stacks",
    "tests",
)
PATH = re.compile(rf"(?<![\w./~-])(?:{'|'.join(FOLDERS)})/[\w./*<>{{}}-]*[\w*>}}]")
#: Paths of modules below landbridge/, written without it.
SHORT = re.compile(r"(?<![\w./-])(?:burst|catalog|environment|live|plan|policy|realise|rules)/[\w/]+\.py\b")
#: Patterns, and names of an environment or a component that a reader creates.
PLACEHOLDERS = re.compile(r"ENV|NAME|STACK|acme|job_logs|jupyter|rack\.yaml|[*<{]")
#: Files that a reader of a how-to page creates, files of the run time, and folders below the state directory.
CREATED = {
    "ansible/out",
    "components/job_logs.py",
    "components/multilang/job_logs.py",
    "components/policy/.venv",
    "examples/components/job_logs.py",
    "landbridge/burst.json",
    "landbridge/catalog/instances/g5g.yaml",
    "landbridge/packages/keys",
    "landbridge/plan/aws/job_logs.py",
    "landbridge/rules/owners.py",
    "tests/unit/rules/rows_owners.py",
}
#: Tests create checkouts and environments; the changelog contains former paths.
SKIPPED = re.compile(
    r"tests/|docs/reference/glossary\.md|CHANGELOG\.md|bench/.*\.py|docs/reference/(commands|mistakes)\.md"
)


def test_each_path_in_a_document_a_docstring_or_a_comment_exists() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    present = {path for path in tracked if (ROOT / path).exists()}
    present |= {str(parent) for path in present for parent in Path(path).parents}
    names = [name for name in sorted(present) if name.endswith((".md", ".py", ".yml", ".yaml", ".toml", ".ini", ".sh"))]
    missing = [line for name in names if not SKIPPED.match(name) for line in _missing(name, present)]
    assert missing == []


def _missing(name: str, present: set[str]) -> Iterator[str]:
    for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1):
        for path in PATH.findall(line):
            exists = path in present or path in CREATED or str(Path(name).parent / path) in present
            if not exists and not PLACEHOLDERS.search(path):
                yield f"{name}:{number}: {path} does not exist"
        for path in SHORT.findall(line):
            if not any(file.endswith(f"/{path}") for file in present):
                yield f"{name}:{number}: {path} does not exist"
