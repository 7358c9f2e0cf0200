"""A user who works in their own folder while root writes there with host_files."""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.roles.base.test_host_files import mode, run

USER = 12345


def exchange_file(folder: Path, target: Path) -> None:
    """Exchange each temporary file for a link to a file of root, for ever."""
    seen = set()
    while True:
        for name in os.listdir(folder):
            if name.startswith(".ansible-") and name not in seen:
                seen.add(name)
                with contextlib.suppress(OSError):
                    os.rename(folder / name, folder / ".swapped")
                    os.symlink(target, folder / name)
                    (folder / "won").touch()


def exchange_folder(folder: Path, target: Path) -> None:
    """Exchange the folder for a link to a folder of root and back, for ever."""
    while True:
        os.rename(folder, folder.with_name("aside"))
        os.symlink(target, folder)
        os.unlink(folder)
        os.rename(folder.with_name("aside"), folder)


@pytest.fixture
def home() -> Iterator[Path]:
    """Home of a user that the user can reach, beside files of root."""
    folder = Path(tempfile.mkdtemp(prefix="landbridge-home-"))
    folder.chmod(0o755)
    home = folder / "alice"
    (home / ".mlflow").mkdir(parents=True)
    for path in (home, home / ".mlflow"):
        os.chown(path, USER, USER)
    yield home
    shutil.rmtree(folder)


@contextlib.contextmanager
def attack(program: Callable[[Path, Path], None], folder: Path, target: Path) -> Iterator[None]:
    """Run a function in a process of the user while the body runs."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
        try:
            program(folder, target)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def credentials(home: Path, text: str = "secret\n", **options: Any) -> dict[str, Any]:
    """Return the arguments with which the role mlflow writes a user's credentials."""
    owner = {"owner": str(USER), "group": str(USER)}
    return {
        "directories": [{"path": str(home / ".mlflow"), "mode": "0700", **owner}],
        "files": [{"path": str(home / ".mlflow/credentials"), "mode": "0600", "content": text, **owner}],
        **options,
    }


def test_a_user_who_exchanges_the_temporary_file_becomes_owner_of_no_other_file(home: Path) -> None:
    canary, folder = home.parent / "shadow", home / ".mlflow"
    canary.write_text("root's\n")
    canary.chmod(0o600)
    with attack(exchange_file, folder, canary):
        for number in range(40):
            run(**credentials(home, f"secret {number}\n"))
            assert (canary.stat().st_uid, mode(canary), canary.read_text()) == (0, 0o600, "root's\n")
            if number >= 5 and (folder / "won").exists():
                break
    assert (folder / "won").exists(), "the attack was never fast enough: this run shows nothing"


def test_a_user_who_exchanges_the_folder_leads_root_nowhere(home: Path) -> None:
    target = home.parent / "etc"
    target.mkdir(mode=0o755)
    with attack(exchange_folder, home / ".mlflow", target):
        for number in range(12):
            run(**credentials(home, f"secret {number}\n"))
            assert (list(target.iterdir()), target.stat().st_uid, mode(target)) == ([], 0, 0o755)


def test_no_link_in_a_users_folder_is_followed_whoever_owns_it(home: Path) -> None:
    target = home.parent / "etc"
    target.mkdir(mode=0o755)
    (home / ".mlflow").rmdir()
    # The user may have renamed a link of root that was in the home.
    (home / ".mlflow").symlink_to(target)
    result = run(**credentials(home))
    assert result["msg"].count("is a link that does not belong to root") == 2
    assert (list(target.iterdir()), target.stat().st_uid) == ([], 0)


def test_links_of_root_are_followed_to_the_users_home(home: Path) -> None:
    (home.parent / "homes").symlink_to(".")
    (home.parent / "absolute").symlink_to(home.parent / "homes")
    assert run(**credentials(home.parent / "absolute/alice"))["changed"] is True
    assert (home / ".mlflow/credentials").read_text() == "secret\n"
    assert run(**credentials(home.parent / "absolute/alice"))["changed"] is False


def test_another_accounts_file_that_a_user_linked_stays_theirs(home: Path) -> None:
    other, file = home.parent / "other", home / ".mlflow/credentials"
    other.write_text("secret\n")
    os.link(other, file)
    assert run(**credentials(home))["changed"] is True
    assert (other.stat().st_uid, file.stat().st_uid, other.stat().st_nlink) == (0, USER, 1)


def test_a_folder_that_another_account_made_in_a_public_folder_is_refused(home: Path) -> None:
    public = home.parent / "tmp"
    public.mkdir()
    public.chmod(0o1777)
    (public / "source").mkdir()
    os.chown(public / "source", USER, USER)
    result = run(directories=[{"path": str(public / "source")}])
    assert "belongs to" in result["msg"]
    assert run(directories=[{"path": str(public / "source"), "owner": str(USER)}])["changed"] is False


@pytest.mark.parametrize("kind", ["folder", "link", "pipe in the way", "loop"])
def test_a_users_own_folder_is_a_warning_with_the_users_name(home: Path, kind: str) -> None:
    folder = home / ".mlflow"
    if kind == "folder":
        (folder / "credentials/x").mkdir(parents=True)
    else:
        folder.rmdir()
        if kind == "pipe in the way":
            os.mkfifo(folder)
        else:
            folder.symlink_to("/tmp" if kind == "link" else ".mlflow")
            os.chown(folder, USER, USER, follow_symlinks=False)
    bob = home.parent / "bob"
    both = credentials(home, "secret of alice\n", defer=True)
    for key in ("directories", "files"):
        both[key] += credentials(bob)[key]
    result = run(**both)
    assert "failed" not in result
    assert (bob / ".mlflow/credentials").read_text() == "secret\n"
    assert result["refused"]
    assert all(text.startswith(f"{USER}: {folder}") and "secret" not in text for text in result["refused"])
    printed = run(report=result)["warnings"]
    assert [each if isinstance(each, str) else each["event"]["msg"] for each in printed] == result["refused"]


@pytest.mark.parametrize("kind", ["huge", "pipe"])
def test_a_huge_file_or_a_pipe_of_a_user_is_replaced(home: Path, kind: str) -> None:
    file = home / ".mlflow/credentials"
    if kind == "pipe":
        os.mkfifo(file)
    else:
        with file.open("wb") as stream:
            stream.truncate(3 << 40)
    assert run(**credentials(home))["changed"] is True
    assert file.read_text() == "secret\n"


def test_an_error_of_the_host_fails_it_in_the_task_that_may_print_it(home: Path) -> None:
    arguments = credentials(home, defer=True)
    arguments["files"][0]["owner"] = "nosuchaccount"
    result = run(**arguments)
    assert "failed" not in result
    assert (result["refused"], len(result["errors"])) == ([], 1)
    assert "nosuchaccount" in run(report=result)["msg"]
