"""The program around a job, with environments as Slurm gives them: whose processes it ends, which GPUs it asks for, what drains."""

import importlib.machinery
import importlib.util
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.roles.jobs.job_node import ADDRESSES, RECORDED, Node

PATH = Path(__file__).parents[3] / "ansible/roles/slurm_controller/files/landbridge-job"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("landbridge_job", str(PATH))
    spec = importlib.util.spec_from_loader("landbridge_job", loader)
    assert spec is not None
    found = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
    loader.exec_module(found)
    sys.dont_write_bytecode = kept
    return found


@pytest.fixture
def node(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.setattr(module, "SETTINGS", str(tmp_path / "job.json"))
    monkeypatch.setattr(module, "FAILED", str(tmp_path / "run/job.failed"))
    monkeypatch.setattr(module, "SEARCHED", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("PATH", "")
    return Node(module, tmp_path)


Spawn = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Processes of a user's, as jobs start them: what names the job is in their environment."""
    started: list[subprocess.Popen[bytes]] = []

    def start(job: str | None, *words: str, uid: int = 65533) -> subprocess.Popen[bytes]:
        environ = {"PATH": "/usr/bin:/bin", **({"SLURM_JOB_ID": job} if job else {})}
        started.append(subprocess.Popen(words or ("sleep", "600"), env=environ, user=uid, group=65533))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


def test_a_job_gets_an_empty_folder_that_is_its_users_alone(node: Node) -> None:
    (node.root / "7").mkdir(parents=True)
    (node.root / "7/of-an-older-job").touch()
    assert node.run("prolog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GID="65533") == 0
    found = os.stat(node.root / "7")
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o700, 65533, 65533)
    assert os.listdir(node.root / "7") == ["tmp"]
    assert stat.S_IMODE(os.stat(node.root).st_mode) == 0o755


def test_tasks_are_told_of_the_folder_where_there_is_one(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    assert node.run("prolog_task") == 0
    assert capsys.readouterr().out == ""
    node.run("prolog_slurmd", SLURM_JOB_GID="0")
    assert node.run("prolog_task", SLURM_JOB_GPUS=None, SLURM_JOB_UID=None) == 0
    assert capsys.readouterr().out == f"export SCRATCH={node.root}/7\nexport TMPDIR={node.root}/7/tmp\n"


def test_the_folder_goes_and_what_it_links_to_stays(node: Node, tmp_path: Path) -> None:
    other = tmp_path / "of-somebody"
    other.mkdir()
    (other / "file").touch()
    node.run("prolog_slurmd", SLURM_JOB_GID="0")
    (node.root / "8").mkdir()
    (node.root / "7/link").symlink_to(other)
    assert node.run("epilog_slurmd") == 0
    assert os.listdir(node.root) == ["8"] and (other / "file").exists()
    assert node.run("epilog_slurmd") == 0, "an epilog may run twice"


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (lambda node: node.settings.update(mount=str(node.folder)), "scratch: nothing is mounted on"),
        (lambda node: (node.root.mkdir(), node.root.chmod(0o777)), "only root may write to"),
        (lambda node: node.root.symlink_to(node.folder), "only root may write to"),
        (lambda node: node.settings.update(roots="/x"), "settings: {settings} has unknown keys: roots"),
    ],
)
def test_what_keeps_a_job_from_starting_drains_the_node_and_says_why(
    node: Node, breaks: Callable[[Node], Any], says: str
) -> None:
    breaks(node)
    assert node.run("prolog_slurmd") == 1
    assert (
        node.failed.startswith("landbridge:prolog:") and says.format(settings=f"{node.folder}/job.json") in node.failed
    )


def test_a_users_own_folder_is_made_once_and_stays(node: Node) -> None:
    where = node.folder / "images"
    node.settings["user_folders"] = [str(where)]
    assert node.run("prolog_slurmd") == 0
    own = where / str(os.getuid())
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    (own / "image").write_text("kept")
    assert node.run("epilog_slurmd") == node.run("prolog_slurmd") == 0
    assert (own / "image").read_text() == "kept"


def test_tasks_are_told_of_the_users_folder_in_memory(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    node.settings["runtime"] = str(node.folder / "users")
    assert node.run("prolog_slurmd") == node.run("prolog_task") == 0
    assert f"export XDG_RUNTIME_DIR={node.folder}/users/{os.getuid()}\n" in capsys.readouterr().out
    assert (node.folder / f"users/{os.getuid()}").stat().st_uid == os.getuid()


def test_the_folder_in_memory_goes_with_the_users_last_job(node: Node) -> None:
    node.settings["runtime"] = str(node.folder / "users")
    own = node.folder / f"users/{os.getuid()}"
    assert node.run("prolog_slurmd") == node.run("prolog_slurmd", SLURM_JOB_ID="8") == 0
    assert node.run("epilog_slurmd") == 0 and own.is_dir()
    assert node.run("epilog_slurmd", SLURM_JOB_ID="8") == 0 and not own.exists()


def test_a_users_own_folder_is_not_made_where_others_may_write(node: Node) -> None:
    where = node.folder / "images"
    where.mkdir()
    where.chmod(0o777)
    node.settings["user_folders"] = [str(where)]
    assert node.run("prolog_slurmd") == 1
    assert node.failed.startswith("landbridge:prolog:folders: ")
    assert list(where.iterdir()) == []


def test_the_next_job_that_starts_ends_an_old_complaint(node: Node) -> None:
    node.settings["mount"] = str(node.folder)
    assert node.run("prolog_slurmd", SLURM_JOB_GID="0") == 1
    assert node.failed
    del node.settings["mount"]
    assert node.run("prolog_slurmd", SLURM_JOB_GID="0") == 0
    assert not node.failed


def test_deepops_992_only_this_jobs_processes_end(node: Node, spawn: Spawn) -> None:
    own, others, nobodys, roots = spawn("7"), spawn("70"), spawn(None), spawn("7", uid=0)
    assert node.run("epilog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GPUS=None) == 0
    assert own.wait(2) == -signal.SIGTERM
    assert [one.poll() for one in (others, nobodys, roots)] == [None, None, None]


def test_a_process_that_will_not_end_is_ended(node: Node, spawn: Spawn) -> None:
    own = spawn("7", "sh", "-c", "trap '' TERM; exec sleep 600")
    until = time.monotonic() + 10
    while time.monotonic() < until and not _ignores_term(own.pid):
        time.sleep(0.02)
    assert node.run("epilog_slurmd", SLURM_JOB_UID="65533", SLURM_JOB_GPUS=None) == 0
    assert own.wait(2) == -signal.SIGKILL


def _ignores_term(pid: int) -> bool:
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("SigIgn")]
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
def test_control_groups_say_whose_a_process_is(module: ModuleType, text: str, jobs: set[str]) -> None:
    assert module.jobs_of(text) == jobs


def test_gpus_are_asked_for_by_their_place_on_the_bus_and_no_others(node: Node) -> None:
    node.smi()
    assert node.run("epilog_slurmd") == 0
    ids = "00000000:43:00.0,00000000:52:00.0"
    assert node.asked == [f"-i {ids} --reset-gpu-clocks", f"-i {ids} --reset-memory-clocks"]


def test_deepops_936_a_job_with_every_gpu_has_them_reset_and_no_other_job_has(node: Node) -> None:
    node.smi()
    node.settings["gpu_reset"] = True
    assert node.run("epilog_slurmd") == 0
    assert not any("--gpu-reset" in one for one in node.asked)
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS="0,1,2,3") == 0
    assert node.asked[-1] == f"-i {','.join(ADDRESSES)} --gpu-reset"


def test_a_job_without_gpus_asks_nobody_and_parts_of_gpus_are_left_alone(node: Node) -> None:
    node.smi()
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS=None) == 0
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS="MIG-5c89852c-d268-5d52-84e6-f0e4e1e7f2a5") == 0
    assert node.asked == []


