"""MLflow's servers of two data classes: changed accounts, dumps and upgrades of databases, rotated secrets, and teams.

The tests change the host for the later ones; those of test_access.py run before.
"""

import base64
from pathlib import Path
from shlex import quote

import pytest

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.ops.secrets.store import new_value
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.ops.site_certificates.rotate import rotated
from landbridge.plan.roles.mlflow import job_variables
from landbridge.plan.site.site_tls import AUTHORITY_FILE
from tests.roles.hosts.mlflow_servers.lab import (
    API,
    INTERNAL,
    PROXY,
    PYTHON,
    RESTRICTED,
    Run,
    Tracking,
    site_environment,
)
from tests.roles.hosts.mlflow_servers.programs import OLD_TABLES, STEPS

pytestmark = [pytest.mark.lab]


def test_a_user_that_leaves_an_account_loses_access_and_a_class_without_account_its_server(
    host: Tracking, internal_run: Run, restricted_run: Run
) -> None:
    path = f"{API}/experiments/search?max_results=1"
    assert host.send(INTERNAL, path, "carol")[0] == 200
    host.converge(site_environment(vision={"users": ["alice"], "data_class": "internal"})).good()
    assert host.send(INTERNAL, path, "carol")[0] == 403
    assert host.send(INTERNAL, path, "alice")[0] == 200
    assert host.run("systemctl is-active mlflow mlflow-restricted || true") == "active\ninactive"
    assert host.converge(None, "--check", "--diff").good().changed["mlops01"] > 0, "a preview of a new class"
    host.converge().good()
    path = f"{PROXY}/{restricted_run.experiment}/{restricted_run.run}/artifacts/result.txt"
    assert host.send(RESTRICTED, path, "bob") == (200, "result of patients")


def test_databases_are_dumped_by_the_timer(host: Tracking, restricted_run: Run) -> None:
    folder = "/var/backups/landbridge-mlflow"
    assert host.run("systemctl is-active landbridge-mlflow-dump.timer") == "active"
    host.run(f"install -d -m 700 {folder}; touch {folder}/mlflow_auth-periodic-2020010{{1..9}}T000000.dump")
    host.run(
        f"touch {folder}/mlflow_auth-periodic-201901{{10..19}}T000000.dump {folder}/mlflow_auth-d3e4-20180101T000000.dump"
    )
    host.run("systemctl start landbridge-mlflow-dump.service")
    dumps = host.run(f"ls {folder} | grep ^mlflow_auth-").splitlines()
    assert len(dumps) == 15 and dumps[0] == "mlflow_auth-d3e4-20180101T000000.dump", (
        "14, and the dump before an upgrade"
    )
    newest = host.run(f"ls {folder}/mlflow_class_restricted-periodic-* | tail -n 1")
    assert "TABLE DATA public metrics" in host.run(f"pg_restore --list {newest}")
    assert host.run(f"stat -c '%U %a' {newest}") == "root 600"
    # The class that may be in AWS has a copy in its bucket; the other class has none anywhere.
    copies = [key for key in host.objects() if key.startswith("landbridge-backups/")]
    assert {key.partition("-periodic-")[0] for key in copies} == {
        "landbridge-backups/mlflow/mlflow",
        "landbridge-backups/mlflow/mlflow_auth",
    }
    _restored(host, restricted_run, newest)
    host.run(f"rm -r {folder}")


def _restored(host: Tracking, run: Run, dump: str) -> None:
    """Lose the databases of the restricted server, and restore them by the playbook: the run has its metrics again."""
    path = f"/api/2.0/mlflow/runs/get?run_id={run.run}"
    code, before = host.send(RESTRICTED, path, "bob")
    assert code == 200 and '"loss"' in before
    host.run("systemctl stop mlflow-restricted")
    psql = "cd /; runuser -u postgres -- psql --quiet"
    host.run(f"{psql} -c 'drop database mlflow_class_restricted'")
    host.run(f"""{psql} -c 'create database mlflow_class_restricted owner "mlflow-restricted"'""")
    dumps = host.folder / "dumps"
    dumps.mkdir()
    (dumps / Path(dump).name).write_bytes(base64.b64decode(host.run(f"base64 --wrap=0 {dump}")))
    host.restore(dumps)
    assert host.send(RESTRICTED, path, "bob") == (200, before)


