"""MLflow's servers of two data classes on a host: where runs are stored, and requests that a server refuses."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in, new_authority
from landbridge.ops.secrets.store import new_value
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.ops.site_certificates.rotate import rotated
from landbridge.plan.network.services.serving import SERVING_ACCOUNT
from landbridge.plan.site.mlops import job_variables
from landbridge.plan.site.site_tls import AUTHORITY_FILE
from sandbox.aws_emulator.process import running
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.hosts.mlflow_lab import (
    ADDRESS,
    ARTIFACTS,
    BUCKET,
    CLOUD_NODE,
    ENDPOINT,
    INTERNAL,
    NODE,
    PYTHON,
    RESTRICTED,
    SITE,
    Run,
    Tracking,
    site_environment,
)
from tests.roles.hosts.mlflow_programs import OLD_TABLES, STEPS
from tests.unit.aws_emulator.conftest import client_of

pytestmark = [pytest.mark.lab]
API, PROXY = "/api/2.0/mlflow", "/api/2.0/mlflow-artifacts/artifacts"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracking]:
    lab, folder = layout("landbridge-test-mlflow"), tmp_path_factory.mktemp("mlflow")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options) as cloud:
            client_of(cloud, "s3").create_bucket(Bucket=BUCKET)
            tracking = Tracking(lab, folder, cloud)
            tracking.run(f"ip address add {NODE}/32 dev lo; ip address add {CLOUD_NODE}/32 dev lo")
            tracking.converge().good()
            yield tracking
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def internal_run(host: Tracking) -> Run:
    return host.log("alice", INTERNAL, "digits")


@pytest.fixture(scope="module")
def restricted_run(host: Tracking) -> Run:
    return host.log("bob", RESTRICTED, "patients")


def objects(host: Tracking) -> list[str]:
    """Return the keys of the bucket's objects."""
    pages = client_of(host.cloud, "s3").list_objects_v2(Bucket=BUCKET)
    return [item["Key"] for item in pages.get("Contents", ())]


def test_a_run_is_stored_where_its_data_class_may_be(host: Tracking, internal_run: Run, restricted_run: Run) -> None:
    key = f"mlflow/{internal_run.experiment}/{internal_run.run}/artifacts/result.txt"
    path = ARTIFACTS / restricted_run.experiment / restricted_run.run / "artifacts/result.txt"
    assert key in objects(host)
    assert not [key for key in objects(host) if restricted_run.run in key], "no restricted object is in AWS"
    assert host.run(f"cat {path}") == "result of patients"
    assert host.run(f"find /var/lib/mlflow* -path '*{internal_run.run}*'") == ""


def test_a_second_run_of_the_role_changes_nothing(host: Tracking, internal_run: Run) -> None:
    before = host.run("systemctl show --property=MainPID --value mlflow mlflow-restricted")
    second = host.converge(None, "--diff").good()
    assert second.changed == {"mlops01": 0}, second.one_line
    assert host.run("systemctl show --property=MainPID --value mlflow mlflow-restricted") == before


def test_servers_have_a_certificate_of_the_sites_ca_and_no_plain_http(host: Tracking) -> None:
    verify = f"openssl s_client -verify_return_error -CAfile {AUTHORITY_FILE} -brief </dev/null 2>&1"
    for port in (INTERNAL, RESTRICTED):
        for name, option in (("mlops01", "hostname"), ("localhost", "hostname"), (ADDRESS, "ip")):
            words = f"-connect {ADDRESS}:{port} -verify_{option} {name}"
            assert "Verification: OK" in host.run(verify.replace("s_client", f"s_client {words}"))
        words = f"s_client -connect {ADDRESS}:{port} -verify_hostname mlops02"
        assert "hostname mismatch" in host.run(f"{verify.replace('s_client', words)} || true")
        words = f"s_client -tls1_2 -cipher AES256-SHA,ECDHE-ECDSA-AES256-SHA -connect {ADDRESS}:{port}"
        # uvicorn closes the connection without an alert.
        refused = host.run(f"{verify.replace('s_client', words)} || true")
        assert "unexpected eof" in refused or "handshake failure" in refused
    # A client of another CA, and one without TLS.
    _, other = new_authority("Other CA", datetime.now(UTC))
    host.run(f"cat > /tmp/other.pem <<'END'\n{other.decode()}END")
    wrong = verify.replace(AUTHORITY_FILE, "/tmp/other.pem").replace(
        "s_client", f"s_client -connect {ADDRESS}:{INTERNAL}"
    )
    assert "Verification: OK" not in host.run(f"{wrong} || true")
    plain = f"python3 -c \"import urllib.request as r; r.urlopen('http://{ADDRESS}:{INTERNAL}/health')\" 2>&1 || true"
    assert "RemoteDisconnected" in host.run(plain) or "reset" in host.run(plain)
    assert host.run("stat -c '%U:%G %a' /etc/mlflow/tls.pem /etc/landbridge/site-certificate/host.pem") == (
        "root:mlflow 640\nroot:root 600"
    )
    host.run("! runuser -u mlflow-restricted -- cat /etc/mlflow/tls.pem 2>/dev/null")


