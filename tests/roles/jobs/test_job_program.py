"""The job program with environments as Slurm sets them: folders, variables, processes that it ends, and causes of a drain."""
# ruff: noqa: F811 - fixtures are imported

import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.roles.jobs.job_node import RECORDED, Node
from tests.roles.jobs.job_program import PATH, module, node  # noqa: F401

Spawn = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start processes of a user as jobs do: the environment contains the job's id."""
    started: list[subprocess.Popen[bytes]] = []

    def start(job: str | None, *words: str, uid: int = 65533) -> subprocess.Popen[bytes]:
        environ = {"PATH": "/usr/bin:/bin", **({"SLURM_JOB_ID": job} if job else {})}
        started.append(subprocess.Popen(words or ("sleep", "600"), env=environ, user=uid, group=65533))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_job_gets_an_empty_folder_that_only_its_user_can_open(node: Node) -> None:
    (node.root / "7").mkdir(parents=True)
    (node.root / "7/of-an-older-job").touch()
    assert node.run("prolog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GID="65533") == 0
    status = os.stat(node.root / "7")
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (0o700, 65533, 65533)
    assert os.listdir(node.root / "7") == ["tmp"]
    assert stat.S_IMODE(os.stat(node.root).st_mode) == 0o755


URI, CLINIC_URI = "https://mlops01:5000", "https://mlops01:5011"
CA_FILE = "/etc/landbridge/tls/ca.pem"
ACCOUNT_ROWS = [
    # The account, the job's value, and the line that sets another one.
    ("vision", URI, ""),
    ("clinic", URI, f"export MLFLOW_TRACKING_URI={CLINIC_URI}"),
    ("Clinic", None, f"export MLFLOW_TRACKING_URI={CLINIC_URI}"),
    ("clinic", CLINIC_URI, ""),
    ("vision", CLINIC_URI, f"export MLFLOW_TRACKING_URI={URI}"),
    ("web", URI, "unset MLFLOW_TRACKING_URI"),
    ("web", None, ""),
    (None, CLINIC_URI, f"export MLFLOW_TRACKING_URI={URI}"),
    ("unknown", CLINIC_URI, ""),
    # The user's own server.
    ("clinic", "https://mlflow.example.org", ""),
    # A job that was submitted before the servers had TLS.
    ("clinic", "http://mlops01:5000", f"export MLFLOW_TRACKING_URI={CLINIC_URI}"),
    ("vision", "http://mlops01:5000", f"export MLFLOW_TRACKING_URI={URI}"),
]


@pytest.mark.parametrize(("account", "value", "line"), ACCOUNT_ROWS)
def test_tasks_get_the_variables_of_their_account(
    node: Node, capsys: pytest.CaptureFixture[str], account: str | None, value: str | None, line: str
) -> None:
    uris = {"": URI, "vision": URI, "clinic": CLINIC_URI, "web": ""}
    node.settings["accounts"] = {name: {"MLFLOW_TRACKING_URI": uri} for name, uri in uris.items()}
    assert node.run("prolog_task", SLURM_JOB_ACCOUNT=account, MLFLOW_TRACKING_URI=value) == 0
    assert capsys.readouterr().out == (f"{line}\n" if line else "")


@pytest.mark.parametrize(
    ("uri", "ca_file", "lines"),
    [
        (None, None, [f"export MLFLOW_TRACKING_SERVER_CERT_PATH={CA_FILE}", f"export MLFLOW_TRACKING_URI={URI}"]),
        (URI, CA_FILE, []),
        (URI, "/home/alice/ca.pem", []),
        ("https://mlflow.example.org", CA_FILE, ["unset MLFLOW_TRACKING_SERVER_CERT_PATH"]),
        ("https://mlflow.example.org", None, []),
        ("https://mlflow.example.org", "/home/alice/ca.pem", []),
    ],
)
def test_the_sites_ca_is_for_the_sites_servers_only(
    node: Node, capsys: pytest.CaptureFixture[str], uri: str | None, ca_file: str | None, lines: list[str]
) -> None:
    variables = {"MLFLOW_TRACKING_URI": URI, "MLFLOW_TRACKING_SERVER_CERT_PATH": CA_FILE}
    node.settings["accounts"] = {"": variables, "vision": variables}
    given = {"MLFLOW_TRACKING_URI": uri, "MLFLOW_TRACKING_SERVER_CERT_PATH": ca_file}
    assert node.run("prolog_task", SLURM_JOB_ACCOUNT="vision", **given) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_a_node_in_aws_gets_the_sites_ca_from_slurm_conf(node: Node, tmp_path: Path) -> None:
    """At the next job after a change of the CA, and not at a job without one."""
    node.settings["in_aws"] = True
    classes, authority = tmp_path / "slurm.conf", tmp_path / "tls/ca.pem"
    lines = "# landbridge-class web role/x\n# landbridge-account vision web\n"
    for text in ("-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n", "-----BEGIN X-----\n"):
        classes.write_text(lines + "".join(f"# landbridge-ca {line}\n" for line in text.splitlines()))
        assert node.run("prolog_slurmd", SLURM_JOB_GID="0", SLURM_JOB_ACCOUNT="vision") == 0
        assert authority.read_text() == text and stat.S_IMODE(authority.stat().st_mode) == 0o644
    assert [path.name for path in authority.parent.iterdir()] == ["ca.pem"]
    classes.write_text(lines)
    assert node.run("prolog_slurmd", SLURM_JOB_GID="0", SLURM_JOB_ACCOUNT="vision") == 0
    assert authority.read_text() == text


def test_tasks_get_the_folders_path_if_it_exists(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    assert node.run("prolog_task") == 0
    assert capsys.readouterr().out == ""
    node.run("prolog_slurmd", SLURM_JOB_GID="0")
    assert node.run("prolog_task", SLURM_JOB_GPUS=None, SLURM_JOB_UID=None) == 0
    assert capsys.readouterr().out == f"export SCRATCH={node.root}/7\nexport TMPDIR={node.root}/7/tmp\n"


def test_the_folder_is_deleted_but_not_the_targets_of_its_links(node: Node, tmp_path: Path) -> None:
    other = tmp_path / "of-another-user"
    other.mkdir()
    (other / "file").touch()
    node.run("prolog_slurmd", SLURM_JOB_GID="0")
    (node.root / "8").mkdir()
    (node.root / "7/link").symlink_to(other)
    assert node.run("epilog_slurmd") == 0
    assert os.listdir(node.root) == ["8"] and (other / "file").exists()
    assert node.run("epilog_slurmd") == 0, "an epilog may run twice"


@pytest.mark.parametrize(
    ("breaks", "message"),
    [
        (lambda node: node.settings.update(mount=str(node.folder)), "scratch: nothing is mounted on"),
        (lambda node: (node.root.mkdir(), node.root.chmod(0o777)), "only root may write to"),
        (lambda node: node.root.symlink_to(node.folder), "only root may write to"),
        (lambda node: node.settings.update(roots="/x"), "settings: {settings} has unknown keys: roots"),
    ],
)
def test_a_failed_prolog_drains_the_node_with_the_reason(
    node: Node, breaks: Callable[[Node], Any], message: str
) -> None:
    breaks(node)
    assert node.run("prolog_slurmd") == 1
    assert (
        node.failed.startswith("landbridge:prolog:")
        and message.format(settings=f"{node.folder}/job.json") in node.failed
    )


def test_a_users_own_folder_is_created_once_and_kept(node: Node) -> None:
    images = node.folder / "images"
    node.settings["user_folders"] = [str(images)]
    assert node.run("prolog_slurmd") == 0
    user_folder = images / str(os.getuid())
    assert stat.S_IMODE(user_folder.stat().st_mode) == 0o700
    (user_folder / "image").write_text("kept")
    assert node.run("epilog_slurmd") == node.run("prolog_slurmd") == 0
    assert (user_folder / "image").read_text() == "kept"


@pytest.mark.parametrize("owner", [0, 65532, "link"])
def test_awsome_185_a_users_own_folder_of_another_owner_becomes_the_users(node: Node, owner: int | str) -> None:
    images, elsewhere = node.folder / "images", node.folder / "elsewhere"
    folder = images / "65533"
    images.mkdir()
    elsewhere.mkdir()
    if isinstance(owner, int):
        # As after an interruption between the creation and the change of the owner, and after a wrong restoration.
        folder.mkdir()
        (folder / "image").write_text("of another")
        os.chown(folder, owner, owner)
    else:
        folder.symlink_to(elsewhere)
    node.settings["user_folders"] = [str(images)]
    assert node.run("prolog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GID="65533") == 0
    status = folder.lstat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode), stat.S_ISDIR(status.st_mode)) == (65533, 0o700, True)
    assert (folder / "image").exists() is (owner == 0), "the user runs no program that another user wrote"
    assert elsewhere.stat().st_uid == 0 and not node.failed


def test_tasks_get_the_path_of_the_users_runtime_folder(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    node.settings["runtime"] = str(node.folder / "users")
    assert node.run("prolog_slurmd") == node.run("prolog_task") == 0
    assert f"export XDG_RUNTIME_DIR={node.folder}/users/{os.getuid()}\n" in capsys.readouterr().out
    assert (node.folder / f"users/{os.getuid()}").stat().st_uid == os.getuid()


def test_the_runtime_folder_is_deleted_after_the_users_last_job(node: Node) -> None:
    node.settings["runtime"] = str(node.folder / "users")
    runtime_folder = node.folder / f"users/{os.getuid()}"
    assert node.run("prolog_slurmd") == node.run("prolog_slurmd", SLURM_JOB_ID="8") == 0
    assert node.run("epilog_slurmd") == 0 and runtime_folder.is_dir()
    assert node.run("epilog_slurmd", SLURM_JOB_ID="8") == 0 and not runtime_folder.exists()


def test_a_users_own_folder_is_not_created_where_others_may_write(node: Node) -> None:
    images = node.folder / "images"
    images.mkdir()
    images.chmod(0o777)
    node.settings["user_folders"] = [str(images)]
    assert node.run("prolog_slurmd") == 1
    assert node.failed.startswith("landbridge:prolog:folders: ")
    assert list(images.iterdir()) == []


def test_the_next_successful_prolog_deletes_an_old_error(node: Node) -> None:
    node.settings["mount"] = str(node.folder)
    assert node.run("prolog_slurmd", SLURM_JOB_GID="0") == 1
    assert node.failed
    del node.settings["mount"]
    assert node.run("prolog_slurmd", SLURM_JOB_GID="0") == 0
    assert not node.failed


def test_deepops_992_only_processes_of_this_job_are_terminated(node: Node, spawn: Spawn) -> None:
    job_process, of_other_job, without_job, of_root = spawn("7"), spawn("70"), spawn(None), spawn("7", uid=0)
    assert node.run("epilog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GPUS=None) == 0
    assert job_process.wait(60) == -signal.SIGTERM
    assert [process.poll() for process in (of_other_job, without_job, of_root)] == [None, None, None]


def test_a_process_that_ignores_sigterm_is_killed(node: Node, spawn: Spawn) -> None:
    process = spawn("7", "sh", "-c", "trap '' TERM; exec sleep 600")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _ignores_term(process.pid):
        time.sleep(0.02)
    assert node.run("epilog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GPUS=None) == 0
    assert process.wait(60) == -signal.SIGKILL


def _ignores_term(pid: int) -> bool:
    (line,) = [row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if row.startswith("SigIgn")]
    return bool(int(line.split()[1], 16) & 1 << (signal.SIGTERM - 1))


@pytest.mark.parametrize(
    ("text", "jobs"),
    [
        ("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n", {"7"}),
        ("5:freezer:/lab/dgx01/slurm_dgx01/uid_20001/job_70/step_batch\n4:memory:/\n", {"70"}),
        ("0::/system.slice/ssh.service\n", set()),
        ("0::/user.slice/job_x/notjob_7/xjob_7\n", set()),
    ],
)
def test_the_job_of_a_process_is_read_from_its_cgroups(module: ModuleType, text: str, jobs: set[str]) -> None:
    assert module.jobs_of(text) == jobs


def test_deepops_919_the_job_program_runs_with_slurms_environment_alone(tmp_path: Path) -> None:
    environ = {**RECORDED, "SLURM_SCRIPT_CONTEXT": "prolog_task"}
    completed = subprocess.run([PATH], env=environ, capture_output=True, text=True, cwd="/", check=False)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
    text = PATH.read_text()
    assert not any(f'"{word}"' in text for word in ("scontrol", "squeue", "sinfo", "sacct")), "no Slurm command"
    completed = subprocess.run([PATH], env={}, capture_output=True, text=True, check=False)
    assert completed.returncode == 1 and "no such context" in completed.stderr