def test_a_node_without_nvidia_smi_says_so_and_goes_on(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    assert node.run("epilog_slurmd") == 0
    assert "no nvidia-smi on this node: nothing is restored on GPUs 2,3" in capsys.readouterr().err
    assert node.failed == ""


@pytest.mark.parametrize(
    ("does", "gpus", "says"),
    [
        (
            "echo 'Unable to determine the device handle: GPU is lost'; exit 15",
            "2",
            "ended with 15: Unable to determine",
        ),
        ("exec sleep 60", "2", "did not end within 0.3 s"),
        ("exit 0", "2,9", "the driver has no GPU 9 any more"),
    ],
)
def test_a_gpu_that_does_not_answer_drains_the_node(node: Node, does: str, gpus: str, says: str) -> None:
    node.smi(does)
    node.settings["gpu_timeout"] = 0.3
    node.run("prolog_slurmd", SLURM_JOB_GID="0")
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS=gpus) == 1
    assert node.failed.startswith("landbridge:epilog:gpu: ") and says in node.failed
    assert os.listdir(node.root) == [], "the rest is done all the same"


def test_what_a_gpu_does_not_know_is_no_fault_of_the_node(node: Node) -> None:
    node.smi("echo 'Setting memory clocks is not supported for GPU 00000000:43:00.0.'; exit 3")
    assert node.run("epilog_slurmd") == 0


def test_deepops_919_it_runs_without_any_environment_but_slurms(tmp_path: Path) -> None:
    environ = {**RECORDED, "SLURM_SCRIPT_CONTEXT": "prolog_task"}
    done = subprocess.run([PATH], env=environ, capture_output=True, text=True, cwd="/", timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = PATH.read_text()
    assert not any(f'"{word}"' in text for word in ("scontrol", "squeue", "sinfo", "sacct")), "no Slurm command"
    done = subprocess.run([PATH], env={}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1 and "no such context" in done.stderr
