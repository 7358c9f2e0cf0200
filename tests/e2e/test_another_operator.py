"""Second operator of the sandbox's cluster, with another home folder and checkout, who cannot read the store of secrets."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from landbridge.paths import outputs_file, secrets_dir
from landbridge.plan.site.link.gateway import KEYS
from sandbox.demo.bring_up import BringUp
from sandbox.demo.report import DemoError
from sandbox.demo.work import command, program

pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long]
PASSWORD = "ANSIBLE_VAULT_PASSWORD_FILE"
#: Secrets of the cluster on its hosts, by host.
KEPT = {
    "ctl01": "/etc/munge/munge.key /etc/landbridge/secrets.sha256",
    "db01": "/etc/slurm/slurmdbd.conf /etc/landbridge/secrets.sha256",
    "mlops01": "/etc/landbridge/secrets.sha256 /etc/landbridge/tls/ca.pem",
    "dgx01": "/etc/munge/munge.key /etc/landbridge/secrets.sha256",
}


@dataclass(frozen=True)
class Operator:
    """Operator with a home folder and a copy of the environment file."""

    deployment: BringUp
    home: Path
    file: Path
    password: Path

    @property
    def state(self) -> Path:
        return self.home / ".local/state/landbridge"

    @property
    def secrets(self) -> set[str]:
        """Return the names of the files in the operator's own folder of secrets."""
        folder = self.state / self.deployment.name / "secrets"
        return {path.name for path in folder.iterdir() if path.is_file()}

    def run(self, *words: str) -> str:
        variables = {name: value for name, value in self.deployment.variables().items() if not name.startswith("XDG_")}
        variables |= {"HOME": str(self.home), PASSWORD: str(self.password)}
        return command([program("landbridge"), *words, "--file", str(self.file)], env=variables, timeout=1200)


def checksums(deployment: BringUp) -> dict[str, str]:
    """Return the checksums of the cluster's secrets on its hosts."""
    return {name: deployment.cluster.run(name, "sh", "-c", f"sha256sum {files}") for name, files in KEPT.items()}


@pytest.fixture
def second(deployment: BringUp, tmp_path: Path) -> Operator:
    """Return an operator who has the checkout, the stack outputs and keys of the tunnels, and SSH's key of the hosts."""
    checkout, home = tmp_path / "checkout/stacks", tmp_path / "home"
    operator = Operator(deployment, home, checkout / deployment.path.name, home / "password")
    checkout.mkdir(parents=True)
    operator.file.write_text(deployment.path.read_text())
    folder = operator.state / deployment.name
    (folder / "secrets").mkdir(parents=True, mode=0o700)
    shutil.copy(outputs_file(deployment.name), folder / outputs_file(deployment.name).name)
    shutil.copy(secrets_dir(deployment.name) / KEYS, folder / "secrets" / KEYS)
    # The CA of IAM Roles Anywhere is in no store.
    if (secrets_dir(deployment.name) / "anywhere").exists():
        shutil.copytree(secrets_dir(deployment.name) / "anywhere", folder / "secrets/anywhere")
    return operator


def share(operator: Operator) -> None:
    """Import the first operator's folder into an encrypted store beside the second one's environment file."""
    with operator.file.open("a") as file:
        file.write("    secrets: {store: ansible-vault}\n")
    operator.password.write_text("a password of both operators\n")
    operator.password.chmod(0o600)
    first = {**operator.deployment.variables(), PASSWORD: str(operator.password)}
    for action in ("import", "init"):
        command([program("landbridge"), "secrets", action, "--file", str(operator.file)], env=first)


@pytest.mark.parametrize("password", [None, "another password\n"])
def test_a_second_operator_who_cannot_read_the_store_is_refused(
    deployment: BringUp, second: Operator, password: str | None
) -> None:
    share(second)
    (store,) = second.file.parent.glob("secrets.*.yaml")
    before, stored = checksums(deployment), store.read_bytes()
    if password is None:
        second.password.unlink()
    else:
        second.password.write_text(password)
    for words in (("configure",), ("secrets", "init")):
        with pytest.raises(DemoError, match=r"no password|not with the password") as refused:
            second.run(*words)
        assert "Traceback" not in str(refused.value)
    assert second.secrets == {KEYS} and store.read_bytes() == stored and checksums(deployment) == before
