"""Workspaces of teams in MLflow itself, with the role's app: attempts from one team at another's, and the rights on a model.

The server runs on loopback, with the packages of MLflow's authentication from the lab's wheelhouse. No machine is started.
"""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.network.services.serving import SERVING_ACCOUNT
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.mlflow import job_variables, mlflow_variables
from sandbox.nspawn.host import wheelhouse
from sandbox.nspawn.layout import layout
from tests.roles.hosts.team_accounts import API, NEW_API, PROXY, SECRET, Account, TeamRun
from tests.roles.hosts.team_server import PASSWORD
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_inventory import OUTPUTS

pytestmark = pytest.mark.long
ROLE = Path(__file__).parents[3] / "ansible/roles/mlflow"
USERS = ("alice", "bob", "carol", "dave")
#: Alice and carol are in the team vision, bob in lab; dave's team reads the model digits of vision.
RIGHTS = {"may_register": ["alice"], "may_promote": ["carol"], "readers": ["press"]}


def site(vision: tuple[str, ...] = ("alice", "carol")) -> Environment:
    """Return the environment with the members of the team vision."""
    members = {"vision": vision, "lab": ("bob",), "press": ("dave",)}
    teams: dict[str, Any] = {name: {"accounts": [name]} for name in members}
    teams["vision"]["models"] = {"digits": RIGHTS}
    service = {"model": "digits", "data_class": "internal", "port": 8500, "accounts": ["vision"]}
    services = {"digits": {**service, "canary": {"team": "vision"}}}
    return environment(
        {
            ("onprem", "addresses", "srv01"): "10.20.0.31",
            ("onprem", "addresses", "gwm01"): "10.20.0.33",
            ("serving",): {"hosts": ["srv01"], "gateway": "gwm01", "services": services},
            ("users",): [{"name": name, "uid": uid} for uid, name in enumerate(USERS, 20001)],
            ("scheduler", "accounts"): {
                name: {"users": list(users), "data_class": "internal"} for name, users in members.items()
            },
            ("mlops", "teams"): teams,
        }
    )


def variables(chosen: Environment) -> dict[str, Any]:
    """Return the variables of the role for the server."""
    buckets = {"buckets": {"internal": {"name": "b", "key_arn": "arn:aws:kms:us-east-1:1:key/1"}}}
    outputs = StackOutputs.model_validate({**OUTPUTS.model_dump(), "data_hub": buckets})
    (server,) = mlflow_variables(chosen, outputs)["mlflow_servers"]
    return dict(server)


