#!/usr/bin/python
"""Ansible module that checks a mount point: no other mount is replaced, and no home directory is hidden."""

from __future__ import annotations

import ctypes
import os
import pwd

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: nfs_mount_point
short_description: Make a folder safe to mount over
description:
  - Fails without changes if another file system is mounted on the folder.
  - Fails if homes of local accounts would be hidden, in particular that of the account with which Ansible logs in. With
    O(homes) they are copied there instead, and the accounts' homes are changed. The originals stay below the mount.
  - With O(options), an existing mount is remounted with these options; options that it rejects give a warning.
options:
  path: {description: The folder., type: path, required: true}
  source: {description: The file system to mount in the form that mount shows., type: str, required: true}
  accounts:
    description: Accounts whose homes are on the mount; their folders on this host may be hidden.
    type: list
    elements: str
    default: []
  homes: {description: Folder to which the homes of other accounts are copied; empty means that the module fails instead., type: str, default: ""}
  most_mib: {description: Largest size in MiB of a home that is copied., type: int, default: 1024}
  options: {description: Options with which an existing mount is remounted; empty means no remount., type: str, default: ""}
  passwd: {description: File of accounts., type: path, default: /etc/passwd}
author: [landbridge]
"""
RETURN = """
mounted: {description: Whether the source is mounted there., type: bool, returned: success}
moved: {description: Accounts whose homes were moved., type: list, returned: success}
hidden: {description: Other entries of the folder that the mount will hide., type: list, returned: success}
"""
MIB = 2**20


class Refused(Exception):
    """Error before any change."""


def mounted(path, table="/proc/self/mounts"):
    """Return the source of the last mount on `path`, or None. An autofs mount (a trigger) does not count."""
    mount_source = None
    with open(table, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            source, folder, kind = line.split(" ")[:3]
            if unescaped(folder) == path and kind != "autofs":
                mount_source = unescaped(source)
    return mount_source


def is_folder(source, path):
    """Return whether `path` is a bind mount of the folder `source`: the mount table contains only its file system."""
    return os.path.isabs(source) and os.path.isdir(source) and os.path.samefile(source, path)


def unescaped(text):
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def homes_below(path, accounts, passwd):
    """Return [(account, home)] of local accounts, except `accounts`, whose homes exist below `path`."""
    local_homes = []
    with open(passwd, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            parts = line.rstrip("\n").split(":")
            if len(parts) == 7 and parts[0] not in accounts:
                home = os.path.normpath(parts[5])
                if home.startswith(path.rstrip("/") + "/") and os.path.isdir(home):
                    local_homes.append((parts[0], home))
    return local_homes


def operator():
    """Return the name of the account that logged in, before sudo; "" if it is unknown."""
    try:
        with open("/proc/self/loginuid", encoding="ascii") as file:
            number = int(file.read())
    except (OSError, ValueError):
        number = -1
    if number in (-1, 2**32 - 1):
        number = int(os.environ.get("SUDO_UID", os.getuid()))
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return ""


def size(folder):
    """Return the bytes in a folder, without mounts in it."""
    device, total = os.lstat(folder).st_dev, 0
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.lstat(os.path.join(parent, name)).st_dev == device]
        total += sum(os.lstat(os.path.join(parent, name)).st_size for name in files)
    return total


def rewrite(passwd, homes):
    """Set new homes of accounts, as usermod does, but also for those that are logged in. `homes` is by account."""
    libc = ctypes.CDLL(None)
    # The lock of all programs that change accounts. It waits up to 15 seconds.
    if libc.lckpwdf() != 0:
        raise Refused("another program is changing %s" % passwd)
    try:
        with open(passwd, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
        temporary, status = passwd + ".landbridge", os.stat(passwd)
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as file:
            os.fchmod(file.fileno(), status.st_mode & 0o7777)
            os.fchown(file.fileno(), status.st_uid, status.st_gid)
            for line in lines:
                parts = line.split(":")
                if len(parts) == 7 and parts[0] in homes:
                    parts[5] = homes[parts[0]]
                file.write(":".join(parts))
        os.replace(temporary, passwd)
    finally:
        libc.ulckpwdf()


def move(module, local_homes, params):
    """Copy each home, then set the accounts' new homes. A copy of an earlier run stays unchanged."""
    os.makedirs(params["homes"], mode=0o755, exist_ok=True)
    homes = {}
    for name, home in local_homes:
        target = os.path.join(params["homes"], name)
        if not os.path.lexists(target):
            partial = target + ".part"
            module.run_command(["rm", "-rf", partial], check_rc=True)
            module.run_command(["cp", "--archive", "--one-file-system", "-T", home, partial], check_rc=True)
            os.rename(partial, target)
        homes[name] = target
    rewrite(params["passwd"], homes)


def work(module, params):
    """Return the module's result. Raises Refused."""
    path = os.path.normpath(params["path"])
    present_source = mounted(path)
    if present_source is not None:
        if present_source.rstrip("/") != params["source"].rstrip("/") and not is_folder(params["source"], path):
            raise Refused(
                "%s is mounted on %s, and %s is wanted there: files may be open, so nothing was changed. Drain the host, "
                "end that mount, and run this again" % (present_source, path, params["source"])
            )
        return {"changed": False, "mounted": True, "moved": [], "hidden": []}
    local_homes = homes_below(path, params["accounts"], params["passwd"])
    names = [name for name, _ in local_homes]
    if local_homes and not params["homes"]:
        login_account = operator()
        accounts = ", ".join(
            "%s (with which you are logged in)" % name if name == login_account else name for name in names
        )
        raise Refused(
            "homes of accounts of this host are in %s and would be out of reach: %s. Nothing was mounted. Say where such "
            "homes are to be instead, or give the accounts homes elsewhere" % (path, accounts)
        )
    for name, home in local_homes:
        if size(home) > params["most_mib"] * MIB:
            raise Refused("%s of %s is more than %d MiB: move it by hand" % (home, name, params["most_mib"]))
    if local_homes and not module.check_mode:
        move(module, local_homes, params)
    inside = sorted(os.listdir(path)) if os.path.isdir(path) else []
    moved = {os.path.basename(home) for _, home in local_homes}
    hidden = [name for name in inside if name not in moved and name != "lost+found"]
    return {"changed": bool(local_homes), "mounted": False, "moved": names, "hidden": hidden}


def remount(module, path, options):
    """Apply options to a mounted file system; warn if the kernel cannot do that."""
    code, _, error = module.run_command(["mount", "-o", "remount," + options, path])
    if code != 0:
        module.warn("%s keeps its present options until the next mount: %s" % (path, error.strip()))


def main():
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "source": {"type": "str", "required": True},
            "accounts": {"type": "list", "elements": "str", "default": []},
            "homes": {"type": "str", "default": ""},
            "most_mib": {"type": "int", "default": 1024},
            "options": {"type": "str", "default": ""},
            "passwd": {"type": "path", "default": "/etc/passwd"},
        },
        supports_check_mode=True,
    )
    try:
        result = work(module, module.params)
    except Refused as error:
        module.fail_json(msg=str(error))
    if result["mounted"] and module.params["options"] and not module.check_mode:
        remount(module, module.params["path"], module.params["options"])
    module.exit_json(**result)


if __name__ == "__main__":
    main()
