"""Last dump of the accounting database on another server, and its restore: a real MariaDB that demands TLS, as RDS does.

The tasks are those of the role, without those of slurmdbd's unit; its paths are below the test's folder.
"""

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from landbridge.ops.site_loss.dumps import unreadable
from sandbox.demo.cluster import wait_for
from sandbox.ports import free_port
from tests.roles.ansible_run import ROOT
from tests.unit.observability.debian_programs import unpacked_packages
from tests.unit.served_models.site_ca import write_certificates

ROLE = ROOT / "ansible/roles/slurm_database"
PASSWORD = "o'password of slurm"
#: As slurmdbd's tables: a cluster's name in the table's name, and text of users.
TABLES = """create table acme_job_table (id int primary key auto_increment, account tinytext, name text);
insert into acme_job_table (account, name) values ('vision', 'züge'), ('vision', 'it''s'), ('clinic', '');
"""
ROWS = "select id, account, name from acme_job_table order by id"
#: Modules of tasks that are about units and ports.
OF_UNITS = {"ansible.builtin.systemd_service", "ansible.builtin.wait_for"}


@dataclass(frozen=True)
class Server:
    """MariaDB on loopback, with the folder of its files."""

    folder: Path
    port: int
    environ: Mapping[str, str]

    def sql(self, statements: str) -> str:
        """Return the output of statements of the administrator, over the local socket."""
        socket = self.folder / "mariadb.sock"
        words = ["mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "--batch", "--skip-column-names"]
        done = subprocess.run(
            [*words, "--default-character-set=utf8mb4"],
            input=statements,
            env=self.environ,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def play(self, tasks_from: str, authority: Path, **variables: Any) -> "subprocess.CompletedProcess[str]":
        """Run tasks of the role as the playbook does."""
        role = self.folder / "roles/slurm_database"
        (role / "tasks").mkdir(parents=True, exist_ok=True)
        (role / "vars").mkdir(exist_ok=True)
        for part in (f"tasks/{tasks_from}.yml", "vars/main.yml"):
            text = (ROLE / part).read_text().replace("/etc/slurm/database-ca.pem", str(authority))
            content = yaml.safe_load(text.replace("/var/backups", str(self.folder / "backups")))
            if part.startswith("tasks/"):
                content = [task for task in content if not OF_UNITS & set(task)]
            (role / part).write_text(json.dumps(content))
        (self.folder / "backups").mkdir(exist_ok=True)
        values = {
            "slurm_database_server": "127.0.0.1",
            "slurm_database_server_port": self.port,
            "slurm_database_name": "slurm_acct_db",
            "slurm_database_user": "slurm",
            "slurm_database_password": PASSWORD,
        }
        include = {"ansible.builtin.include_role": {"name": "slurm_database", "tasks_from": tasks_from}}
        book = [{"hosts": "localhost", "gather_facts": False, "vars": {**values, **variables}, "tasks": [include]}]
        (self.folder / "book.yml").write_text(json.dumps(book))
        return subprocess.run(
            [
                Path(sys.executable).with_name("ansible-playbook"),
                "-i",
                "localhost,",
                "-c",
                "local",
                self.folder / "book.yml",
            ],
            env={**self.environ, "ANSIBLE_ROLES_PATH": str(role.parent), "ANSIBLE_NOCOLOR": "1"},
            capture_output=True,
            text=True,
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    folder = tmp_path_factory.mktemp("mariadb")
    programs = unpacked_packages(
        ("mariadb-server-core",),
        ("mariadb-client-core",),
        ("mariadb-client",),
        ("libmariadb3",),
        ("liburing2",),
        ("libaio1t64", "libaio1"),
    )
    libraries = ":".join(sorted({str(path.parent) for path in programs.rglob("*.so.*")}))
    paths = f"{programs}/usr/bin:{programs}/usr/sbin:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": paths, "LD_LIBRARY_PATH": libraries}
    authority, host = write_certificates(folder)
    data, port = folder / "data", free_port()
    base = [
        "--no-defaults",
        f"--basedir={programs}/usr",
        f"--datadir={data}",
        *(["--user=root"] if os.getuid() == 0 else []),
    ]
    create = ["mariadb-install-db", *base, "--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run(create, env=environ, check=True, capture_output=True)
    of_tls = [f"--ssl-cert={host}", f"--ssl-key={host}", "--require-secure-transport=ON"]
    place = [f"--socket={folder / 'mariadb.sock'}", "--bind-address=127.0.0.1,127.0.0.2", f"--port={port}"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(["mariadbd", *base, *place, *of_tls], env=environ, stdout=log, stderr=log)
    try:
        database = Server(folder, port, environ)
        wait_for(
            "MariaDB",
            lambda: ((folder / "mariadb.sock").exists(), process.poll()),
            lambda state: state[0] or state[1] is not None,
        )
        assert process.poll() is None, (folder / "log").read_text()
        spec = importlib.util.spec_from_file_location("remote", ROLE / "library/slurm_database_remote.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        # The user and its rights are those that the role creates in RDS.
        database.sql(module.statements("slurm_acct_db", "slurm", PASSWORD) + "use slurm_acct_db;\n" + TABLES)
        yield database, authority
    finally:
        process.kill()
        process.wait()


def test_the_last_dump_is_made_over_tls_and_restored_with_the_rights_of_slurms_user(
    server: tuple[Server, Path],
) -> None:
    database, authority = server
    rows = database.sql(f"use slurm_acct_db; {ROWS}")
    assert rows.count("\n") == 3
    dumped = database.play("final_dump", authority)
    assert dumped.returncode == 0, dumped.stdout
    dump = database.folder / "backups/landbridge-slurm/final.sql.gz"
    assert dump.stat().st_mode & 0o777 == 0o600 and list(unreadable(dump.parent)) == []
    assert PASSWORD not in gzip.decompress(dump.read_bytes()).decode() + dumped.stdout + dumped.stderr
    # What is there before the restore is replaced, and a second restore adds nothing.
    database.sql("use slurm_acct_db; delete from acme_job_table where id = 1; create table acme_later (id int)")
    for _ in range(2):
        restored = database.play("restore", authority, slurm_database_restored=str(dump))
        assert restored.returncode == 0, restored.stdout
        assert database.sql(f"use slurm_acct_db; {ROWS}") == rows
    assert database.sql("use slurm_acct_db; show tables").split() == ["acme_job_table"]


def test_a_server_that_is_not_verified_gets_no_password_and_leaves_no_dump(
    server: tuple[Server, Path], tmp_path: Path
) -> None:
    database, authority = server
    other, _ = write_certificates(tmp_path)
    dump = database.folder / "backups/landbridge-slurm/final.sql.gz"
    dump.unlink(missing_ok=True)
    refused = database.play("final_dump", other)
    assert refused.returncode != 0 and not dump.exists()
    assert PASSWORD not in refused.stdout + refused.stderr
    # A server of the CA whose certificate is for another address.
    refused = database.play("final_dump", authority, slurm_database_server="127.0.0.2")
    assert refused.returncode != 0 and not dump.exists()
    # Without TLS the server refuses the user: the dump cannot be made in clear text.
    plain = ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={database.port}", "--user=slurm", "--skip-ssl"]
    done = subprocess.run(
        [*plain, "--execute=select 1"], env={**database.environ, "MYSQL_PWD": PASSWORD}, capture_output=True, text=True
    )
    assert done.returncode != 0
