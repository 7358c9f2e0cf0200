#!/usr/bin/python
"""Check of a mount point: no other mount is replaced, and no home directory is hidden."""

from __future__ import annotations

import ctypes
import os
import pwd

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: nfs_mount_point
short_description: Make a folder safe to mount over
description:
  - Fails, and changes nothing, where another file system is mounted on the folder already.
  - Fails where the homes of accounts of this host would be hidden, the one that Ansible logs in with first of all; with
    O(homes) they are copied there instead, and the accounts are told. What was copied stays under the mount as it was.
  - With O(options), a mount that is there takes over what it can without being ended; what it cannot is said.
options:
  path: {description: The folder., type: path, required: true}
  source: {description: What is to be mounted there, as mount shows it., type: str, required: true}
  accounts:
    description: Accounts whose homes are on the mount; folders of theirs on this host may be hidden.
    type: list
    elements: str
    default: []
  homes: {description: Where the homes of other accounts are copied; empty means that nothing is mounted over them., type: str, default: ""}
  most_mib: {description: The most that is copied of one home., type: int, default: 1024}
  options: {description: Options that a mount that is there takes over; empty means that nothing is asked., type: str, default: ""}
  passwd: {description: File of accounts., type: path, default: /etc/passwd}
author: [landbridge]
"""
RETURN = """
mounted: {description: Whether the source is mounted there., type: bool, returned: success}
moved: {description: Accounts whose homes were moved., type: list, returned: success}
hidden: {description: What else is in the folder and will not be seen., type: list, returned: success}
"""
MIB = 2**20


class Refused(Exception):
    """Error before any change."""


def mounted(path, table="/proc/self/mounts"):
    """Return the source of the last mount on `path`, or None. A mount that waits for a trigger (autofs) does not count."""
    found = None
    with open(table, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            source, folder, kind = line.split(" ")[:3]
            if unescaped(folder) == path and kind != "autofs":
                found = unescaped(source)
    return found


def is_folder(source, path):
    """Return whether `path` is a bind mount of the folder `source`: the mount table names its file system only."""
    return os.path.isabs(source) and os.path.isdir(source) and os.path.samefile(source, path)


def unescaped(text):
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def stranded(path, accounts, passwd):
    """[(account, home)] of this host's accounts whose homes are in `path` and exist there, without `accounts`."""
    found = []
    with open(passwd, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            parts = line.rstrip("\n").split(":")
            if len(parts) == 7 and parts[0] not in accounts:
                home = os.path.normpath(parts[5])
                if home.startswith(path.rstrip("/") + "/") and os.path.isdir(home):
                    found.append((parts[0], home))
    return found


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
        folders[:] = [one for one in folders if os.lstat(os.path.join(parent, one)).st_dev == device]
        total += sum(os.lstat(os.path.join(parent, one)).st_size for one in files)
    return total


def rewrite(passwd, homes):
    """Give accounts other homes, as usermod would if it did so for those that are logged in. `homes` is by account."""
    libc = ctypes.CDLL(None)
    # The lock of every program that changes accounts. It waits 15 seconds for another's.
    if libc.lckpwdf() != 0:
        raise Refused("%s is being changed by somebody else" % passwd)
    try:
        with open(passwd, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.readlines()
        new, found = passwd + ".landbridge", os.stat(passwd)
        with open(new, "w", encoding="utf-8", errors="surrogateescape") as file:
            os.fchmod(file.fileno(), found.st_mode & 0o7777)
            os.fchown(file.fileno(), found.st_uid, found.st_gid)
            for line in lines:
                parts = line.split(":")
                if len(parts) == 7 and parts[0] in homes:
                    parts[5] = homes[parts[0]]
                file.write(":".join(parts))
        os.replace(new, passwd)
    finally:
        libc.ulckpwdf()


def move(module, found, params):
    """Copy each home, then say where it is. One that is there already is taken as it is: it was copied by an earlier run."""
    os.makedirs(params["homes"], mode=0o755, exist_ok=True)
    homes = {}
    for name, home in found:
        target = os.path.join(params["homes"], name)
        if not os.path.lexists(target):
            part = target + ".part"
            module.run_command(["rm", "-rf", part], check_rc=True)
            module.run_command(["cp", "--archive", "--one-file-system", "-T", home, part], check_rc=True)
            os.rename(part, target)
        homes[name] = target
    rewrite(params["passwd"], homes)


def work(module, params):
    """Return the module's result. Raises Refused."""
    path = os.path.normpath(params["path"])
    there = mounted(path)
    if there is not None:
        if there.rstrip("/") != params["source"].rstrip("/") and not is_folder(params["source"], path):
            raise Refused(
                "%s is mounted on %s, and %s is wanted there: files may be open, so nothing was changed. Drain the host, "
                "end that mount, and run this again" % (there, path, params["source"])
            )
        return {"changed": False, "mounted": True, "moved": [], "hidden": []}
    found = stranded(path, params["accounts"], params["passwd"])
    names = [name for name, _ in found]
    if found and not params["homes"]:
        own = operator()
        who = ", ".join("%s (with which you are logged in)" % name if name == own else name for name in names)
        raise Refused(
            "homes of accounts of this host are in %s and would be out of reach: %s. Nothing was mounted. Say where such "
            "homes are to be instead, or give the accounts homes elsewhere" % (path, who)
        )
    for name, home in found:
        if size(home) > params["most_mib"] * MIB:
            raise Refused("%s of %s is more than %d MiB: move it by hand" % (home, name, params["most_mib"]))
    if found and not module.check_mode:
        move(module, found, params)
    inside = sorted(os.listdir(path)) if os.path.isdir(path) else []
    gone = {os.path.basename(home) for _, home in found}
    hidden = [one for one in inside if one not in gone and one != "lost+found"]
    return {"changed": bool(found), "mounted": False, "moved": names, "hidden": hidden}


def remount(module, path, options):
    """Apply options to a mounted file system; warn if the kernel cannot do that."""
    code, _, said = module.run_command(["mount", "-o", "remount," + options, path])
    if code != 0:
        module.warn("%s goes on with the options that it has until it is mounted next: %s" % (path, said.strip()))


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
