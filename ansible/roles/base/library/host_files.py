#!/usr/bin/python
"""Ansible module for several directories and files of a host in one start of Python."""

from __future__ import annotations

DOCUMENTATION = """
module: host_files
short_description: Directories and files of a host
description:
  - Does for many paths what M(ansible.builtin.file), M(ansible.builtin.copy) and M(ansible.builtin.template) do for one.
    A loop over these starts Python twice on the host for each file; this module starts it once.
  - Creates O(directories), writes O(files), then removes the paths of O(absent), each in the order of its list.
  - A file is written beside its destination and then renamed. Programs read the old or the new one, with its final
    owner and mode.
  - An error of one path does not stop the others, except that no path of O(absent) is removed then. The module fails
    with all errors.
  - Every directory of a path is opened by its handle, and owner, mode and name are set on handles. A link is followed
    if it and all directories on the way to it belong to root and no other account may write in them. A link in a
    directory in which a user can write is refused, even if the user exchanges it during the run.
options:
  directories:
    type: list
    elements: dict
    default: []
    description: Directories. Missing parents are created with the same owner, group and mode.
    options: &entry
      path: {type: path, required: true, description: Absolute path.}
      mode: {type: raw, description: Permissions in octal. 0755 for a directory and 0644 for a file by default.}
      owner: {type: str, description: Owner. The present one stays by default.}
      group: {type: str, description: Group. The present one stays by default.}
  files:
    type: list
    elements: dict
    default: []
    description: Files. Their directories exist or are in O(directories).
    options:
      <<: *entry
      content: {type: str, required: true, description: Whole text of the file.}
      validate:
        type: str
        description: Command that must succeed before the file is replaced. Its C(%s) is the path of the new file.
  absent:
    type: list
    elements: path
    default: []
    description: Files and empty directories that are removed. A directory with content is an error.
  defer:
    type: bool
    default: false
    description: >-
      For paths in users' folders in a task with C(no_log). The task does not fail; O(report) of the next task has its result.
  report:
    type: dict
    default: {}
    description: >-
      Result of a task with O(defer). RV(refused) are printed as warnings; the module fails with RV(errors).
attributes: {check_mode: {support: full}, diff_mode: {support: full}}
author: landbridge
"""

EXAMPLES = """
- name: Ensure the files of the service
  host_files:
    directories:
      - {path: /etc/example}
    files:
      - path: /etc/example/settings.conf
        content: "{{ lookup('ansible.builtin.template', 'settings.conf.j2') }}"
      - path: /usr/local/bin/example
        content: "{{ lookup('ansible.builtin.file', 'example', rstrip=false) }}"
        mode: "0755"
  notify: Restart the service
"""

RETURN = """
changed_paths:
  description: Paths that were changed, created or removed.
  type: list
  returned: always
refused:
  description: Errors by the doing of users in their own folders, each with the owner and the path, without content.
  type: list
  returned: with O(defer)
errors:
  description: All other errors, without content.
  type: list
  returned: with O(defer)
"""

import contextlib
import errno
import grp
import os
import pwd
import secrets
import shlex
import stat
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

#: Accounts whose directories are followed.
TRUSTED = {0, os.geteuid()}
#: Errors of the host, which no user causes in their own folder.
HOST_ERRORS = {errno.EIO, errno.ENOSPC, errno.EPERM, errno.EROFS, errno.ESTALE}
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: Most bytes of a present file that are read; a longer one differs from a new text that is shorter.
READ_BYTES = 1 << 20


class Refused(ValueError):
    """Error: a validating command refuses the new text, a mode is not octal, or a directory is a user's link."""


