"""Rotation of the site's CA and of MLflow's passwords in the sandbox's cluster while a job records its run."""

import re
from pathlib import Path

import pytest

from landbridge.certificates import certificates_in
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.paths import secrets_dir
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import wait_for
from sandbox.demo.training import Researcher
from sandbox.demo.work import command, program

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.long]


@pytest.fixture(scope="module")
def user(deployment: BringUp) -> Researcher:
    researcher = Researcher(deployment.cluster, deployment.environment, deployment.environment.users[0].name)
    researcher.bring_example()
    return researcher


def test_the_ca_and_the_passwords_of_mlflow_are_rotated_while_a_job_records(
    deployment: BringUp, user: Researcher
) -> None:
    store = secrets_dir(deployment.name)
    authority = (store / AUTHORITY).read_text()
    number = user.train("rotated", ["--epochs", "150", "--seconds-per-epoch-floor", "4"], ["--partition", "onprem"])
    wait_for("the job to train", lambda: (user.state(number), user.output(number)), lambda seen: "epoch" in seen[1])
    for step in ("add", "use", "drop"):
        output = playbook(deployment, "rotate_site_ca.yml", "-e", f"site_ca_step={step}")
        assert "PRIVATE KEY" not in output
        # A repeated step changes nothing.
        repeated = playbook(deployment, "rotate_site_ca.yml", "-e", f"site_ca_step={step}")
        assert set(re.findall(r"changed=(\d+)", repeated)) == {"0"}, repeated
    later = (store / AUTHORITY).read_text()
    assert later.count("BEGIN CERTIFICATE") == 1 and certificates_in(later) != certificates_in(authority)
    for name in ("ctl01", "mlops01", "login01"):
        assert (
            deployment.cluster.run(name, "cat", "/etc/landbridge/tls/ca.pem").strip()
            == certificates_in(later)[0].strip()
        )
    output = playbook(deployment, "rotate_mlflow_passwords.yml")
    assert user.name in output
    ended = user.finish(number)
    assert ended.restarts == 0
    assert user.run_of(number).status == "FINISHED"


def playbook(deployment: BringUp, name: str, *words: str) -> str:
    """Run a playbook on the deployment's environment file and return its output."""
    words = (program("ansible-playbook"), "-i", str(deployment.path), f"ansible/playbooks/{name}", *words)
    return command([*words], env=deployment.variables(), cwd=ROOT, timeout=900)
