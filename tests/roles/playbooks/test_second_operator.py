"""Second operator on another machine: the store and its password give the cluster's own keys, and nothing else does."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from tests.roles.playbooks.second_operator_lab import SITE, Operator, secret_files
from tests.unit.ops.sops_program import SOPS

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(3600)]
PASSWORD = "a password of both operators\n"


@pytest.fixture(scope="module")
def lab() -> Iterator[Layout]:
    lab = layout("landbridge-test-operators")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        yield lab
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the stand-in of sops."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "sops").write_text(SOPS.format(python=sys.executable))
    (folder / "sops").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def first(lab: Layout, programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """Return the operator who has created the secrets and configured the host."""
    operator = Operator(lab, tmp_path_factory.mktemp("first"), programs).settle("ansible-vault")
    operator.write_password(PASSWORD)
    operator.good("secrets", "init")
    assert operator.configure()["changed"] > 0
    return operator


@pytest.fixture
def second(first: Operator, tmp_path: Path) -> Operator:
    """Return an operator with a clone of the checkout with the encrypted file, SSH's key, and no password yet."""
    operator = Operator(first.lab, tmp_path, first.programs).settle("ansible-vault")
    shutil.copy(first.store, operator.store)
    return operator


def test_the_first_operator_changes_nothing_in_a_second_run(first: Operator) -> None:
    before = secret_files(first.lab)
    assert first.configure()["changed"] == 0 and secret_files(first.lab) == before


def test_a_second_operator_with_the_password_changes_nothing(first: Operator, second: Operator) -> None:
    before, stored = secret_files(first.lab), second.store.read_bytes()
    second.write_password(PASSWORD)
    assert second.configure()["changed"] == 0
    assert secret_files(first.lab) == before and second.store.read_bytes() == stored
    assert second.secrets() == [], "no key was generated"


def test_a_second_operator_with_the_same_values_in_sops_changes_nothing(first: Operator, second: Operator) -> None:
    before, folder = secret_files(first.lab), second.folder / "values"
    first.good("secrets", "export", str(folder))
    second.store.unlink()
    second.describe({"store": "sops"})
    (second.store.parent / ".sops.yaml").write_text("creation_rules: []\n")
    second.good("secrets", "import", "--from", str(folder))
    assert second.configure()["changed"] == 0 and secret_files(first.lab) == before
    assert second.secrets() == []