class Directory(contextlib.AbstractContextManager["Directory"]):
    """Open directory of a path. `ours`: no other account can have led the way to it, or can replace what is in it.

    `in_public`: it is in a directory of root in which others may create directories, such as /var/tmp.
    With `create` missing directories of the path are created with the attributes of that entry.
    """

    def __init__(self, path: str, create: Mapping[str, Any] | None = None) -> None:
        self.handle, self.safe, self.in_public, links = os.open("/", DIRECTORY), True, False, 0
        names = path.split("/")[::-1]
        try:
            while names:
                name = names.pop()
                if name in ("", "."):
                    continue
                target = self._link(name, path)
                if target is None:
                    self._enter(name, create)
                    continue
                links += 1
                if links > 40:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                if target.startswith("/"):
                    self._replace(os.open("/", DIRECTORY))
                names += target.split("/")[::-1]
        except BaseException:
            os.close(self.handle)
            raise
        status = os.fstat(self.handle)
        self.ours = self.safe and not status.st_mode & 0o022

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of an entry, of a link itself; None if there is none."""
        try:
            return os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _link(self, name: str, path: str) -> str | None:
        status = self.status(name)
        if status is None or not stat.S_ISLNK(status.st_mode):
            return None
        if not self.safe or status.st_uid not in TRUSTED:
            raise Refused(f"{name} in {path} is a link that does not belong to root; remove it")
        return os.readlink(name, dir_fd=self.handle)

    def _enter(self, name: str, create: Mapping[str, Any] | None) -> None:
        is_new = create is not None and self.status(name) is None
        if is_new:
            os.mkdir(name, 0o700, dir_fd=self.handle)
        self.in_public = self.safe and bool(os.fstat(self.handle).st_mode & 0o022)
        self._replace(os.open(name, DIRECTORY, dir_fd=self.handle))
        if is_new:
            attributes(self.handle, create or {}, False)
        status = os.fstat(self.handle)
        # In a directory with the sticky bit nobody can replace what belongs to root.
        is_guarded = not status.st_mode & 0o022 or bool(status.st_mode & stat.S_ISVTX)
        self.safe = self.safe and status.st_uid in TRUSTED and is_guarded

    def _replace(self, handle: int) -> None:
        os.close(self.handle)
        self.handle = handle


def ids(entry: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the numbers of owner and group; None where the entry has none. Raises KeyError for no account of this host."""
    owner, group = entry.get("owner"), entry.get("group")
    uid = None if not owner else int(owner) if owner.isdigit() else pwd.getpwnam(owner).pw_uid
    return uid, None if not group else int(group) if group.isdigit() else grp.getgrnam(group).gr_gid