def test_a_user_of_another_class_is_refused_and_told_the_uri(host: Tracking, internal_run: Run) -> None:
    body = {"experiment_id": internal_run.experiment}
    status, text = host.send(INTERNAL, f"{API}/runs/create", "bob", body=body)
    assert status == 403 and "bob has no account with data of class internal" in text
    assert "https://mlops01:5011 (restricted)" in text
    for path in (
        f"{PROXY}/{internal_run.experiment}/{internal_run.run}/artifacts/result.txt",
        f"{API}/experiments/search?max_results=1",
        "/graphql",
        "/",
    ):
        assert host.send(INTERNAL, path, "bob")[0] == 403, path
    assert host.send(RESTRICTED, f"{API}/experiments/search?max_results=1", "alice")[0] == 403
    put = f"{PROXY}/{internal_run.experiment}/{internal_run.run}/artifacts/x.txt"
    assert host.send(INTERNAL, put, "bob", body="x", method="PUT")[0] == 403


def test_restricted_data_is_not_read_or_written_from_aws(host: Tracking, restricted_run: Run) -> None:
    """Carol has both classes: the address decides, on every route, whatever headers a job in AWS sends."""
    file = f"{restricted_run.experiment}/{restricted_run.run}/artifacts/result.txt"
    run_id = f"run_id={restricted_run.run}"
    requests: list[tuple[str, str, Any]] = [
        (f"{PROXY}/{file}", "GET", None),
        (f"/ajax-api/2.0/mlflow-artifacts/artifacts/{file}", "GET", None),
        (f"/get-artifact?path=result.txt&run_uuid={restricted_run.run}", "GET", None),
        (f"{API}/artifacts/list?{run_id}", "GET", None),
        (f"{API}/runs/get?{run_id}", "GET", None),
        (f"{API}/runs/search", "POST", {"experiment_ids": [restricted_run.experiment]}),
    ]
    for path, method, body in requests:
        assert host.send(RESTRICTED, path, "carol", body=body, method=method)[0] == 200, path
        status, text = host.send(RESTRICTED, path, "carol", body=body, method=method, source=CLOUD_NODE)
        assert status == 403 and "may not be read or written from" in text, path
    upload = f"{PROXY}/{restricted_run.experiment}/{restricted_run.run}/artifacts/x.txt"
    assert host.send(RESTRICTED, upload, "carol", body="x", method="PUT", source=CLOUD_NODE)[0] == 403
    assert host.send(RESTRICTED, f"{API}/runs/get?{run_id}", "admin", source=CLOUD_NODE)[0] == 403
    assert host.send(RESTRICTED, "/health", source=CLOUD_NODE)[0] == 403
    path = f"{PROXY}/{file}"
    assert host.send(RESTRICTED, path, "carol", source=CLOUD_NODE, X_Forwarded_For=NODE)[0] == 403
    assert host.send(RESTRICTED, path, "carol", source=CLOUD_NODE, Forwarded=f"for={NODE}")[0] == 403


def test_internal_data_is_read_and_written_from_aws(host: Tracking, internal_run: Run) -> None:
    path = f"{PROXY}/{internal_run.experiment}/{internal_run.run}/artifacts/from-aws.txt"
    assert host.send(INTERNAL, path, "alice", body="x", method="PUT", source=CLOUD_NODE)[0] == 200
    assert host.send(INTERNAL, path, "carol", source=CLOUD_NODE)[0] == 200


@pytest.mark.parametrize(
    "body",
    [
        {"artifact_location": f"s3://{BUCKET}/elsewhere"},
        {"artifactLocation": f"s3://{BUCKET}/elsewhere"},
        {"artifact_location": "mlflow-artifacts:/0"},
        {"artifact_location": "file:///var/lib/mlflow/artifacts"},
    ],
    ids=lambda body: next(iter(body.values())),
)
@pytest.mark.parametrize("prefix", ["/api", "/ajax-api"])
@pytest.mark.parametrize("user", ["bob", "admin"])
def test_an_experiment_elsewhere_is_refused(host: Tracking, body: dict[str, str], prefix: str, user: str) -> None:
    path = f"{prefix}/2.0/mlflow/experiments/create"
    status, text = host.send(RESTRICTED, path, user, body={"name": f"elsewhere-{user}", **body})
    assert status == 403 and "without an artifact location" in text
    # Clients of older releases encode the body twice.
    twice = json.dumps({"name": f"elsewhere-{user}", **body})
    assert host.send(RESTRICTED, path, user, body=twice)[0] in (400, 403)


