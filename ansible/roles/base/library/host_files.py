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
  - A directory that is a link is followed if the link belongs to root, and refused otherwise.
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
"""

import grp
import os
import pwd
import shlex
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule


class Refused(ValueError):
    """Error: a validating command refuses the new text, an account does not exist, or a directory is a user's link."""


def missing_account(entry: Mapping[str, Any]) -> str:
    """Return why the owner or group is not an account of this host, or an empty text."""
    try:
        if entry.get("owner") and not entry["owner"].isdigit():
            pwd.getpwnam(entry["owner"])
        if entry.get("group") and not entry["group"].isdigit():
            grp.getgrnam(entry["group"])
    except KeyError as error:
        return str(error.args[0])
    return ""


def check_links(path: str) -> None:
    """Raise Refused if the directory is a link of a user, who could lead root's writes and owners to any place."""
    if os.path.islink(path) and os.lstat(path).st_uid != 0:
        raise Refused(f"{path} is a link that does not belong to root; remove it")


def ensure_directory(module: AnsibleModule, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Create a directory and set its attributes; return the differences."""
    check_links(entry["path"])
    path = os.path.realpath(entry["path"])
    if os.path.isdir(path):
        return attributes(module, path, entry)
    if not module.check_mode:
        parents = [path]
        while not os.path.isdir(os.path.dirname(parents[-1])):
            parents.append(os.path.dirname(parents[-1]))
        for missing in reversed(parents):
            os.mkdir(missing)
            attributes(module, missing, entry)
    return [states(path, "absent", "directory")]


def ensure_file(module: AnsibleModule, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Write a file and set its attributes; return the differences."""
    path, content = entry["path"], entry["content"].encode()
    check_links(os.path.dirname(path))
    present = read(path)
    if present == content:
        return attributes(module, path, entry)
    if not module.check_mode:
        write(module, path, content, entry)
    difference: dict[str, Any] = {
        "before": (present or b"").decode(errors="replace"),
        "after": entry["content"],
        "before_header": path,
        "after_header": path,
    }
    return [difference, *attributes(module, path, entry)] if os.path.exists(path) else [difference]


def ensure_absent(module: AnsibleModule, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Remove a file or an empty directory; return the difference."""
    path = entry["path"]
    if not os.path.lexists(path):
        return []
    if not module.check_mode:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    return [states(path, "present", "absent")]


def read(path: str) -> bytes | None:
    """Return the content of a regular file; None for another kind of file, a link or nothing."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def write(module: AnsibleModule, path: str, content: bytes, entry: Mapping[str, Any]) -> None:
    """Replace a file at once; the owner, group and mode are set before the file has its name."""
    handle, new = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".ansible-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if entry["validate"]:
            status, output, errors = module.run_command(entry["validate"].replace("%s", shlex.quote(new)))
            if status != 0:
                raise Refused(f"{entry['validate']} refuses the new text: {(errors or output).strip()}")
        if os.path.lexists(path):
            present = os.lstat(path)
            os.chown(new, present.st_uid, present.st_gid)
        attributes(module, new, entry)
        os.rename(new, path)
    except BaseException:
        os.unlink(new)
        raise


def attributes(module: AnsibleModule, path: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Set owner, group, mode and the default SELinux context of a path; return the difference."""
    difference: dict[str, Any] = {"before": {}, "after": {}}
    arguments = module.load_file_common_arguments(entry, path)
    if module.set_fs_attributes_if_different(arguments, False, difference, expand=False):
        return [{**difference, "before_header": path, "after_header": path}]
    return []


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
        },
        supports_check_mode=True,
        # The journal of the host would get the content of every file.
        no_log=True,
    )
    differences: list[dict[str, Any]] = []
    errors = []
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
            missing = missing_account(entry)
            if missing and not module.check_mode:
                raise Refused(missing)
            # With --check an earlier task may not have created the account.
            differences += [states(entry["path"], missing, "owner is set")] if missing else ensure(module, entry)
        except (OSError, Refused) as error:
            errors.append(f"{entry['path']}: {getattr(error, 'strerror', None) or error}")
    paths = sorted({difference["after_header"] for difference in differences})
    # The result has no content of unchanged files.
    result = {"changed": bool(paths), "changed_paths": paths, "diff": differences, "invocation": {}}
    if errors:
        module.fail_json(msg="; ".join(errors), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
