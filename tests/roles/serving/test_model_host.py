"""Model servers and the model gateway on a host: a prediction through HAProxy, a refused folder, and the limits of the unit."""

import json
from collections.abc import Iterator
from shlex import quote

import pytest

from landbridge.plan.serving.follow import STATE
from landbridge.plan.serving.model_servers import MODELS, SETTINGS
from sandbox.demo.cluster import LabCluster, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.serving.model_host_lab import ADDRESS, HOST, MONITORING, PASSWORD, SERVICE, SITE, TOKENS, ModelHost
from tests.unit.served_models.folders import new_key, sign, write_folder

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(900)]
UNIT = f"landbridge-model-{SERVICE}"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelHost]:
    """Return the host with a signed model in slot a, and an unsigned one in slot b whose unit is not started."""
    lab, folder = layout("landbridge-test-models"), tmp_path_factory.mktemp("models")
    private, public = new_key(folder)
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        machine = ModelHost(lab, folder, public)
        machine.converge("--check").good()
        assert machine.run("ls /etc/landbridge /etc/haproxy 2>/dev/null || true") == "", "check mode on a new host"
        machine.converge().good()
        assert machine.run(f"systemctl is-active {UNIT}-a || true") == "inactive", (
            "a slot without a model does not start"
        )
        machine.install(sign(write_folder(folder / "1", "1"), private), "a")
        machine.converge().good()
        yield machine
    finally:
        cleanup.down(lab)


def test_a_prediction_passes_haproxy_with_tls_and_a_token(host: ModelHost) -> None:
    answer = wait_for("the model server", host.predict, lambda result: result[0] == 200)[1]
    assert answer["model_version"] == "1"
    (output,) = answer["outputs"]
    assert output["name"] == "probabilities" and sum(output["data"]) == pytest.approx(1.0)
    assert host.predict("another-token")[0] == 401
    assert TOKENS["lab"] not in host.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert host.run(f"grep --recursive --files-with-matches --fixed-strings {TOKENS['lab']} /etc || true") == ""


def test_check_mode_and_a_second_run_change_nothing(host: ModelHost) -> None:
    before = host.run(f"systemctl show --property=MainPID --value {UNIT}-a haproxy")
    assert host.converge("--check").good().changed == {HOST: 0}
    second = host.converge("--diff").good()
    assert second.changed == {HOST: 0}, second.one_line
    assert host.run(f"systemctl show --property=MainPID --value {UNIT}-a haproxy") == before


def test_weights_of_a_followed_service_are_those_of_its_placement_after_a_change_and_a_reload(host: ModelHost) -> None:
    def weights() -> list[int]:
        return [server["weight"] for server in json.loads(host.run("landbridge-model-gateway list"))["servers"]]

    of_placement = wait_for("the placement", weights, lambda shares: shares[0] > 100)
    host.run(f"landbridge-model-gateway weights {SERVICE} 60 40")
    assert wait_for("the weights of the placement", weights, lambda shares: shares == of_placement)
    assert host.converge().good().changed == {HOST: 0}
    host.run("systemctl reload haproxy")
    assert wait_for("the servers", weights) == of_placement


def test_an_unsigned_folder_is_refused_with_the_reason_in_the_journal(host: ModelHost) -> None:
    host.install(write_folder(host.folder / "2", "2"), "b")
    host.run(f"systemctl start {UNIT}-b || true")
    states = f"systemctl show --property=ActiveState,Result,NRestarts {UNIT}-b"
    shown = wait_for("the refusal", lambda: host.run(states), lambda text: "ActiveState=failed" in text)
    assert "Result=exit-code" in shown and "NRestarts=0" in shown
    journal = host.run(f"journalctl --unit={UNIT}-b --output=cat --no-pager")
    assert "refused: " in journal and "sig" in journal, journal
    assert "Traceback" not in journal
    assert host.predict()[1]["model_version"] == "1", "the other slot serves"


