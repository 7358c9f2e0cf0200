"""Second operator who cannot read the store: both commands are refused before Ansible starts, and no key is generated. No host is needed."""

import shutil
from pathlib import Path

import pytest

from sandbox.nspawn.layout import layout
from tests.roles.playbooks.second_operator_lab import Operator

PASSWORD = "a password of both operators\n"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """Return the operator who has created the secrets."""
    operator = Operator(layout("landbridge-test-operators"), tmp_path_factory.mktemp("first")).settle("ansible-vault")
    operator.write_password(PASSWORD)
    operator.good("secrets", "init")
    return operator


@pytest.fixture
def second(first: Operator, tmp_path: Path) -> Operator:
    """Return an operator with a clone of the checkout with the encrypted file, and no password yet."""
    operator = Operator(first.lab, tmp_path).settle("ansible-vault")
    shutil.copy(first.store, operator.store)
    return operator


def test_with_the_password_the_values_are_those_of_the_first_operator(first: Operator, second: Operator) -> None:
    second.write_password(PASSWORD)
    second.good("secrets", "init")
    for operator in (first, second):
        operator.good("secrets", "export", str(operator.folder / "values"))
    values = [
        {path.name: path.read_text() for path in (folder / "values").iterdir()}
        for folder in (first.folder, second.folder)
    ]
    assert values[0] == values[1] and "slurm-key" in values[0]
    assert second.secrets() == [], "no key was generated"


@pytest.mark.parametrize("password", [None, "another password\n"])
def test_without_the_password_both_commands_are_refused_before_any_task(second: Operator, password: str | None) -> None:
    if password is not None:
        second.write_password(password)
    stored = second.store.read_bytes()
    for words in (("configure",), ("secrets", "init")):
        refused = second.command(*words)
        text = refused.stdout + refused.stderr
        assert refused.returncode != 0 and "Traceback" not in text
        assert ("no password" if password is None else "not with the password") in text, text
    assert second.store.read_bytes() == stored and second.secrets() == []
    assert not (second.state / "shared/ansible/artifacts").exists(), "Ansible did not start"


def test_without_the_encrypted_file_no_key_is_generated(second: Operator) -> None:
    second.write_password(PASSWORD)
    second.store.unlink()
    refused = second.command("configure")
    assert refused.returncode != 0 and "secrets init" in refused.stdout + refused.stderr
    assert not second.store.exists() and second.secrets() == []