def test_a_model_version_from_elsewhere_is_refused(host: Tracking, restricted_run: Run) -> None:
    assert host.send(RESTRICTED, f"{API}/registered-models/create", "bob", body={"name": "model"})[0] == 200
    for source, status in (
        (f"s3://{BUCKET}/mlflow", 400),
        ("file:///etc", 400),
        (f"mlflow-artifacts:/{restricted_run.experiment}/{restricted_run.run}/artifacts", 200),
    ):
        body = {"name": "model", "source": source, "run_id": restricted_run.run}
        assert host.send(RESTRICTED, f"{API}/model-versions/create", "bob", body=body)[0] == status, source


def test_the_model_gateway_s_account_moves_aliases_of_followed_models_only(host: Tracking, restricted_run: Run) -> None:
    source = f"mlflow-artifacts:/{restricted_run.experiment}/{restricted_run.run}/artifacts"
    alias, path = {"alias": "staging", "version": "1"}, f"{API}/registered-models/alias"
    for name, status in (("followed", 200), ("another", 403)):
        assert host.send(RESTRICTED, f"{API}/registered-models/create", "bob", body={"name": name})[0] == 200
        body = {"name": name, "source": source, "run_id": restricted_run.run}
        assert host.send(RESTRICTED, f"{API}/model-versions/create", "bob", body=body)[0] == 200
        assert host.send(RESTRICTED, path, SERVING_ACCOUNT, body={"name": name, **alias})[0] == status
        removal = {"name": name, "alias": "staging"}
        assert host.send(RESTRICTED, path, SERVING_ACCOUNT, body=removal, method="DELETE")[0] == status
    new_run = {"experiment_id": restricted_run.experiment}
    assert host.send(RESTRICTED, f"{API}/runs/create", SERVING_ACCOUNT, body=new_run)[0] == 403
    assert host.send(INTERNAL, f"{API}/experiments/search?max_results=1", SERVING_ACCOUNT)[0] == 403


def test_functions_that_send_data_elsewhere_are_refused_for_restricted_data(host: Tracking) -> None:
    for path in (
        "/api/2.0/mlflow/webhooks/create",
        "/api/2.0/mlflow/webhooks",
        "/api/3.0/mlflow/gateway/endpoints/create",
        "/gateway/mlflow/v1/chat/completions",
        "/ajax-api/2.0/mlflow/gateway-proxy",
        "/ajax-api/3.0/mlflow/assistant/message",
    ):
        for user in ("bob", "admin"):
            status, text = host.send(RESTRICTED, path, user, body={"name": "x"})
            assert status == 403 and "sends data to other servers" in text, path


def test_users_cannot_do_what_only_the_administrator_may(host: Tracking) -> None:
    new = {"username": "mallory", "password": "a-password-of-mallory"}
    assert host.send(RESTRICTED, f"{API}/users/create", "bob", body=new)[0] == 403
    admin = {"username": "bob", "is_admin": True}
    assert host.send(RESTRICTED, f"{API}/users/update-admin", "bob", body=admin, method="PATCH")[0] == 403
    assert host.send(RESTRICTED, f"{API}/users/delete", "bob", body={"username": "carol"}, method="DELETE")[0] == 403
    # The administrator of one server is not that of another, and a user besides those of the class gets no access.
    assert host.send(RESTRICTED, f"{API}/users/create", "admin", body=new)[0] == 200
    status, text = host.send(RESTRICTED, f"{API}/experiments/search?max_results=1", "mallory")
    assert status == 403 and "mallory has no account" in text


def test_credentials_that_programs_may_read_differently_are_refused(host: Tracking) -> None:
    path = f"{API}/experiments/search?max_results=1"
    assert host.send(RESTRICTED, path, "carol", "alice")[0] == 403
    assert host.send(RESTRICTED, path, Authorization="Bearer abc")[0] == 403
    assert host.send(RESTRICTED, path)[0] == 401
    assert host.send(RESTRICTED, path, "nobody-of-this-name")[0] == 403


def test_a_server_cannot_open_files_and_databases_of_another(host: Tracking, restricted_run: Run) -> None:
    host.run("! runuser -u mlflow -- ls /var/lib/mlflow-restricted /etc/mlflow-restricted 2>/dev/null")
    connect = "PGPASSWORD=lab-password-of-mlflow-database psql --host=localhost --username=mlflow"
    assert host.run(f"{connect} --command='select 1' mlflow --tuples-only") == "1"
    host.run(f"! {connect} --command='select 1' mlflow_class_restricted 2>/dev/null")
    names = host.run("tr '\\0' '\\n' < /proc/$(systemctl show -p MainPID --value mlflow-restricted)/environ")
    assert "AWS_SHARED_CREDENTIALS_FILE" not in names and "MLFLOW_S3_ENDPOINT_URL" not in names
    assert "AWS_EC2_METADATA_DISABLED=true" in names
    host.run("test -e /etc/mlflow/aws-credentials && ! test -e /etc/mlflow-restricted/aws-credentials")


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
    assert f"mlflow/workspaces/vision/{run.experiment}/{run.run}/artifacts/result.txt" in objects(host)
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
