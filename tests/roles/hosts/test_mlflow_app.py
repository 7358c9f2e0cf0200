"""The app before MLflow's authentication: addresses, users and credentials that it refuses."""

import asyncio
import base64
import importlib
import importlib.util
import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from anyio import to_thread

PATH = Path(__file__).parents[3] / "ansible/roles/mlflow/files/plugin/landbridge_mlflow.py"
ON_SITE, IN_AWS = "10.20.1.11", "10.60.5.7"
RESTRICTED = {
    "data_class": "restricted",
    "users": ["bob", "carol"],
    "sources": ["10.20.0.0/16"],
    "others": [{"data_class": "internal", "uri": "http://mlops01:5000", "users": ["alice", "carol"]}],
}
INTERNAL = {**RESTRICTED, "data_class": "internal", "users": ["alice", "carol"], "sources": [], "others": []}
TEAMS = [
    {
        "name": "vision",
        "members": ["alice"],
        "models": [{"name": "digits", "register": ["alice"], "promote": [], "read": ["carol"]}],
    },
    {"name": "lab", "members": ["carol"], "models": []},
]
Headers = list[tuple[bytes, bytes]]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("landbridge_mlflow", PATH)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PATH.parent))
        spec.loader.exec_module(loaded)
        del sys.modules["landbridge_mlflow_teams"]
    return loaded


def login(user: str, name: bytes = b"authorization", scheme: str = "Basic") -> tuple[bytes, bytes]:
    return name, f"{scheme} {base64.b64encode(f'{user}:a:b'.encode()).decode()}".encode()


def respond(
    module: ModuleType,
    folder: Path,
    settings: dict[str, Any],
    headers: Headers,
    address: str = ON_SITE,
    path: str = "/",
    kind: str = "http",
    query: Callable[[], None] = lambda: None,
) -> tuple[int, str]:
    """Return the status and the response to a request; 200 is the response of the application behind the app."""
    file = folder / "landbridge.json"
    file.write_text(json.dumps(settings))
    sent: list[dict[str, Any]] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"passed"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    guard = module.Guard(behind, module.Settings.read(file), query)
    scope = {"type": kind, "client": (address, 4711), "path": path, "headers": headers}
    asyncio.run(guard(scope, None, send))
    if kind != "http":
        return int(sent[0]["code"]), ""
    return int(sent[0]["status"]), sent[1]["body"].decode()


@pytest.mark.parametrize(
    ("headers", "address", "path", "word"),
    [
        ([login("bob")], ON_SITE, "/api/2.0/mlflow/runs/create", ""),
        ([login("bob")], "127.0.0.1", "/health", ""),
        ([login("bob")], "::ffff:10.20.1.11", "/", ""),
        ([login("admin")], ON_SITE, "/", ""),
        ([login("bob")], ON_SITE, "/api/2.0/mlflow-artifacts/artifacts/1/ab/artifacts/assistant/gateway", ""),
        # MLflow itself asks for a login.
        ([], ON_SITE, "/", ""),
        ([login("carol")], IN_AWS, "/", "may not be read or written from 10.60.5.7"),
        ([login("admin")], IN_AWS, "/", "may not be read or written from"),
        ([login("carol")], "::ffff:10.60.5.7", "/", "may not be read or written from"),
        ([login("carol")], "", "/", "may not be read or written from"),
        ([login("alice")], ON_SITE, "/", "MLFLOW_TRACKING_URI of alice's accounts: http://mlops01:5000 (internal)"),
        ([login("mallory")], ON_SITE, "/", "mallory has no account with data of class restricted"),
        ([login("Bob")], ON_SITE, "/", "Bob has no account"),
        ([login("bob "), login("bob")], ON_SITE, "/", "cannot be read"),
        ([login("bob"), login("alice", b"x-mlflow-authorization")], ON_SITE, "/", "alice has no account"),
        ([login("alice", b"Authorization")], ON_SITE, "/", "alice has no account"),
        ([login("bob", scheme="Bearer")], ON_SITE, "/", "cannot be read"),
        ([(b"authorization", b"Basic ***")], ON_SITE, "/", "cannot be read"),
        ([(b"authorization", b"Basic \xff")], ON_SITE, "/", "cannot be read"),
        ([login("b\u00f6b")], ON_SITE, "/", "cannot be read"),
        ([login("bob")], ON_SITE, "/api/2.0/mlflow/webhooks", "sends data to other servers"),
        ([login("bob")], ON_SITE, "/ajax-api/3.0/mlflow/gateway/secrets/create", "sends data to other servers"),
        ([login("bob")], ON_SITE, "/ajax-api/2.0/mlflow/gateway-proxy", "sends data to other servers"),
        ([login("bob")], ON_SITE, "/ajax-api/3.0/mlflow/assistant/message", "sends data to other servers"),
        ([login("admin")], ON_SITE, "/Gateway/mlflow/v1/chat/completions", "sends data to other servers"),
    ],
)
def test_a_server_of_on_prem_data_refuses_by_address_user_and_function(
    module: ModuleType, tmp_path: Path, headers: Headers, address: str, path: str, word: str
) -> None:
    status, text = respond(module, tmp_path, RESTRICTED, headers, address, path)
    assert (status, word in text) == ((403, True) if word else (200, True)), text


