"""Pages about secrets, followed literally: keep-secrets.md, and the playbooks of rotate-a-secret.md as Ansible parses them."""

from pathlib import Path

import pytest

from landbridge.paths import secrets_dir
from tests.unit.how_to.pages import ROOT, Step, run, steps, write

STEPS = tuple(steps(ROOT / "docs/how-to/keep-secrets.md"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with an environment called acme, and an operator without secrets."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("home", "stacks"):
        (tmp_path / name).mkdir()
    (tmp_path / "stacks/Pulumi.acme.yaml").write_text((ROOT / "stacks/Pulumi.hybrid.yaml").read_text())
    return tmp_path


def command(step: Step, folder: Path) -> str:
    done = run(f"PYTHONPATH={ROOT} {step.command}", folder)
    assert done.returncode == 0, f"{step.command}\n{done.stdout}"
    return done.stdout


def test_a_new_site_and_a_running_site_have_their_secrets_in_the_store(folder: Path) -> None:
    stored, password, init, listed, imported, exported = STEPS
    write(stored, folder)
    command(password, folder)
    # A site that runs already: its operator's folder is imported, and the rest is generated.
    (secrets_dir("acme") / "slurm-key").write_text("munge-key-of-the-site\n")
    assert "1 copied: slurm-key" in command(imported, folder)
    assert "13 generated" in command(init, folder)
    assert "missing" not in command(listed, folder)
    command(exported, folder)
    assert (folder / "home/acme-secrets/slurm-key").read_text() == "munge-key-of-the-site\n"
    assert (folder / "stacks/secrets.acme.yaml").read_text().startswith("$ANSIBLE_VAULT")


def test_each_rotation_is_a_playbook_that_ansible_parses(folder: Path) -> None:
    page = ROOT / "docs/how-to/rotate-a-secret.md"
    commands = [step.command for step in steps(page) if step.command is not None]
    for name in ("ansible", "ansible.cfg"):
        (folder / name).symlink_to(ROOT / name)
    named = {Path(text.split()[3]).name for text in commands}
    assert named == {path.name for path in (ROOT / "ansible/playbooks").glob("rotate_*.yml")} - {"rotate_slurm_key.yml"}
    joined = " ".join(text.split()[3] for text in commands)
    done = run(f"PYTHONPATH={ROOT} ansible-playbook --syntax-check -i stacks/Pulumi.acme.yaml {joined}", folder)
    assert done.returncode == 0, done.stdout
    assert all(name in page.read_text() for name in named)
