"""Role python_runtime: reserved names, and modules that write into the home folder when they are imported."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROLE = Path(__file__).parents[3] / "ansible/roles/python_runtime"
FOLDERS = ["bin", "envs", "lib", "locks", "mlflow-plugin", "tests", "tools"]
#: As ONNX Runtime does with an identifier of the machine.
MODULE = "from pathlib import Path\n(Path.home() / '.identifier').write_text('1')\n"


@pytest.mark.parametrize("name", FOLDERS)
def test_an_environment_cannot_have_the_name_of_a_folder_of_landbridge(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    variables = {
        "python_runtime_name": name,
        "python_runtime_root": str(root),
        "python_runtime_lock": str(ROLE / "files/requirements.lock"),
    }
    book = tmp_path / "play.yml"
    book.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "roles": [str(ROLE)]}]))
    program = Path(sys.executable).with_name("ansible-playbook")
    words = [str(program), "-i", "localhost,", "-c", "local", "-e", json.dumps(variables), str(book)]
    completed = subprocess.run(words, capture_output=True, text=True, check=False)
    assert completed.returncode == 2
    assert f"{root}/{name} is a folder of Landbridge: choose another name" in " ".join(completed.stdout.split())
    assert "changed=0" in completed.stdout
    assert not root.exists()


def test_a_module_that_writes_into_the_home_folder_leaves_no_file(tmp_path: Path) -> None:
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir()
    prepare(root, wheel(tmp_path / "wheels"))
    assert build(root, tmp_path / "wheels", home) == "changed"
    environment = (root / "analysis").resolve()
    assert (environment / ".complete").exists()
    assert list(home.iterdir()) == []
    assert not list(root.rglob(".identifier")) and not (environment / ".home").exists()
    # Users cannot write here: the module was imported, so its bytecode is there.
    assert list(environment.rglob("writes_home.cpython-*.pyc"))
    assert build(root, tmp_path / "wheels", home) == "unchanged"


def test_a_failed_import_leaves_the_previous_environment(tmp_path: Path) -> None:
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir()
    prepare(root, wheel(tmp_path / "wheels"))
    build(root, tmp_path / "wheels", home)
    before = (root / "analysis").resolve()
    prepare(root, wheel(tmp_path / "wheels", "raise ImportError('broken')\n"))
    with pytest.raises(subprocess.CalledProcessError, match="exit status 1"):
        build(root, tmp_path / "wheels", home)
    assert (root / "analysis").resolve() == before
    assert list(home.iterdir()) == []


def wheel(folder: Path, module: str = MODULE) -> str:
    """Write the wheel of a package with one module, and return its lock."""
    folder.mkdir(exist_ok=True)
    path = folder / "writes_home-1.0-py3-none-any.whl"
    information = "writes_home-1.0.dist-info"
    with ZipFile(path, "w") as archive:
        archive.writestr("writes_home.py", module)
        archive.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: writes-home\nVersion: 1.0\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(
            f"{information}/RECORD",
            f"writes_home.py,,\n{information}/METADATA,,\n{information}/WHEEL,,\n{information}/RECORD,,\n",
        )
    return f"writes-home==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def prepare(root: Path, lock: str) -> None:
    """Write the folders that the role's tasks leave, with the operator's installer."""
    locks = root / "locks/analysis"
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "requirements.lock").write_text(lock)
    shutil.copy(ROLE / "files/requirements.lock", locks / "uv.lock")
    tools = root / "tools/bin"
    tools.mkdir(parents=True, exist_ok=True)
    if not (tools / "uv").exists():
        (tools / "uv").symlink_to(shutil.which("uv") or Path(sys.executable).with_name("uv"))
    shutil.copy(ROLE / "files/requirements.lock", root / "tools/uv.lock")
    (root / "tools/.complete").touch()


def build(root: Path, wheels: Path, home: Path) -> str:
    """Run the role's program as its task does, and return what it printed."""
    words = ["sh", str(ROLE / "files/python-env"), str(root), "analysis", str(wheels), "writes_home"]
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.strip()
