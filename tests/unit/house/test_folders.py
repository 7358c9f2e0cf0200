"""Folders hold about twenty modules; a larger subject gets folders of its own."""

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
MOST_MODULES = 22


def test_no_folder_has_many_modules() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    folders = Counter(str(Path(name).parent) for name in listed.stdout.split() if (ROOT / name).is_file())
    assert "landbridge/cli" in folders
    assert {folder: count for folder, count in folders.items() if count > MOST_MODULES} == {}