def ensure_directory(module: AnsibleModule, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Create a directory and set its attributes; return the differences."""
    try:
        with Directory(entry["path"]) as directory:
            owner = os.fstat(directory.handle).st_uid
            if directory.in_public and owner not in {*TRUSTED, ids(entry)[0]}:
                raise Refused(f"it belongs to the account {owner}, which may have created it; remove it")
            return named(entry["path"], attributes(directory.handle, entry, module.check_mode))
    except FileNotFoundError:
        if not module.check_mode:
            with Directory(entry["path"], entry):
                pass
        return [states(entry["path"], "absent", "directory")]


def ensure_file(module: AnsibleModule, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Write a file and set its attributes; return the differences."""
    path, content = entry["path"], entry["content"].encode()
    try:
        directory = Directory(os.path.dirname(path))
    except FileNotFoundError:
        if module.check_mode:
            return [content_difference(entry, b"")]
        raise
    with directory:
        name, changes, present = os.path.basename(path), [], None
        handle = open_file(directory, name)
        if handle is not None:
            with os.fdopen(handle, "rb") as file:
                present = file.read(max(READ_BYTES, len(content) + 1))
                is_same = present == content
                # A user may have linked another account's file to this name.
                in_place = is_same and (directory.ours or os.fstat(handle).st_nlink == 1)
                changes = named(path, attributes(handle, entry, module.check_mode or not in_place))
            if in_place or (is_same and not changes):
                return changes
        if not module.check_mode:
            write(module, directory, entry, content)
    return [content_difference(entry, present or b""), *changes]


def ensure_absent(module: AnsibleModule, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Remove a file or an empty directory; return the difference."""
    path = entry["path"]
    try:
        directory = Directory(os.path.dirname(path))
    except FileNotFoundError:
        return []
    with directory:
        name = os.path.basename(path)
        status = directory.status(name)
        if status is None:
            return []
        if not module.check_mode:
            (os.rmdir if stat.S_ISDIR(status.st_mode) else os.unlink)(name, dir_fd=directory.handle)
    return [states(path, "present", "absent")]


def open_file(directory: Directory, name: str) -> int | None:
    """Return a handle of a regular file; None for another kind of file, a link or nothing. A pipe does not block."""
    status = directory.status(name)
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory.handle)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None


def write(module: AnsibleModule, directory: Directory, entry: Mapping[str, Any], content: bytes) -> None:
    """Replace a file at once; the owner, group and mode are set before the file has its name."""
    name, new = os.path.basename(entry["path"]), f".ansible-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(new, flags, 0o600, dir_fd=directory.handle)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if entry["validate"]:
                place = shlex.quote(os.path.join(os.path.dirname(entry["path"]), new))
                status, output, errors = module.run_command(entry["validate"].replace("%s", place))
                if status != 0:
                    raise Refused(f"{entry['validate']} refuses the new text: {(errors or output).strip()}")
            present = directory.status(name)
            if present is not None:
                os.fchown(handle, present.st_uid, present.st_gid)
            attributes(handle, entry, False)
            os.fsync(handle)
        os.rename(new, name, src_dir_fd=directory.handle, dst_dir_fd=directory.handle)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new, dir_fd=directory.handle)
        raise


def attributes(handle: int, entry: Mapping[str, Any], check: bool) -> list[dict[str, Any]]:
    """Set owner, group and mode of an open file or directory; return the difference."""
    status, (uid, gid) = os.fstat(handle), ids(entry)
    try:
        mode = int(str(entry["mode"]), 8)
    except ValueError:
        raise Refused(f"mode {entry['mode']} is not octal") from None
    before = {"owner": status.st_uid, "group": status.st_gid, "mode": f"{stat.S_IMODE(status.st_mode):04o}"}
    after: dict[str, Any] = {
        "owner": status.st_uid if uid is None else uid,
        "group": status.st_gid if gid is None else gid,
        "mode": f"{mode:04o}",
    }
    if before == after:
        return []
    if not check:
        os.fchown(handle, after["owner"], after["group"])
        os.fchmod(handle, mode)
    keys = [key for key in before if before[key] != after[key]]
    return [{"before": {key: before[key] for key in keys}, "after": {key: after[key] for key in keys}}]


def named(path: str, differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return differences with the path in their headers."""
    return [{**difference, "before_header": path, "after_header": path} for difference in differences]


def content_difference(entry: Mapping[str, Any], present: bytes) -> dict[str, Any]:
    """Return the difference between the present and the new text of a file."""
    texts = {"before": present.decode(errors="replace"), "after": entry["content"]}
    return named(entry["path"], [texts])[0]


def states(path: str, before: str, after: str) -> dict[str, Any]:
    """Return the difference between two states of a path."""
    return {"before": {"state": before}, "after": {"state": after}, "before_header": path, "after_header": path}


def main() -> None:
    entry = {
        "path": {"type": "path", "required": True},
        "mode": {"type": "raw"},
        "owner": {"type": "str"},
        "group": {"type": "str"},
    }
    content = {"content": {"type": "str", "required": True}, "validate": {"type": "str"}}
    module = AnsibleModule(
        argument_spec={
            "directories": {"type": "list", "elements": "dict", "default": [], "options": entry},
            "files": {"type": "list", "elements": "dict", "default": [], "options": {**entry, **content}},
            "absent": {"type": "list", "elements": "path", "default": []},
            "defer": {"type": "bool", "default": False},
            "report": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
        # The journal of the host would get the content of every file.
        no_log=True,
    )
    for text in module.params["report"].get("refused", []):
        module.warn(text)
    differences: list[dict[str, Any]] = []
    errors: list[str] = list(module.params["report"].get("errors", []))
    refused: list[str] = []
    steps: list[tuple[Callable[..., list[dict[str, Any]]], Mapping[str, Any]]] = [
        *((ensure_directory, {**entry, "mode": entry["mode"] or "0755"}) for entry in module.params["directories"]),
        *((ensure_file, {**entry, "mode": entry["mode"] or "0644"}) for entry in module.params["files"]),
        *((ensure_absent, {"path": path}) for path in module.params["absent"]),
    ]
    for ensure, entry in steps:
        # The old file stays if the file that replaces it could not be written.
        if ensure is ensure_absent and errors:
            break
        try:
            ids(entry)
        except KeyError as error:
            # With --check an earlier task may not have created the account.
            if module.check_mode:
                differences.append(states(entry["path"], str(error.args[0]), "owner is set"))
            else:
                errors.append(f"{entry['path']}: {error.args[0]}")
            continue
        try:
            differences += ensure(module, entry)
        except (OSError, Refused) as error:
            text = f"{entry['path']}: {getattr(error, 'strerror', None) or error}"
            is_users = module.params["defer"] and getattr(error, "errno", None) not in HOST_ERRORS
            (refused if is_users else errors).append(f"{entry.get('owner')}: {text}" if is_users else text)
    paths = sorted({difference["after_header"] for difference in differences})
    # The result has no content of unchanged files.
    result = {"changed": bool(paths), "changed_paths": paths, "diff": differences, "invocation": {}}
    if module.params["defer"]:
        result |= {"refused": refused, "errors": errors}
    elif errors:
        module.fail_json(msg="; ".join(errors), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
