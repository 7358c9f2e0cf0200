"""Search for an engine and for the tools that build it, with programs that only print a version."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from sandbox.pulumi_provider.engine import build, find
from sandbox.pulumi_provider.engine.scripts import PLUGINS, write_scripts


def program(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Simulate a machine with no engine and no Go; return the first folder of PATH, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), "/usr/bin", "/bin"]))
    return tmp_path / "bin"


def test_versions_are_locked_in_one_place() -> None:
    assert build.engine_version().startswith("v3.") and build.required_go() >= (1, 25)
    assert f"pulumi/pkg/v3 {build.engine_version()} h1:" in (build.GOLANG / "go.sum").read_text()


def test_an_engine_on_path_is_used_first(bare: Path) -> None:
    program(find.cached_program().parent, "pulumi", "v3.259.0")
    newer = program(bare, "pulumi", "v3.260.1")
    assert find.find_engine() == find.Engine(newer, "v3.260.1", "path")


def test_the_cached_engine_is_used_instead_of_an_old_one_on_path(bare: Path) -> None:
    program(bare, "pulumi", "v3.100.0")
    cached = program(find.cached_program().parent, "pulumi", build.engine_version())
    assert find.find_engine() == find.Engine(cached, build.engine_version(), "cache")


def test_the_message_without_an_engine_lists_every_attempt(bare: Path) -> None:
    program(bare, "pulumi", "hello")
    result = find.find_engine()
    assert isinstance(result, find.NoEngine)
    assert "does not answer" in str(result) and "none in the cache" in str(result)


def test_a_new_go_is_used_as_it_is(bare: Path, tmp_path: Path) -> None:
    program(bare, "go", "go1.26.8")
    assert build.find_go(tmp_path, print).environment == {"GOTOOLCHAIN": "local"}


def test_a_go_of_ubuntu_24_04_fetches_the_toolchain_it_needs(bare: Path, tmp_path: Path) -> None:
    program(bare, "go", "go1.22.2")
    version = ".".join(map(str, build.required_go()))
    assert build.find_go(tmp_path, print).environment == {"GOTOOLCHAIN": f"go{version}"}


def test_a_go_of_debian_12_is_too_old_and_the_wheel_is_used(bare: Path, tmp_path: Path) -> None:
    program(bare, "go", "go1.19.8")
    wheel = program(tmp_path / "engine" / "go" / build.WHEEL_COMMAND.parent, "go", "go1.26.6")
    assert build.find_go(tmp_path, print).command == wheel


def test_a_full_disk_is_reported_before_a_download(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "NEEDED_BYTES", 1 << 60)
    with pytest.raises(build.CannotBuild, match="GB free"):
        build.build(tmp_path, print)


def test_plugins_are_programs_that_print_a_port_and_end_with_their_parent(tmp_path: Path) -> None:
    folder = write_scripts(tmp_path / "plugins")
    assert {path.name for path in folder.iterdir()} == set(PLUGINS)
    # A shell that starts the plugin and then ends: the plugin never receives Cancel.
    for name in PLUGINS:
        orphan = subprocess.run(
            ["sh", "-c", f'"{folder / name}" 127.0.0.1:1 > "{tmp_path / "port"}" & echo $!; sleep 3'],
            capture_output=True,
            text=True,
            check=True,
        )
        pid = int(orphan.stdout)
        _ends(pid, name)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def _ends(pid: int, name: str) -> None:
    deadline = time.monotonic() + 300
    while _alive(pid):
        assert time.monotonic() < deadline, f"{name} outlives its parent"
        time.sleep(0.2)
