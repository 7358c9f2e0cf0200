"""Steps that create slurmdbd's database on another server: connections, statements and errors."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest

from sandbox.aws_emulator.process import EmulatorProcess, running

PATH = Path(__file__).parents[3] / "ansible/roles/slurm_database/library/slurm_database_remote.py"
#: Stand-in of MariaDB's client: accepts the passwords in a state file, and records calls and statements in it.
CLIENT = """#!{python}
import json, os, sys
state = json.load(open({state!r}))
user = next(word[7:] for word in sys.argv if word.startswith("--user="))
state["calls"].append(sys.argv[1:])
if state["passwords"].get(user) != os.environ["MYSQL_PWD"]:
    code = 1
    print("ERROR 1045 (28000): Access denied", file=sys.stderr)
else:
    code = 0
    if user == "admin":
        state["statements"] = sys.stdin.read()
        state["passwords"]["slurm"] = state["gives"]
json.dump(state, open({state!r}, "w"))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm_database_remote", PATH)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", "--launcher", "none") as emulator:
        yield emulator


Run = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture
def run(cloud: EmulatorProcess, tmp_path: Path) -> Run:
    """Return a function that runs the module as Ansible does and returns its result and the client's state file."""
    access = {"aws_access_key_id": "t", "aws_secret_access_key": "t", "region_name": "us-east-1"}
    secrets = boto3.client("secretsmanager", endpoint_url=cloud.endpoint, **access)
    value = json.dumps({"username": "admin", "password": "kept-by-rds"})
    arn = secrets.create_secret(Name=tmp_path.name, SecretString=value)["ARN"]
    state, client = tmp_path / "state.json", tmp_path / "mariadb"
    client.write_text(CLIENT.format(python=sys.executable, state=str(state)))
    client.chmod(0o755)

    def call(passwords: dict[str, str], *, gives: str = "new", check: bool = False, **more: Any) -> Any:
        state.write_text(json.dumps({"passwords": passwords, "calls": [], "statements": None, "gives": gives}))
        options = {"server": "db.test", "ca": "/ca.pem", "name": "slurm_acct_db", "user": "slurm", "password": "new"}
        options |= {"admin": "admin", "admin_secret": arn, "region": "us-east-1", "endpoint": cloud.endpoint, **more}
        data = json.dumps({"ANSIBLE_MODULE_ARGS": {**options, "_ansible_check_mode": check}})
        keys = {"AWS_ACCESS_KEY_ID": "t", "AWS_SECRET_ACCESS_KEY": "t", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        completed = subprocess.run(
            [sys.executable, str(PATH)],
            input=data,
            capture_output=True,
            text=True,
            env={**os.environ, **keys},
        )
        return json.loads(completed.stdout), json.loads(state.read_text())

    return call


def test_if_the_user_can_log_in_nothing_changes(run: Run) -> None:
    answer, seen = run({"slurm": "new"}, admin_secret="nothing-of-this-name")
    assert answer["changed"] is False and len(seen["calls"]) == 1


def test_the_database_is_created_and_every_connection_verifies_the_server(run: Run) -> None:
    answer, seen = run({"admin": "kept-by-rds"})
    assert answer["changed"] is True and len(seen["calls"]) == 3
    for call in seen["calls"]:
        assert {"--host=db.test", "--port=3306", "--ssl-ca=/ca.pem", "--ssl-verify-server-cert"} <= set(call)
        assert not any("new" in word or "kept" in word for word in call), "passwords are not in the arguments"
    assert "create database if not exists `slurm_acct_db`" in seen["statements"]
    assert "identified by 'new' require ssl" in seen["statements"] and "grant all" not in seen["statements"]


def test_check_mode_changes_nothing(run: Run) -> None:
    answer, seen = run({"admin": "kept-by-rds"}, check=True)
    assert answer["changed"] is True and seen["statements"] is None


@pytest.mark.parametrize(
    ("passwords", "changes", "message"),
    [
        ({"admin": "another"}, {}, "cannot be created as admin"),
        ({"admin": "kept-by-rds"}, {"gives": "old"}, "cannot log in"),
        ({}, {"admin_secret": "nothing-of-this-name"}, "no password of admin"),
    ],
)
def test_a_failure_is_reported_without_passwords(
    run: Run, passwords: dict[str, str], changes: dict[str, Any], message: str
) -> None:
    answer, _ = run(passwords, **changes)
    assert answer["failed"] is True and message in answer["msg"]
    assert "kept-by-rds" not in json.dumps(answer)


def test_names_and_passwords_are_quoted_for_sql(module: ModuleType) -> None:
    statements = module.statements("a`b", "o'x", r"it's \ me")
    assert "`a``b`" in statements and "'o''x'@'%'" in statements and r"'it''s \\ me'" in statements