@dataclass(frozen=True)
class Teams:
    """Server with its accounts, and the role's module that reconciles workspaces."""

    uri: str
    folder: Path
    module: ModuleType

    def account(self, name: str, workspace: str = "") -> Account:
        return Account(self.uri, name, workspace)

    def reconcile(self, chosen: Environment, check: bool = False) -> list[str]:
        """Reconcile the workspaces as the role does, without a restart of the server; return the changes."""
        server = self.module.Server(self.uri, PASSWORD.format("admin"), None)
        reconciliation = self.module.Reconciliation(server, "READ", check)
        reconciliation.run(variables(chosen)["workspaces"])
        changes: list[str] = reconciliation.changes
        return changes


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Teams]:
    lab, folder = layout(), tmp_path_factory.mktemp("teams")
    wheelhouse.ensure(lab, [ROLE / "files/requirements.lock"])
    server = variables(site())
    settings = {key: server[key] for key in ("data_class", "users", "sources", "workspaces")}
    (folder / "landbridge.json").write_text(json.dumps({**settings, "others": []}))
    spec = importlib.util.spec_from_file_location("mlflow_workspaces", ROLE / "library/mlflow_workspaces.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = [sys.executable, str(Path(__file__).with_name("team_server.py")), str(folder), str(wheelhouse.house(lab))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started = Teams(process.stdout.readline().strip(), folder, module)
        for name in (*USERS, SERVING_ACCOUNT):
            body = {"username": name, "password": PASSWORD.format(name)}
            started.account("admin").good("POST", f"{API}/users/create", body)
        assert started.reconcile(site(), check=True) == [
            "create workspace vision", "create workspace lab", "create workspace press"
        ]  # fmt: skip
        assert len(started.reconcile(site())) > 20
        yield started
        process.kill()


@pytest.fixture(scope="module")
def run(teams: Teams) -> TeamRun:
    """A run of the team vision, and a version of its model with the alias champion."""
    logged = teams.account("alice", "vision").log("private")
    body = {"name": "digits", "source": f"mlflow-artifacts:/workspaces/vision/{logged.path}", "run_id": logged.id}
    teams.account("alice", "vision").good("POST", f"{API}/model-versions/create", body)
    alias = {"name": "digits", "alias": "champion", "version": "1"}
    teams.account("carol", "vision").good("POST", f"{API}/registered-models/alias", alias)
    return logged


def test_a_second_reconciliation_changes_nothing(teams: Teams) -> None:
    assert teams.reconcile(site()) == []


def test_a_jobs_account_gives_the_workspace_and_its_files_are_apart(teams: Teams, run: TeamRun) -> None:
    jobs = job_variables(site())
    assert [jobs[name]["MLFLOW_WORKSPACE"] for name in ("vision", "lab", "")] == ["vision", "lab", ""]
    assert (teams.folder / "artifacts/workspaces/vision" / run.path / "note.txt").read_text() == SECRET
    # Members read one another's runs, and do not change them.
    assert SECRET in teams.account("carol", "vision").send("GET", f"{API}/runs/get?run_id={run.id}")[1]
    body = {"run_id": run.id, "key": "other", "value": "x"}
    assert teams.account("carol", "vision").send("POST", f"{API}/runs/log-parameter", body)[0] == 403


def attempts(run: TeamRun) -> list[tuple[str, str, Any]]:
    """Return requests of another team: method, path and body."""
    files, foreign = f"{PROXY}/{run.path}", f"{PROXY}/workspaces/vision/{run.path}"
    alias = {"name": "digits", "alias": "champion", "version": "2"}
    version = {"name": "digits", "source": f"mlflow-artifacts:/workspaces/vision/{run.path}", "run_id": run.id}
    query = f'{{mlflowGetRun(input:{{runId:"{run.id}"}}){{run{{data{{params{{key value}}}}}}}}}}'
    grant = {"username": "bob", "resource_type": "experiment", "resource_id": run.experiment, "permission": "MANAGE"}
    return [
        ("GET", f"{API}/runs/get?run_id={run.id}", None),
        ("GET", f"/ajax-api/2.0/mlflow/runs/get?run_id={run.id}", None),
        ("POST", f"{API}/runs/search", {"experiment_ids": [run.experiment]}),
        ("GET", f"{API}/experiments/get?experiment_id={run.experiment}", None),
        ("GET", f"{API}/experiments/get-by-name?experiment_name=private", None),
        ("GET", f"{API}/metrics/get-history?run_id={run.id}&metric_key=loss", None),
        ("POST", "/graphql", {"query": query}),
        ("GET", f"{files}/note.txt", None),
        ("GET", f"{foreign}/note.txt", None),
        ("GET", f"{PROXY}/..%2fvision/{run.path}/note.txt", None),
        ("GET", f"{PROXY}/1/%252e%252e/%252e%252e/vision/{run.path}/note.txt", None),
        ("GET", f"{PROXY}?path=workspaces/vision/{run.path}", None),
        ("GET", f"/get-artifact?path=note.txt&run_uuid={run.id}", None),
        ("GET", "/model-versions/get-artifact?path=note.txt&name=digits&version=1", None),
        ("PUT", f"{files}/note.txt", "planted"),
        ("PUT", f"{foreign}/note.txt", "planted"),
        ("DELETE", files, None),
        ("DELETE", f"{PROXY}/workspaces/vision", None),
        ("POST", f"{API}/runs/log-parameter", {"run_id": run.id, "key": "planted", "value": "planted"}),
        ("POST", f"{API}/runs/delete", {"run_id": run.id}),
        ("POST", f"{API}/experiments/delete", {"experiment_id": run.experiment}),
        ("GET", f"{API}/model-versions/get?name=digits&version=1", None),
        ("POST", f"{API}/model-versions/create", version),
        ("POST", f"{API}/model-versions/create", {**version, "name": "stolen"}),
        ("POST", f"{API}/model-versions/create", {"name": "stolen", "source": "models:/digits/1"}),
        ("POST", f"{API}/registered-models/alias", alias),
        ("DELETE", f"{API}/registered-models/alias?name=digits&alias=champion", None),
        ("DELETE", f"{API}/registered-models/delete", {"name": "digits"}),
        ("DELETE", f"{NEW_API}/workspaces/vision", None),
        ("POST", f"{NEW_API}/roles/assign", {"username": "bob", "role_id": 1}),
        ("POST", f"{NEW_API}/users/permissions/grant", grant),
    ]


def test_another_team_reads_and_changes_nothing(teams: Teams, run: TeamRun) -> None:
    alice = teams.account("alice", "vision")
    questions = (f"{API}/runs/get?run_id={run.id}", f"{API}/registered-models/get?name=digits")
    before = [alice.good("GET", path) for path in questions]
    teams.account("bob", "lab").good("POST", f"{API}/registered-models/create", {"name": "stolen"})
    for workspace in ("lab", "vision", ""):
        bob = teams.account("bob", workspace)
        for method, path, body in attempts(run):
            status, text = bob.send(method, path, body)
            # A search and GraphQL answer without objects.
            assert status in (400, 403, 404) or text.strip() in (
                "{}",
                '{"data":{"mlflowGetRun":null},"errors":null}',
            ), path
            assert SECRET not in text, f"{workspace}: {method} {path}: {text}"
    assert [alice.good("GET", path) for path in questions] == before
    assert alice.send("GET", f"{PROXY}/{run.path}/note.txt") == (200, SECRET)
    assert [each["name"] for each in teams.account("bob").good("GET", f"{NEW_API}/workspaces")["workspaces"]] == ["lab"]


def test_a_route_without_a_rule_of_mlflow_is_closed(teams: Teams, run: TeamRun) -> None:
    # MLflow 3.17.2 registers it without the slash, and has a rule for the other spelling only.
    body = {"experiment_ids": [run.experiment]}
    status, text = teams.account("alice", "vision").send("POST", "/api/2.0mlflow/experiments/search-datasets", body)
    assert (status, text) == (403, "Permission denied")


def test_the_number_of_a_future_experiment_cannot_be_closed(teams: Teams, run: TeamRun) -> None:
    bob = teams.account("bob", "lab")
    number = int(bob.good("POST", f"{API}/experiments/create", {"name": "one"})["experiment_id"])
    assert bob.send("GET", f"{API}/experiments/get?experiment_id={number + 1}")[0] == 403
    bob.good("POST", f"{API}/experiments/create", {"name": "two"})
    bob.good("GET", f"{API}/experiments/get?experiment_id={number + 1}")


@pytest.mark.parametrize(
    ("user", "path", "body", "word"),
    [
        ("carol", "model-versions/create", {"source": "models:/digits/1"}, "carol may not register versions of digits"),
        ("alice", "registered-models/alias", {"alias": "champion", "version": "1"}, "permits carol"),
        ("dave", "model-versions/create", {"source": "models:/digits/1"}, "Permission denied"),
        ("dave", "registered-models/alias", {"alias": "champion", "version": "1"}, "Permission denied"),
    ],
)
def test_rights_on_a_model(teams: Teams, run: TeamRun, user: str, path: str, body: dict[str, str], word: str) -> None:
    status, text = teams.account(user, "vision").send("POST", f"{API}/{path}", {"name": "digits", **body})
    assert status == 403 and word in text


def test_a_model_is_deleted_by_the_administrator_only_and_read_by_another_team(teams: Teams, run: TeamRun) -> None:
    # The creator of a model has every permission of MLflow on it.
    grant = {"username": "alice", "resource_type": "registered_model", "resource_id": "digits", "permission": "MANAGE"}
    teams.account("admin", "vision").good("POST", f"{NEW_API}/users/permissions/grant", grant)
    for method, path in (("DELETE", "registered-models/delete"), ("DELETE", "model-versions/delete")):
        status, text = teams.account("alice", "vision").send(
            method, f"{API}/{path}", {"name": "digits", "version": "1"}
        )
        assert status == 403 and "only the administrator" in text
    dave = teams.account("dave", "vision")
    assert dave.good("GET", f"{API}/registered-models/get?name=digits")["registered_model"]["name"] == "digits"
    assert dave.send("GET", f"{API}/runs/get?run_id={run.id}")[0] == 403
    assert dave.send("POST", f"{API}/experiments/create", {"name": "x"})[0] == 403


def test_the_model_gateway_moves_aliases_of_the_followed_model_and_changes_nothing_else(
    teams: Teams, run: TeamRun
) -> None:
    alice, gateway = teams.account("alice", "vision"), teams.account(SERVING_ACCOUNT, "vision")
    described = alice.good("GET", f"{API}/experiments/get-by-name?experiment_name=models/digits")["experiment"]
    info = alice.good("POST", f"{API}/runs/create", {"experiment_id": described["experiment_id"]})["run"]["info"]
    file = f"{PROXY}/{described['experiment_id']}/{info['run_id']}/artifacts/model/model.json"
    assert alice.send("PUT", file, raw=b"manifest")[0] == 200
    alias = {"name": "digits", "alias": "staging", "version": "1"}
    # A promoter takes an alias away too.
    for account in (gateway, teams.account("carol", "vision")):
        account.good("POST", f"{API}/registered-models/alias", alias)
        account.good("DELETE", f"{API}/registered-models/alias", alias)
        account.good("POST", f"{API}/registered-models/set-tag", {"name": "digits", "key": "moved", "value": "1"})
        assert "staging" not in str(account.good("GET", f"{API}/registered-models/get?name=digits"))
    assert gateway.send("GET", file) == (200, "manifest")
    assert gateway.send("PUT", file, raw=b"other")[0] == 403
    version = {"name": "digits", "source": f"mlflow-artifacts:/workspaces/vision/{run.path}", "run_id": run.id}
    for method, path, body in (
        ("GET", f"{API}/runs/get?run_id={run.id}", None),
        ("POST", f"{API}/experiments/create", {"name": "x"}),
        ("POST", f"{API}/registered-models/create", {"name": "x"}),
        ("POST", f"{API}/model-versions/create", version),
        ("DELETE", f"{API}/registered-models/delete", {"name": "digits"}),
        ("DELETE", f"{API}/model-versions/delete", {"name": "digits", "version": "1"}),
    ):
        status, text = gateway.send(method, path, body)
        assert status == 403 and SECRET not in text, (path, text)
    for workspace in ("lab", ""):
        other = teams.account(SERVING_ACCOUNT, workspace)
        assert other.send("GET", f"{API}/registered-models/get?name=digits")[0] == 403


def test_mlflow_itself_refuses_a_user_that_left_the_team_and_accepts_one_that_returns(
    teams: Teams, run: TeamRun
) -> None:
    """The app's settings still have alice as a member: the role has not restarted the server."""
    path = f"{API}/runs/get?run_id={run.id}"
    assert "unassign landbridge-members in vision: alice" in teams.reconcile(site(vision=("carol",)))
    assert teams.reconcile(site(vision=("carol",))) == []
    assert teams.account("alice", "vision").send("GET", path)[0] == 403, "also a run of her own"
    assert teams.account("carol", "vision").send("GET", path)[0] == 200
    assert "assign __user_2__ in vision: alice" in teams.reconcile(site())
    body = {"run_id": run.id, "key": "after", "value": "return"}
    assert teams.account("alice", "vision").send("POST", f"{API}/runs/log-parameter", body)[0] == 200


def test_a_server_whose_team_has_no_member_of_the_class_is_closed(teams: Teams) -> None:
    assert "unassign landbridge-members in press: dave" in teams.reconcile(without_team(site(), "press"))
    assert teams.account("dave", "press").send("POST", f"{API}/experiments/create", {"name": "x"})[0] == 403


def without_team(chosen: Environment, name: str) -> Environment:
    """Return the environment without a team."""
    others = {each: team for each, team in chosen.mlops.teams.items() if each != name}
    return chosen.model_copy(update={"mlops": chosen.mlops.model_copy(update={"teams": others})})
