"""MLflow's servers of two data classes: where runs are stored, and requests that a server refuses."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from landbridge.certificates import new_authority
from landbridge.plan.network.services.serving import SERVING_ACCOUNT
from landbridge.plan.site.site_tls import AUTHORITY_FILE
from tests.roles.hosts.mlflow_servers.lab import (
    ADDRESS,
    API,
    ARTIFACTS,
    BUCKET,
    CLOUD_NODE,
    INTERNAL,
    NODE,
    PROXY,
    RESTRICTED,
    Run,
    Tracking,
)

pytestmark = [pytest.mark.lab]


def test_a_run_is_stored_where_its_data_class_may_be(host: Tracking, internal_run: Run, restricted_run: Run) -> None:
    key = f"mlflow/{internal_run.experiment}/{internal_run.run}/artifacts/result.txt"
    path = ARTIFACTS / restricted_run.experiment / restricted_run.run / "artifacts/result.txt"
    assert key in host.objects()
    assert not [key for key in host.objects() if restricted_run.run in key], "no restricted object is in AWS"
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


def test_postgresql_starts_again_after_a_crash_and_the_state_of_a_server_without_it_is_an_error(host: Tracking) -> None:
    unit = host.run("systemctl list-units --plain --no-legend 'postgresql@*' | cut -d' ' -f1")
    host.run(f"systemctl stop {unit}")
    status, text = host.send(INTERNAL, "/health")
    assert status == 503 and "a database does not answer" in text
    host.run(f"systemctl start {unit}; systemctl kill --signal=KILL {unit}; sleep 0.5")
    host.run(f"timeout 120 sh -c 'until systemctl is-active {unit}; do sleep 1; done'")
    assert host.send(INTERNAL, "/health") == (200, "OK")
    assert host.send(INTERNAL, f"{API}/experiments/search?max_results=1", "alice")[0] == 200


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


def test_the_account_of_a_user_who_left_is_deleted_in_each_server(host: Tracking) -> None:
    new = {"username": "trent", "password": "a-password-of-trent"}
    assert host.send(INTERNAL, f"{API}/users/create", "admin", body=new)[0] == 200
    words = ("-e", json.dumps({"mlflow_users_left": ["trent", "kim"]}))
    assert host.converge(None, "--check", *words).good().changed["mlops01"] == 1
    assert host.converge(None, *words).good().changed["mlops01"] == 1
    assert host.send(INTERNAL, f"{API}/users/get?username=trent", "admin")[0] == 404
    assert host.send(INTERNAL, f"{API}/experiments/search?max_results=1", "alice")[0] == 200
    assert host.converge(None, *words).good().changed["mlops01"] == 0


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