def test_the_unit_reads_its_own_models_only_and_writes_nothing(host: ModelHost) -> None:
    pid = host.run(f"systemctl show --property=MainPID --value {UNIT}-a")
    assert host.run(f"ps -o user:32= -p {pid}") == f"model-{SERVICE}"
    status = host.run(f"grep -E '^(NoNewPrivs|CapEff|Seccomp):' /proc/{pid}/status | tr -s '\\t ' ' '").splitlines()
    assert status == ["CapEff: 0000000000000000", "NoNewPrivs: 1", "Seccomp: 2"]
    # The same account in the unit's own mounts.
    inside = f"nsenter --target {pid} --mount -- setpriv --reuid=model-{SERVICE} --regid=model-{SERVICE} --clear-groups"
    for command in ("touch /etc/x", f"touch {SETTINGS}/{SERVICE}/x", "ls /root", "ls /var/lib/landbridge-models/other"):
        host.run(f"mkdir -p /var/lib/landbridge-models/other; ! {inside} {command} 2>/dev/null")
    host.run(f"{inside} cat /var/lib/landbridge-models/{SERVICE}/a/model.json")
    assert "site-certificate" not in host.run(
        f"{inside} cat /etc/landbridge/site-certificate/host.pem 2>/dev/null || true"
    )


def test_a_version_of_the_gateway_s_placement_gets_its_slot(host: ModelHost) -> None:
    """MLflow is absent here: the placement is written as the service would write it, and the hosts follow it."""
    shown = host.run("systemctl show --property=User,CapabilityBoundingSet,ActiveState landbridge-serving").splitlines()
    assert {"User=landbridge-serving", "CapabilityBoundingSet=", "ActiveState=active"} <= set(shown)
    assert PASSWORD not in host.run("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '")
    assert host.run("stat -c '%U %a' /etc/landbridge/model-mlflow-password /etc/landbridge/models/host-token") == (
        "landbridge-serving 400\nroot 600"
    )
    # A slot that was filled by hand stays: the service adopts it.
    state = f"{STATE}/{SERVICE}.json"
    adopted = wait_for("the placement", lambda: host.run(f"cat {state}"), lambda text: '"a": "1"' in text)
    assert '"serving": "1"' in adopted
    host.run(f"systemctl stop landbridge-serving; rm -f {MODELS}/{SERVICE}/b; systemctl reset-failed {UNIT}-b || true")
    folder = sign(write_folder(host.folder / "3", "3"), host.folder / "signer.pem")
    for file in folder.iterdir():
        LabCluster(host.lab).put(HOST, f"{STATE}/models/digits/3/{file.name}", file.read_bytes(), "landbridge-serving")
    host.run(f"chown -R landbridge-serving {STATE}/models")
    placement = {"slots": {"a": "1", "b": "3"}, "serving": "1", "staged_at": 0.0}
    placement["aliases"] = {"champion": "1", "staging": "3"}
    host.run(f"printf %s {quote(json.dumps(placement))} > {state} && systemctl start landbridge-serving")
    wait_for("slot b", lambda: host.run(f"systemctl is-active {UNIT}-b || true"), lambda text: text == "active")
    assert host.run(f"readlink {MODELS}/{SERVICE}/b; systemctl is-enabled {UNIT}-b") == "3\nenabled"
    assert host.run(f"stat -c '%U:%G %a' {MODELS}/{SERVICE}/3") == f"root:model-{SERVICE} 750"


def test_the_unit_has_the_addresses_of_its_clients_only(host: ModelHost) -> None:
    """The settings: in a container without bpf(2), as in the lab, systemd does not filter by them."""
    shown = host.run(f"systemctl show --property=IPAddressDeny,IPAddressAllow {UNIT}-a").splitlines()
    words = {name: sorted(values.split()) for name, _, values in (line.partition("=") for line in shown)}
    assert words["IPAddressDeny"] == ["0.0.0.0/0", "::/0"]
    assert words["IPAddressAllow"] == sorted(["127.0.0.0/8", "::1/128", f"{ADDRESS}/32", f"{MONITORING}/32"])
