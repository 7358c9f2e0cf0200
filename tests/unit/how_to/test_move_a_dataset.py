"""docs/how-to/move-a-dataset.md, followed literally on a storage host with the emulated AWS."""

import re
import shlex
import shutil
from pathlib import Path

from tests.unit.how_to.pages import ROOT, steps
from tests.unit.live.conftest import cloud, emulator  # noqa: F401
from tests.unit.live.datasets.conftest import StorageHost, contents, host, source  # noqa: F401

PAGE = ROOT / "docs/how-to/move-a-dataset.md"


def test_the_commands_of_the_page_move_a_dataset(host: StorageHost, source: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "data").mkdir()
    shutil.copytree(source, tmp_path / "data/corpus")
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    printed = {}
    for step in steps(PAGE):
        assert step.command is not None
        words = [re.sub(r"^/(?=data|scratch)", f"{tmp_path}/", word) for word in shlex.split(step.command)]
        words = words[1:] if words[0].startswith("AWS_PROFILE=") else words
        assert words[:2] == ["landbridge", "data"]
        if words[2:] == ["status"]:
            done = host.status("--exchange", str(exchange))
            # No mover runs here.
            assert done.returncode == 1 and "the mover has never reported" in done.stdout, done
            continue
        done = host.data(*words[2:], mover=words[2] != "gc")
        assert done.returncode == 0, f"{step.command}\n{done.stderr}"
        printed[words[2], words[-1]] = done.stdout
    assert contents(tmp_path / "scratch/corpus") == contents(source)
    large = [tmp_path / "scratch" / name / "large.bin" for name in ("corpus", "second")]
    assert large[0].samefile(large[1])
    assert "no transfers without an end" in printed["cost", "acme"]


def test_the_findings_of_the_page_exist() -> None:
    code = "".join(path.read_text() for path in (ROOT / "landbridge").rglob("*.py"))
    named = re.findall(r"`(dataset-[a-z]+)`", PAGE.read_text())
    assert len(named) >= 7 and all(f'"{rule}"' in code for rule in named)