def test_databases_of_an_older_release_are_dumped_and_upgraded(host: Tracking) -> None:
    url = "postgresql+psycopg2://mlflow-restricted:lab-password-of-mlflow-restricted-database@localhost/mlflow_class_restricted"
    host.run("systemctl stop mlflow-restricted")
    psql = "cd /; runuser -u postgres -- psql --quiet"
    host.run(f"{psql} -c 'drop database mlflow_class_restricted'")
    host.run(f"""{psql} -c 'create database mlflow_class_restricted owner "mlflow-restricted"'""")
    old = host.run(f"""{PYTHON} -W ignore - {url} 2>/dev/null <<'END'\n{OLD_TABLES}END""").splitlines()[-1]
    host.run("echo /opt/landbridge/envs/mlflow-of-an-older-release > /etc/mlflow-restricted/release")
    played = host.converge().good()
    assert played.changed["mlops01"] > 0
    dumps = host.run("ls /var/backups/landbridge-mlflow").splitlines()
    assert len(dumps) == 1 and dumps[0].startswith(f"mlflow_class_restricted-{old}-")
    assert "alembic_version" in host.run(f"pg_restore --list /var/backups/landbridge-mlflow/{dumps[0]}")
    assert (
        host.run("stat -c '%U %a' /var/backups/landbridge-mlflow /var/backups/landbridge-mlflow/*")
        == "root 700\nroot 600"
    )
    current = host.run(f"{psql} -At mlflow_class_restricted -c 'select version_num from alembic_version'")
    assert current != old and host.log("bob", RESTRICTED, "after-the-upgrade").run


def test_rotated_passwords_and_a_rotated_ca_replace_the_present_ones_and_a_running_client_continues(
    host: Tracking,
) -> None:
    path = f"{API}/users/get?username=admin"
    environment = " ".join(
        f"MLFLOW_{name}"
        for name in (
            f"TRACKING_URI=https://localhost:{INTERNAL}",
            f"TRACKING_SERVER_CERT_PATH={AUTHORITY_FILE}",
            "TRACKING_USERNAME=alice",
            "TRACKING_PASSWORD=lab-password-of-alice",
        )
    )
    client = f"nohup env {environment} {PYTHON} -W ignore -c {quote(STEPS)} > /tmp/client.log 2>&1 & echo $!"
    process = host.run(f"cd /tmp; {client}")
    host.run("until test -s /tmp/step; do sleep 0.2; done")
    # The CA is rotated too: its first two steps, each before a run of the roles.
    for step, end in (("add", ""), ("use", "-2")):
        authority = rotated(host.secrets.read()[AUTHORITY], step, new_value(site_secrets().generated[AUTHORITY]))
        host.secrets.write({AUTHORITY: authority})
        assert host.converge(rotated=end).good().changed["mlops01"] > 0
    issuer = certificates_in(authority)[0]
    host.run(f"cat > /tmp/next.pem <<'END'\n{issuer}\nEND")
    assert "/etc/mlflow/tls.pem: OK" in host.run("openssl verify -CAfile /tmp/next.pem /etc/mlflow/tls.pem")
    assert [host.send(port, path, "admin", rotated="-2")[0] for port in (INTERNAL, RESTRICTED)] == [200, 200]
    assert host.send(INTERNAL, path, "admin")[0] == 401
    old = "PGPASSWORD=lab-password-of-mlflow-database psql --host=localhost --username=mlflow mlflow -c 'select 1' 2>&1"
    assert "password authentication failed" in host.run(f"{old} || true")
    host.run(f"touch /tmp/last; tail --pid={process} -f /dev/null")
    assert host.run("tail -n 1 /tmp/client.log") == "finished"
    assert host.converge(rotated="-2").good().changed == {"mlops01": 0}


@pytest.mark.long
def test_teams_have_workspaces_that_cannot_be_switched_off(host: Tracking, internal_run: Run) -> None:
    """The last test: MLflow does not start without workspaces any more."""
    accounts = {
        "vision": {"users": ["alice"], "data_class": "internal"},
        "lab": {"users": ["carol"], "data_class": "internal"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
    }
    chosen = site_environment(teams=True, **accounts)
    # A preview needs the present passwords, also if this test runs alone.
    host.converge(rotated="-2").good()
    preview = host.converge(chosen, "--check", rotated="-2").good()
    assert preview.changed["mlops01"] > 0
    host.converge(chosen, rotated="-2").good()
    assert host.converge(chosen, rotated="-2").good().changed == {"mlops01": 0}
    workspace = job_variables(chosen)["vision"]["MLFLOW_WORKSPACE"]
    run = host.log("alice", INTERNAL, "of-the-team", MLFLOW_WORKSPACE=workspace)
    assert f"mlflow/workspaces/vision/{run.experiment}/{run.run}/artifacts/result.txt" in host.objects()
    path = f"{API}/runs/get?run_id={run.run}"
    for user, name in (("carol", "lab"), ("carol", "vision"), ("alice", "lab"), ("alice", "")):
        headers = {"X_MLFLOW_WORKSPACE": name} if name else {}
        assert host.send(INTERNAL, path, user, **headers)[0] == 403, (user, name)
    assert host.send(INTERNAL, path, "alice", X_MLFLOW_WORKSPACE="vision")[0] == 200
    # Runs from before are in the default workspace, for the administrator alone.
    path = f"{API}/runs/get?run_id={internal_run.run}"
    assert "default workspace is closed" in host.send(INTERNAL, path, "alice")[1]
    assert host.send(INTERNAL, path, "admin", rotated="-2")[0] == 200
    refused = host.converge(site_environment(), rotated="-2")
    assert "MLflow does not start without them" in refused.one_line and refused.code != 0
    assert host.run("systemctl is-active mlflow") == "active"
