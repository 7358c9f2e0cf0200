"""Stores of secrets: a folder, a file of Ansible Vault, and a file of the program sops, read by the commands and by Ansible."""

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in, keys_in
from landbridge.cli.main import build
from landbridge.ops.secrets.store import LocalFolder
from landbridge.paths import secrets_dir
from tests.unit.core.samples import ROOT
from tests.unit.ops.sops_program import SOPS

GENERATED = {"slurm-key", "slurm-jwt", "records-key", "owner-key", "slurm-database", "mlflow-admin", "mlflow-database"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment whose secrets are in a file of Ansible Vault."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)
    password = tmp_path / "password"
    password.write_text("correct horse\n")
    password.chmod(0o600)
    return with_store(tmp_path, {"store": "ansible-vault", "password_file": str(password)})


def with_store(folder: Path, settings: dict[str, str]) -> Path:
    path = folder / "site" / "Pulumi.acme.yaml"
    path.parent.mkdir(exist_ok=True)
    text = (ROOT / "stacks/Pulumi.hybrid.yaml").read_text()
    path.write_text(
        text.replace("  landbridge:environment:\n", f"  landbridge:environment:\n    secrets: {json.dumps(settings)}\n")
    )
    assert "secrets:" in path.read_text()
    return path


def run(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(build(), [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def values(file: Path, folder: Path) -> dict[str, str]:
    """Return the secrets of an environment's store by its export."""
    run("secrets", "export", folder, "-f", file)
    return LocalFolder(folder).read()


def playbook(file: Path, expression: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one task on this host with the environment as inventory: the operator's playbooks, without machines."""
    book = file.parent / "book.yml"
    task = {"ansible.builtin.debug": {"msg": f"{{{{ {expression} }}}}"}, "vars": {"base_users": []}}
    plays = [
        {
            "hosts": "ctl01",
            "connection": "local",
            "gather_facts": False,
            "vars_files": [str(ROOT / "ansible/group_vars/all/secrets.yml")],
            "tasks": [task],
        }
    ]
    book.write_text(json.dumps(plays))
    program = Path(sys.executable).with_name("ansible-playbook")
    return subprocess.run(
        [program, "-i", file, book, "-e", "ansible_become=false", *words],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_vault_is_created_once_and_every_operator_gets_its_values(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = file.with_name("secrets.acme.yaml")
    assert "is missing" not in run("secrets", "list", "-f", file, code=1)
    assert set(json.loads(run("secrets", "init", "-f", file, "--format", "json"))["generated"]) >= GENERATED
    text = store.read_text()
    assert text.startswith("$ANSIBLE_VAULT;1.1;AES256\n") and stat.S_IMODE(store.stat().st_mode) == 0o600
    assert "complete" in run("secrets", "init", "-f", file) and store.read_text() == text
    first = values(file, tmp_path / "first")
    forms = {name: form for name, form in site_secrets().generated.items() if name in first}
    assert all(len(first[name]) == form.length for name, form in forms.items() if form.form == "characters")
    assert len(certificates_in(first["site-ca"])) == len(keys_in(first["site-ca"])) == 1
    listed = run("secrets", "list", "-f", file)
    assert "slurm-key                present" in listed and not any(value in listed for value in first.values())
    # Ansible's own program reads the same file.
    program = Path(sys.executable).with_name("ansible-vault")
    view: list[str | Path] = [program, "view", "--vault-password-file", tmp_path / "password", store]
    shown = subprocess.run(view, capture_output=True, text=True, check=True)
    assert first["slurm-key"] in shown.stdout
    # Another machine: no folder of secrets.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert values(file, tmp_path / "second") == first
    assert LocalFolder(secrets_dir("acme")).read() == {}


def test_ansible_gets_the_values_of_the_store_and_generates_none(file: Path, tmp_path: Path) -> None:
    refused = playbook(file, "slurm_common_key | length")
    assert refused.returncode != 0
    assert "landbridge secrets init -s acme adds it" in " ".join(refused.stdout.split()), (
        refused.stdout + refused.stderr
    )
    run("secrets", "init", "-f", file)
    known = values(file, tmp_path / "known")
    done = playbook(file, "slurm_common_key == base_secrets_fingerprint, slurm_common_key | hash('sha256')")
    assert done.returncode == 0 and fingerprint(known["slurm-key"]) in done.stdout, done.stdout
    assert not any(value in done.stdout for value in known.values())
    (tmp_path / "password").write_text("wrong\n")
    os.utime(file.with_name("secrets.acme.yaml"))  # this process knows the file's content already
    assert "not with the password of" in run("configure", "-f", file, code=1)
    assert LocalFolder(secrets_dir("acme")).read() == {}


def fingerprint(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def test_a_running_cluster_moves_into_a_vault_with_its_own_secrets(file: Path, tmp_path: Path) -> None:
    folder = secrets_dir("acme")
    (folder / "slurm-key").write_text("k" * 128 + "\n")
    (folder / "link_pre_shared_keys").write_text("[]")
    (folder / "aws-credentials-burst").write_text("[default]\naws_access_key_id = A\n")
    assert "has secrets that" in run("secrets", "init", "-f", file, code=1)
    assert "2 copied: aws-credentials-burst, slurm-key" in run("secrets", "import", "-f", file)
    assert "unchanged" in run("secrets", "import", "-f", file)
    run("secrets", "init", "-f", file)
    stored = values(file, tmp_path / "stored")
    assert stored["slurm-key"] == "k" * 128 and stored["aws-credentials-burst"].endswith("aws_access_key_id = A")
    assert set(stored) >= GENERATED and "link_pre_shared_keys" not in stored
    assert stat.S_IMODE((tmp_path / "stored/slurm-key").stat().st_mode) == 0o600
    (folder / "slurm-key").write_text("other\n")
    assert "other values of slurm-key" in run("secrets", "import", "-f", file, code=1)
    run("secrets", "import", "--replace", "-f", file)
    assert values(file, tmp_path / "replaced")["slurm-key"] == "other"


@pytest.mark.parametrize(
    ("password", "mode", "message"),
    [
        ("x\n", 0o644, "can be read by other users"),
        ("", 0o600, "the password is empty"),
        ("#!/bin/sh\nexit 3\n", 0o700, "ended with status 3"),
    ],
)
def test_a_password_that_cannot_be_used_is_an_error(
    file: Path, tmp_path: Path, password: str, mode: int, message: str
) -> None:
    (tmp_path / "password").write_text(password)
    (tmp_path / "password").chmod(mode)
    assert message in run("secrets", "init", "-f", file, code=1)
    assert not file.with_name("secrets.acme.yaml").exists()


def test_a_program_prints_the_password(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("secrets", "init", "-f", file)
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho correct horse\n")
    program.chmod(0o700)
    with_store(tmp_path, {"store": "ansible-vault"})
    assert "write secrets.password_file" in run("secrets", "list", "-f", file, code=1)
    monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(program))
    run("secrets", "list", "-f", file)


def test_configure_refuses_a_store_that_lacks_a_secret(file: Path) -> None:
    refused = run("configure", "-f", file, code=1)
    assert "secrets-store" in refused and "slurm-database" in refused and "landbridge secrets init -s acme" in refused


def test_a_file_of_sops_is_read_and_written_by_the_program(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_store(tmp_path, {"store": "sops", "file": "keys/site.yaml"})
    monkeypatch.setenv("PATH", str(Path("/usr/bin")))
    (file.parent / "keys").mkdir()
    assert "the program sops is not installed" in run("secrets", "init", "-f", file, code=1)
    program = tmp_path / "bin" / "sops"
    program.parent.mkdir()
    program.write_text(SOPS.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert "no creation rules" in run("secrets", "init", "-f", file, code=1)
    (file.parent / "keys/.sops.yaml").write_text("creation_rules: [{age: age1}]\n")
    run("secrets", "init", "-f", file)
    known = values(file, tmp_path / "known")
    assert set(known) >= GENERATED
    done = playbook(file, "slurm_common_key | hash('sha256')")
    assert fingerprint(known["slurm-key"]) in done.stdout, done.stdout
    (file.parent / "keys/site.yaml").write_text("plain: text\n")
    assert "sops metadata not found" in run("secrets", "list", "-f", file, code=1)


def test_two_processes_generate_one_value(tmp_path: Path) -> None:
    form, folder = site_secrets().generated["slurm-key"], LocalFolder(tmp_path)

    def generate(_: int) -> str:
        return folder.generate("slurm-key", form)

    with ThreadPoolExecutor(8) as pool:
        generated: Sequence[str] = list(pool.map(generate, range(32)))
    assert len(set(generated)) == 1 and [path.name for path in tmp_path.iterdir()] == ["slurm-key"]


def test_new_values_are_put_without_their_text_in_the_process_list(file: Path, tmp_path: Path) -> None:
    run("secrets", "init", "-f", file)
    program = [sys.executable, "-m", "landbridge.ops.secrets.put"]
    vault = {
        "store": "ansible-vault",
        "path": str(file.with_name("secrets.acme.yaml")),
        "password_file": str(tmp_path / "password"),
    }
    put = [*program, json.dumps(vault)]
    for output in ("changed", "unchanged"):
        done = subprocess.run(
            put, input='{"slurm-database": "new"}', capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert done.stdout == f"{output}\n"
    assert values(file, tmp_path / "after")["slurm-database"] == "new"
    wrong = subprocess.run(put, input="secret text", capture_output=True, text=True, check=False, cwd=ROOT)
    assert wrong.returncode == 1 and wrong.stderr == "the input is not JSON\n"


def test_a_rotation_generates_new_values_of_the_named_secrets(file: Path, tmp_path: Path) -> None:
    run("secrets", "init", "-f", file)
    before = values(file, tmp_path / "before")
    store = {
        "store": "ansible-vault",
        "path": str(file.with_name("secrets.acme.yaml")),
        "password_file": str(tmp_path / "password"),
    }
    renew = [sys.executable, "-m", "landbridge.ops.secrets.renew", json.dumps(store)]

    def renewed(*names: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*renew, *names], capture_output=True, text=True, check=False, cwd=ROOT)

    names = ("slurm-key", "mlflow-admin-restricted", "mlflow-user-alice")
    assert renewed(*names).stdout.split() == list(names)
    after = values(file, tmp_path / "after")
    assert {name for name in before if before[name] != after[name]} == set(names)
    assert {name: len(value) for name, value in after.items()} == {name: len(value) for name, value in before.items()}
    for name, message in (
        ("directory-password", "not generated by Landbridge"),
        ("mlflow-user-kim", "lacks mlflow-user-kim"),
    ):
        refused = renewed(name)
        assert refused.returncode == 1 and message in refused.stderr
