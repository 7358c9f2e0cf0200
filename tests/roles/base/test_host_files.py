"""Directories and files of a host by one start of a module."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
MODULE = ROOT / "ansible/roles/base/library/host_files.py"


def run(check: bool = False, **arguments: Any) -> dict[str, Any]:
    """Run the module as Ansible does."""
    completed = subprocess.run(
        [sys.executable, str(MODULE)],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {**arguments, "_ansible_check_mode": check, "_ansible_diff": True}}),
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(json.loads(completed.stdout))


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_directories_and_files_are_created_once(tmp_path: Path) -> None:
    folder, settings, program = tmp_path / "a/b", tmp_path / "a/b/settings", tmp_path / "a/program"
    arguments = {
        "directories": [{"path": str(folder)}, {"path": str(tmp_path / "private"), "mode": "0700"}],
        "files": [
            {"path": str(settings), "content": "größe = 1\n", "mode": "0600"},
            {"path": str(program), "content": "#!/bin/sh\n", "mode": "0755"},
        ],
    }
    paths = sorted(map(str, (folder, settings, program, tmp_path / "private")))
    assert run(check=True, **arguments)["changed_paths"] == paths
    assert list(tmp_path.iterdir()) == []
    assert run(**arguments)["changed_paths"] == paths
    assert settings.read_text() == "größe = 1\n"
    assert [mode(path) for path in (folder, tmp_path / "private", settings, program)] == [0o755, 0o700, 0o600, 0o755]
    assert run(**arguments) == {"changed": False, "changed_paths": [], "diff": [], "invocation": {}}
    assert sorted(path.name for path in folder.iterdir()) == ["settings"]


def test_new_parents_have_the_mode_of_their_directory_with_any_umask(tmp_path: Path) -> None:
    directory = tmp_path / "a/b/c"
    present = os.umask(0o077)
    try:
        result = run(directories=[{"path": str(directory)}], files=[{"path": str(directory / "file"), "content": "\n"}])
    finally:
        os.umask(present)
    assert result["changed_paths"] == [str(directory), str(directory / "file")]
    assert [mode(path) for path in (tmp_path / "a", tmp_path / "a/b", directory)] == [0o755] * 3
    assert mode(directory / "file") == 0o644


def test_only_the_file_with_another_content_or_mode_changes(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for path in (first, second, third):
        path.write_text("same\n")
        path.chmod(0o644)
    second.chmod(0o600)
    numbers = [path.stat().st_ino for path in (first, second, third)]
    files = [{"path": str(path), "content": "same\n"} for path in (first, second)]
    files.append({"path": str(third), "content": "other\n"})
    planned, result = run(check=True, files=files), run(files=files)
    assert planned["changed_paths"] == result["changed_paths"] == [str(second), str(third)]
    assert planned["diff"] == result["diff"]
    assert {"before": "same\n", "after": "other\n", "before_header": str(third), "after_header": str(third)} in result[
        "diff"
    ]
    assert [path.read_text() for path in (first, second, third)] == ["same\n", "same\n", "other\n"]
    # A written file is a new one, an unchanged file stays open in programs that read it.
    assert [path.stat().st_ino == number for path, number in zip((first, second, third), numbers, strict=True)] == [
        True,
        True,
        False,
    ]


def test_the_owner_stays_unless_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old\n")
    os.chown(path, 12345, 54321)
    run(files=[{"path": str(path), "content": "new\n"}])
    assert (path.read_text(), path.stat().st_uid, path.stat().st_gid) == ("new\n", 12345, 54321)
    result = run(files=[{"path": str(path), "content": "new\n", "owner": "root", "group": "root"}])
    assert (result["changed"], path.stat().st_uid, path.stat().st_gid) == (True, 0, 0)


def test_a_link_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("text\n")
    link.symlink_to(target)
    assert run(files=[{"path": str(link), "content": "text\n"}])["changed"] is True
    assert not link.is_symlink()
    assert run(files=[{"path": str(link), "content": "text\n"}])["changed"] is False


def test_a_users_link_leads_root_to_no_other_directory(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.mkdir(mode=0o755)
    link.symlink_to(target)
    arguments = {
        "directories": [{"path": str(link), "owner": "12345", "mode": "0700"}],
        "files": [{"path": str(link / "credentials"), "content": "secret\n", "owner": "12345"}],
    }
    os.chown(link, 12345, 12345, follow_symlinks=False)
    result = run(**arguments)
    assert (result["failed"], result["changed"], list(target.iterdir())) == (True, False, [])
    assert result["msg"].count("is a link that does not belong to root") == 2
    assert (target.stat().st_uid, mode(target)) == (0, 0o755)
    # The host's administrator may have linked a directory.
    os.chown(link, 0, 0, follow_symlinks=False)
    assert "failed" not in run(**arguments)
    assert (target.stat().st_uid, mode(target), (target / "credentials").read_text()) == (12345, 0o700, "secret\n")


def test_absent_paths_are_removed(tmp_path: Path) -> None:
    file, folder, full = tmp_path / "file", tmp_path / "folder", tmp_path / "full"
    file.write_text("")
    folder.mkdir()
    (full / "content").mkdir(parents=True)
    paths = [str(file), str(folder), str(tmp_path / "nothing")]
    assert run(check=True, absent=paths)["changed_paths"] == [str(file), str(folder)]
    result = run(absent=paths)
    assert (result["changed_paths"], file.exists(), folder.exists()) == ([str(file), str(folder)], False, False)
    assert run(absent=paths)["changed"] is False
    result = run(absent=[str(full)])
    assert result["failed"] is True
    assert (full / "content").is_dir()
    assert result["msg"].startswith(f"{full}: ")


def test_a_refused_text_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old\n")
    refused = run(files=[{"path": str(path), "content": "bad\n", "validate": "/bin/grep good %s"}])
    assert refused["failed"] is True
    assert "/bin/grep good %s refuses the new text" in refused["msg"]
    assert (path.read_text(), [entry.name for entry in tmp_path.iterdir()]) == ("old\n", ["file"])
    assert run(files=[{"path": str(path), "content": "good\n", "validate": "/bin/grep good %s"}])["changed"] is True


def test_an_error_stops_no_other_path_and_all_errors_are_named(tmp_path: Path) -> None:
    (tmp_path / "folder/x").mkdir(parents=True)
    paths = [tmp_path / name for name in ("missing/file", "folder", "strange", "good")]
    files = [{"path": str(path), "content": "text\n"} for path in paths]
    files[2]["owner"] = "nosuchaccount"
    # With --check a host that has no package yet has no account of it.
    assert run(check=True, files=files[2:3])["changed_paths"] == [str(paths[2])]
    old = tmp_path / "old"
    old.write_text("")
    result = run(files=files, absent=[str(old)])
    assert (result["failed"], result["changed"], result["changed_paths"]) == (True, True, [str(paths[3])])
    assert [error.partition(": ")[0] for error in result["msg"].split("; ")] == [str(path) for path in paths[:3]]
    assert "nosuchaccount" in result["msg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "good", "old"]