def test_a_server_of_data_that_may_be_in_aws_refuses_by_user_only(module: ModuleType, tmp_path: Path) -> None:
    assert respond(module, tmp_path, INTERNAL, [login("alice")], IN_AWS)[0] == 200
    assert respond(module, tmp_path, INTERNAL, [login("alice")], IN_AWS, "/api/2.0/mlflow/webhooks")[0] == 200
    assert respond(module, tmp_path, INTERNAL, [login("bob")], ON_SITE)[0] == 403


def test_the_state_of_a_server_without_its_databases_is_an_error(module: ModuleType, tmp_path: Path) -> None:
    def refused() -> None:
        raise ConnectionRefusedError("connection to server at 10.20.0.15 failed")

    status, text = respond(module, tmp_path, INTERNAL, [], path="/health", query=refused)
    assert status == 503 and "a database does not answer (ConnectionRefusedError)" in text
    assert respond(module, tmp_path, INTERNAL, [], path="/version", query=refused)[0] == 200
    assert respond(module, tmp_path, RESTRICTED, [], IN_AWS, "/health", query=refused)[0] == 403


def test_a_websocket_is_closed(module: ModuleType, tmp_path: Path) -> None:
    assert respond(module, tmp_path, RESTRICTED, [login("bob")], kind="websocket") == (1008, "")


def workspace(name: str, header: bytes = b"x-mlflow-workspace") -> tuple[bytes, bytes]:
    return header, name.encode()


@pytest.mark.parametrize(
    ("headers", "path", "word"),
    [
        ([login("alice"), workspace("vision")], "/api/2.0/mlflow/runs/create", ""),
        ([login("alice"), workspace(" vision ")], "/graphql", ""),
        ([login("carol"), workspace("vision")], "/api/2.0/mlflow/registered-models/get", ""),
        ([login("admin"), workspace("vision")], "/", ""),
        ([login("admin")], "/api/2.0/mlflow/experiments/search", ""),
        # Pages, and questions that need no workspace.
        ([login("alice")], "/", ""),
        ([login("alice")], "/static-files/a.js", ""),
        ([login("alice")], "/ajax-api/3.0/mlflow/workspaces", ""),
        ([login("alice")], "/api/2.0/mlflow/users/get", ""),
        ([], "/api/2.0/mlflow/runs/create", ""),
        (
            [login("alice"), workspace("lab")],
            "/",
            "alice is not in the team of workspace lab; MLFLOW_WORKSPACE of alice's teams: vision",
        ),
        ([login("alice"), workspace("lab")], "/api/3.0/mlflow/workspaces", "not in the team"),
        ([login("alice"), workspace("Vision")], "/api/2.0/mlflow/runs/create", "not in the team"),
        ([login("alice"), workspace("vision, lab")], "/api/2.0/mlflow/runs/create", "not in the team"),
        ([login("alice"), workspace("vision"), workspace("lab", b"X-MLflow-Workspace")], "/", "repeated"),
        (
            [login("alice")],
            "/api/2.0/mlflow/runs/create",
            "the default workspace is closed; MLFLOW_WORKSPACE of alice's teams: vision",
        ),
        ([login("alice"), workspace("default")], "/graphql", "closed"),
        ([login("alice"), workspace("\u00e9")], "/graphql", "not in the team"),
        ([login("alice")], "/static-files/../api/2.0/mlflow/runs/create", "closed"),
        ([login("alice")], "//api/2.0/mlflow/runs/create", "closed"),
        ([login("alice")], "/api/3.0/mlflow/workspaces/vision", "closed"),
        (
            [login("alice"), login("carol", b"x-mlflow-authorization"), workspace("lab")],
            "/",
            "alice is not in the team",
        ),
    ],
)
def test_a_workspace_is_open_to_its_team_and_the_readers_of_its_models(
    module: ModuleType, tmp_path: Path, headers: Headers, path: str, word: str
) -> None:
    status, text = respond(module, tmp_path, {**INTERNAL, "workspaces": TEAMS}, headers, path=path)
    assert (status, word in text) == ((403, True) if word else (200, True)), text


def test_without_teams_a_server_has_no_check_of_workspaces(module: ModuleType, tmp_path: Path) -> None:
    assert respond(module, tmp_path, INTERNAL, [login("alice")], path="/api/2.0/mlflow/runs/create")[0] == 200


def test_a_worker_handles_fewer_requests_at_a_time_than_it_has_connections(module: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "landbridge.json"
    file.write_text(json.dumps(INTERNAL))
    limits = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        limits.append(to_thread.current_default_thread_limiter().total_tokens)

    asyncio.run(module.Guard(behind, module.Settings.read(file), lambda: None)({"type": "lifespan"}, None, None))
    # SQLAlchemy's QueuePool: 5 connections, and 10 more.
    assert limits and limits[0] < 5 + 10


@pytest.mark.long
def test_tables_of_a_newer_release_are_refused_with_the_way_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PATH.parent))
    upgrade = importlib.import_module("landbridge_mlflow_upgrade")
    with sqlite3.connect(tmp_path / "runs.db") as database:
        database.execute("create table alembic_version (version_num varchar(32))")
        database.execute("insert into alembic_version values ('ffffffffffff')")
    with pytest.raises(SystemExit, match=r"newer release \(ffffffffffff\).*playbooks/restore_databases.yml"):
        upgrade.tracking(f"sqlite:///{tmp_path}/runs.db")
