"""The credentials endpoint of jobs: which job a connection belongs to, which class an account has, and each refusal."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.slurm.files import slurm_files
from sandbox.nspawn import from_environment
from tests.roles.jobs.program_module import ROLES, loaded

UID, INODE = 20001, 4711
SCOPE = "/system.slice/slurmstepd.scope"
CLIENT, SERVER = ("127.0.0.1", 40000), ("127.0.0.1", 8169)
CONF = """
# landbridge-class internal role/sandbox-job-internal
# landbridge-class restricted -
# landbridge-account vision internal
# landbridge-account secret restricted
# landbridge-account lost nowhere
ClusterName=sandbox # landbridge-account comment internal
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the program with its files in a folder of the test."""
    module = loaded(ROLES / "job_credentials/files/landbridge-job-credentials", "landbridge_job_credentials")
    monkeypatch.setattr(module, "RECORDS", str(tmp_path / "records"))
    monkeypatch.setattr(module, "CLASSES", str(tmp_path / "slurm.conf"))
    monkeypatch.setattr(module, "STORE", str(tmp_path / "object-store-keys.json"))
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "records").mkdir()
    return module


V1 = "9:memory:/slurm/uid_{uid}/job_{job}/step_batch/task_0\n4:devices:/slurm/uid_{uid}/job_{job}/step_batch\n"


@pytest.mark.parametrize(
    ("text", "job"),
    [
        (f"0::{SCOPE}/job_7/step_0/user/task_0\n", "7"),
        ("0::/system.slice/dgx01_slurmstepd.scope/job_7/step_extern\n", "7"),
        (f"0::{SCOPE}/job_7\n", "7"),
        (f"0::{SCOPE}/system\n", None),
        ("0::/system.slice/slurmd.service\n", None),
        # Control groups that a user made below the own slice, with the name of a job.
        (f"0::/user.slice/user-20001.slice/user@20001.service/app.slice{SCOPE}/job_7/step_0\n", None),
        ("0::/user.slice/user-20001.slice/user@20001.service/job_7\n", None),
        ("0::/system.slice/x.service/slurmstepd.scope/job_7\n", None),
        (V1.format(uid=UID, job=7), "7"),
        ("9:memory:/slurm_dgx01/uid_20001/job_7/step_0/task_0\n0::/system.slice/slurmd.service\n", "7"),
        ("12:cpuset,memory:/machine/x/slurm/uid_20001/job_7/step_0\n", "7"),
        # Of another user, in two jobs, and in the hierarchy that systemd delegates to users.
        (V1.format(uid=20002, job=7), None),
        ("9:memory:/slurm/uid_20001/job_7/step_0\n4:devices:/slurm/uid_20001/job_8/step_0\n", None),
        ("1:name=systemd:/user.slice/user-20001.slice/slurm/uid_20001/job_7/step_0\n", None),
        ("9:memory:/slurm/uid_20001/job_7x/step_0\n", None),
        ("9:memory:/notslurm/uid_20001/job_7/step_0\n", None),
    ],
)
def test_the_job_of_a_process_is_that_of_its_control_group(program: ModuleType, text: str, job: str | None) -> None:
    assert program.job_of(text, UID) == job


def proc(folder: Path, *lines: str, mapped: bool = False) -> Path:
    """Create a folder like /proc with one connection to the endpoint."""
    local, remote = (f"0100007F:{port:04X}" for port in (CLIENT[1], SERVER[1]))
    prefix = "0000000000000000FFFF0000" if mapped else ""
    row = f"  0: {prefix}{local} {prefix}{remote} 01 00000000:00000000 00:00000000 00000000 {UID} 0 {INODE} 1"
    (folder / "net").mkdir(parents=True)
    (folder / "net/tcp").write_text("\n".join(["header", *([] if mapped else [row]), *lines, ""]))
    (folder / "net/tcp6").write_text("\n".join(["header", *([row] if mapped else []), ""]))
    return folder


def process(folder: Path, pid: int, cgroup: str, *, uid: int = UID, inode: int = INODE) -> None:
    """Add a process with an open socket."""
    (folder / f"{pid}/fd").mkdir(parents=True)
    (folder / f"{pid}/fd/3").symlink_to(f"socket:[{inode}]")
    (folder / f"{pid}/cgroup").write_text(cgroup)
    os.chown(folder / str(pid), uid, -1)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to other users")


@pytest.mark.parametrize("mapped", [False, True])
def test_a_connection_has_the_socket_of_its_client(program: ModuleType, tmp_path: Path, mapped: bool) -> None:
    folder = proc(tmp_path / "proc", mapped=mapped)
    assert program.socket_of(CLIENT, SERVER, folder) == (INODE, UID)
    with pytest.raises(program.Refused, match="no process"):
        program.socket_of(("127.0.0.1", 40001), SERVER, folder)


@needs_root
def test_the_process_with_the_socket_decides_and_no_other(program: ModuleType, tmp_path: Path) -> None:
    folder = proc(tmp_path / "proc")
    process(folder, 100, f"0::{SCOPE}/job_7/step_0\n")
    process(folder, 101, f"0::{SCOPE}/job_8/step_0\n", inode=INODE + 1)
    process(folder, 102, f"0::{SCOPE}/job_9/step_0\n", uid=UID + 1)
    assert program.job_with_socket(INODE, UID, folder) == "7"
    # The same socket in a second process of the job: a child has its parent's sockets.
    process(folder, 103, f"0::{SCOPE}/job_7/step_0\n")
    assert program.job_with_socket(INODE, UID, folder) == "7"


@needs_root
@pytest.mark.parametrize("other", [f"0::{SCOPE}/job_8/step_0\n", "0::/user.slice/user-20001.slice/session-1.scope\n"])
def test_a_socket_that_jobs_share_is_refused(program: ModuleType, tmp_path: Path, other: str) -> None:
    folder = proc(tmp_path / "proc")
    process(folder, 100, f"0::{SCOPE}/job_7/step_0\n")
    process(folder, 101, other)
    with pytest.raises(program.Refused, match="several jobs use"):
        program.job_with_socket(INODE, UID, folder)


@needs_root
def test_a_process_outside_jobs_is_refused(program: ModuleType, tmp_path: Path) -> None:
    folder = proc(tmp_path / "proc")
    process(folder, 100, "0::/user.slice/user-20001.slice/session-1.scope\n")
    with pytest.raises(program.Refused, match="not in a Slurm job"):
        program.job_with_socket(INODE, UID, folder)


def test_an_account_gets_the_role_of_its_class(program: ModuleType) -> None:
    assert program.role_of({"account": "Vision"}, CONF) == ("internal", "role/sandbox-job-internal")


@pytest.mark.parametrize(
    ("account", "code", "text"),
    [
        ("secret", "OnPremOnly", "data of class 'restricted' (account 'secret') may not be in AWS"),
        ("lost", "OnPremOnly", "data of class 'nowhere'"),
        ("unknown", "NoDataClass", "account 'unknown' has no data class"),
        ("comment", "NoDataClass", "account 'comment' has no data class"),
        ("", "NoDataClass", "the job has no account"),
    ],
)
def test_a_job_whose_data_may_not_be_in_aws_is_refused(program: ModuleType, account: str, code: str, text: str) -> None:
    with pytest.raises(program.Refused) as refused:
        program.role_of({"account": account}, CONF)
    assert refused.value.code == code and text in str(refused.value)


def test_slurm_conf_has_the_classes_in_the_form_that_the_program_reads(program: ModuleType) -> None:
    sandbox: Environment = from_environment.environment("sandbox")
    accounts, roles = program.classes(slurm_files(sandbox)["slurm.conf"])
    assert accounts == {name: account.data_class for name, account in sandbox.scheduler.accounts.items()}
    assert roles == {"internal": "role/sandbox-job-internal", "restricted": "-"}


# --- requests over a real connection -------------------------------------------------------------------------------


class Source:
    """Source of credentials that counts its sessions."""

    def __init__(self, seconds: float = 1800) -> None:
        self.sessions: list[tuple[str, str]] = []
        self._seconds = seconds

    def credentials(self, record: dict[str, Any], data_class: str, role: str) -> dict[str, str]:
        self.sessions.append((record["job"], role))
        expiration = (datetime.now(UTC) + timedelta(seconds=self._seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        keys = {"AccessKeyId": f"ASIA{len(self.sessions)}", "SecretAccessKey": "secret", "Token": "token"}
        return {**keys, "Expiration": expiration}


Asks = Callable[..., str]


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def ask(program: ModuleType, source: Source, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asks]:
    """Serve job 7 of this user; return a function that runs boto3 in a process, which counts as one of job 7."""
    uid = os.getuid()
    monkeypatch.setattr(program, "job_of", lambda text, owner: "7" if owner == uid else None)
    monkeypatch.setattr(program, "InstanceSource", lambda settings: source)
    register(program, "7")
    server = program.serve({"source": "instance", "port": 0, "seconds": 1800})
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    script = (
        "import boto3, botocore.exceptions, botocore.utils\n"
        "botocore.utils.ContainerMetadataFetcher.SLEEP_TIME = 0\n"
        "try: print(boto3.Session().get_credentials().access_key)\n"
        "except botocore.exceptions.CredentialRetrievalError as error: print(error)\n"
    )

    def run(job: str = "7", token: str = "t7") -> str:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://127.0.0.1:{server.server_address[1]}/v1/jobs/{job}",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": token,
        }
        command = [sys.executable, "-c", script]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout

    yield run
    server.shutdown()
    server.server_close()
    thread.join()


def register(program: ModuleType, job: str, **changes: Any) -> None:
    record = {"job": job, "uid": os.getuid(), "user": "alice", "account": "vision", "token": f"t{job}", **changes}
    Path(program.RECORDS, f"{job}.json").write_text(json.dumps(record))


def test_an_sdk_gets_credentials_of_the_jobs_class_once_for_all_processes(ask: Asks, source: Source) -> None:
    assert ask() == ask() == "ASIA1\n"
    assert source.sessions == [("7", "role/sandbox-job-internal")]


def test_a_session_is_replaced_after_half_of_its_duration(program: ModuleType) -> None:
    source = Source(seconds=900)
    credentials = program.Credentials(source, 1800)
    record = {"job": "7", "user": "alice", "token": "t7"}
    Path(program.RECORDS, "7.json").write_text("{}")
    answers = [credentials.of(record, "internal", "role/x")["AccessKeyId"] for _ in range(2)]
    assert answers == ["ASIA1", "ASIA2"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"job": "8", "token": "t7"}, "the process is in job 7, and the address is not that job's"),
        ({"job": "8", "token": "t8"}, "the process is in job 7, and the address is not that job's"),
        ({"job": "7?class=partner", "token": "t7"}, "the address is not that job's"),
        ({"job": "../../latest", "token": "t7"}, "the address is not that job's"),
        ({"job": "7", "token": "t8"}, "AWS_CONTAINER_AUTHORIZATION_TOKEN is not that of job 7"),
        ({"job": "7", "token": ""}, "AWS_CONTAINER_AUTHORIZATION_TOKEN is not that of job 7"),
    ],
)
def test_the_user_reads_why_a_request_is_refused(
    ask: Asks, program: ModuleType, source: Source, words: dict[str, str], text: str
) -> None:
    register(program, "8")
    assert text in ask(**words) and source.sessions == []


def test_a_job_of_another_user_is_refused(ask: Asks, program: ModuleType, source: Source) -> None:
    register(program, "7", uid=os.getuid() + 1)
    assert "job 7 is not a job of uid" in ask() and source.sessions == []


def test_after_its_end_a_job_gets_no_credentials(ask: Asks, program: ModuleType, source: Source) -> None:
    assert ask() == "ASIA1\n"
    Path(program.RECORDS, "7.json").unlink()
    assert "job 7 has ended" in ask() and len(source.sessions) == 1


def test_a_class_that_must_stay_on_prem_gets_a_reason(ask: Asks, program: ModuleType, source: Source) -> None:
    register(program, "7", account="secret")
    assert "data of class 'restricted' (account 'secret') may not be in AWS" in ask() and source.sessions == []


def test_a_profile_gives_the_credentials_of_its_process(program: ModuleType, tmp_path: Path) -> None:
    answer = {"Version": 1, "AccessKeyId": "ASIA9", "SecretAccessKey": "s", "SessionToken": "t", "Expiration": "e"}
    (tmp_path / "answer").write_text(json.dumps(answer))
    profiles = tmp_path / "config"
    profiles.write_text(f"[profile job-internal]\ncredential_process = cat '{tmp_path}/answer'\n")
    source = program.ProfileSource({"profiles": str(profiles)})
    given = source.credentials({}, "internal", "")
    assert (given["AccessKeyId"], given["Token"]) == ("ASIA9", "t")
    with pytest.raises(program.Refused, match="no AWS profile for data class 'partner'"):
        source.credentials({}, "partner", "")


def test_a_job_gets_the_object_stores_keys_of_its_class_only(ask: Asks, program: ModuleType, source: Source) -> None:
    assert "this node has no keys of an object store for data class 'internal'" in ask("7/store", "t7")
    keys = {"internal": "jobs-internal", "restricted": "jobs-restricted"}
    stored = {name: {"access_key": key, "secret_key": "s"} for name, key in keys.items()}
    Path(program.STORE).write_text(json.dumps(stored))
    assert ask("7/store", "t7") == "jobs-internal\n"
    register(program, "7", account="Secret")
    assert ask("7/store", "t7") == "jobs-restricted\n", "a class that may not be in AWS"
    assert "may not be in AWS" in ask("7", "t7") and source.sessions == []
    assert "is not that of job 7" in ask("7/store", "t8") and "not that job's" in ask("8/store", "t7")
    register(program, "7", account="lost")
    assert "no keys of an object store for data class 'nowhere'" in ask("7/store", "t7")
