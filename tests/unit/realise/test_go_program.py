"""Programs of Go modules for hosts of another machine type than the operator's: compiler, folder in the cache, and refusals."""

import platform
from pathlib import Path

import pytest

from landbridge.realise import go_program, object_store, signing_helper
from landbridge.realise.go_program import BuildError

HERE = platform.machine()
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}.get(HERE, "aarch64")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder as PATH with nothing but a program `go`, beside an empty cache."""
    programs = tmp_path / "bin"
    programs.mkdir()
    go = programs / "go"
    go.write_text("#!/bin/sh\nexit 1\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return programs


@pytest.mark.parametrize(
    "program", [signing_helper.program(), object_store.program()], ids=lambda program: program.name
)
def test_programs_of_two_machine_types_are_beside_each_other(program: go_program.GoProgram) -> None:
    assert program.path == program.path_for(HERE)
    assert program.path_for(OTHER) != program.path
    assert program.path_for(OTHER).parent.name.endswith(OTHER)


def test_a_program_for_other_hosts_needs_their_compiler(empty: Path) -> None:
    with pytest.raises(BuildError, match=f"{OTHER}-linux-gnu-gcc is not installed.*is not built for {OTHER} yet"):
        signing_helper.build(OTHER)


def test_a_program_without_c_needs_no_compiler_for_other_hosts(empty: Path) -> None:
    # The stand-in of Go fails: the build begins, and no compiler is missing.
    with pytest.raises(BuildError, match="failed"):
        object_store.build(OTHER)


def test_an_unknown_machine_type_is_refused(empty: Path) -> None:
    with pytest.raises(BuildError, match="not built for the machine type riscv64; known: x86_64, aarch64"):
        signing_helper.build("riscv64")


def test_a_host_without_facts_gets_the_program_of_the_operators_machine(empty: Path) -> None:
    path = object_store.program().path
    path.parent.mkdir(parents=True)
    path.write_text("")
    assert object_store.build("") == path
    assert object_store.build() == path
