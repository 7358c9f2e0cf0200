"""Imports of the modules that Mitogen sends: the same from a file as from the compiled text, and a damaged file is not used."""

from pathlib import Path

import mitogen.imports
import pytest

from sandbox import module_imports

SOURCE = "import os, json.decoder\nfrom . import near\nfrom ansible.module_utils.basic import AnsibleModule as Module\n"
IMPORTS = [
    (0, "os", ()),
    (0, "json.decoder", ()),
    (1, "", ("near",)),
    (0, "ansible.module_utils.basic", ("AnsibleModule",)),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module_imports, "_FOLDER", str(tmp_path))
    return tmp_path


def test_the_second_time_they_are_read_from_a_file(folder: Path) -> None:
    assert list(mitogen.imports.codeobj_imports(compile(SOURCE, "module", "exec"))) == IMPORTS
    assert module_imports.imports(SOURCE, "module", "exec") == IMPORTS
    (file,) = folder.iterdir()
    file.write_text('[[0, "other", []]]')
    assert module_imports.imports(SOURCE.encode(), "module", "exec") == [(0, "other", ())]


def test_a_damaged_file_is_replaced(folder: Path) -> None:
    module_imports.imports(SOURCE, "module", "exec")
    (file,) = folder.iterdir()
    file.write_text("[[0,")
    assert module_imports.imports(SOURCE, "module", "exec") == IMPORTS
    assert module_imports.imports(SOURCE, "module", "exec") == IMPORTS
    assert [path.name for path in folder.iterdir()] == [file.name]


def test_without_a_folder_the_text_is_compiled(folder: Path) -> None:
    folder.rmdir()
    assert module_imports.imports(SOURCE, "module", "exec") == IMPORTS
