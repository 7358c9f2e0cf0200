#!/usr/bin/python
"""File system on a node's own disks for data that may be lost: created once, never over existing data."""

from __future__ import annotations

import json
import os

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: scratch_volume
short_description: One file system over a node's own disks, mounted
description:
  - Makes a RAID 0 of several disks, or takes one disk as it is, makes a file system on it once, and mounts it.
  - A disk that holds anything else (a file system, a partition table, part of an array) is never touched without O(overwrite).
  - What was made is remembered in O(record); a disk of it that is not there any more is told, and nothing is done.
options:
  mount: {description: Where it is mounted., type: path, required: true}
  devices:
    description: Disks, best by names that stay (/dev/disk/by-id/…); empty means every NVMe disk that nothing uses.
    type: list
    elements: path
    default: []
  filesystem: {description: Its kind., type: str, choices: [ext4, xfs], default: xfs}
  label: {description: The file system's label and the array's name., type: str, default: scratch}
  overwrite: {description: Whether disks that hold something else may be taken., type: bool, default: false}
  rebuild: {description: Whether to begin anew where a disk was lost., type: bool, default: false}
  record: {description: File that remembers what was made., type: path, default: /etc/landbridge/scratch.json}
author: [landbridge]
"""
RETURN = """
source: {description: The file system as fstab names it., type: str, returned: success}
disks: {description: The disks under it., type: list, returned: success}
"""


class Refused(Exception):
    """Error before any change."""


class Disks:
    """The node's disks, through its own programs."""

    def __init__(self, module):
        self.module = module

    def run(self, *words):
        """Return the output of a program; the module fails with it."""
        return self.module.run_command(list(words), check_rc=True)[1]

    def unused(self):
        """NVMe disks without partitions, arrays or mounts on them."""
        listed = self.run("lsblk", "--json", "--paths", "--output", "NAME,TYPE,MOUNTPOINTS")
        return [
            one["name"]
            for one in json.loads(listed)["blockdevices"]
            if one["type"] == "disk"
            and os.path.basename(one["name"]).startswith("nvme")
            and not one.get("children")
            and not any(one["mountpoints"])
        ]

    def signatures(self, disk):
        """The kinds of everything that a disk holds, read from the disk itself: a label would prove nothing."""
        said = self.run("wipefs", "--no-act", "--json", disk).strip()
        found = json.loads(said)["signatures"] if said else []
        return [one["type"] for one in found]

    def mounted(self, path):
        return os.path.ismount(path)

    def exists(self, disk):
        return os.path.exists(disk)

    def stable(self, disk):
        """A name that stays when disks change places; the given one where udev gave no other."""
        folder = "/dev/disk/by-id"
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        same = [name for name in names if os.path.realpath(os.path.join(folder, name)) == os.path.realpath(disk)]
        named = [name for name in same if not name.startswith("nvme-eui.")] or same
        return os.path.join(folder, named[0]) if named else disk


def chosen(disks, params, own):
    """The disks to take. Raises Refused where there are none, or one that is not among `own` holds anything."""
    found = list(params["devices"]) or disks.unused()
    if not found:
        raise Refused("no NVMe disk of this node is unused: name the disks, or leave this role out")
    for disk in found:
        if not disks.exists(disk):
            raise Refused("there is no disk %s" % disk)
        held = disks.signatures(disk)
        if held and os.path.realpath(disk) not in own and not params["overwrite"]:
            raise Refused("%s holds %s: it is formatted only when overwrite says so" % (disk, ", ".join(held)))
    return found


def lost(disks, record):
    """The disks that were there once and are not now."""
    return [disk for disk in record["disks"] if not disks.exists(disk)]


def make(disks, params, found):
    """Array, file system; returns its source for fstab."""
    device = found[0]
    if len(found) > 1:
        device = "/dev/md/" + params["label"]
        if disks.exists(device):
            disks.run("mdadm", "--stop", device)
    for disk in found:
        disks.run("wipefs", "--all", disk)
    if len(found) > 1:
        count = "--raid-devices=%d" % len(found)
        disks.run("mdadm", "--create", device, "--run", "--level=0", "--name=" + params["label"], count, *found)
    # mkfs.ext4 would ask before it overwrites: the disks were checked above.
    force = "-F" if params["filesystem"] == "ext4" else "-f"
    disks.run("mkfs." + params["filesystem"], force, "-L", params["label"], device)
    uuid = disks.run("blkid", "--probe", "--match-tag", "UUID", "--output", "value", device).strip()
    return "UUID=" + uuid, device


def mount(disks, params, record):
    os.makedirs(params["mount"], mode=0o755, exist_ok=True)
    source = record["device"] if disks.exists(record["device"]) else record["source"]
    disks.run("mount", "-t", record["filesystem"], "-o", "noatime", source, params["mount"])


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def write(path, record):
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def work(disks, params, check):
    """(changed, record) after everything that had to be done. Raises Refused."""
    record = read(params["record"])
    if record is not None:
        gone = lost(disks, record)
        if not gone:
            if disks.mounted(params["mount"]):
                return False, record
            if not check:
                mount(disks, params, record)
            return True, record
        if not params["rebuild"]:
            raise Refused(
                "%s of %d disks lost (%s), and all that was on %s with it: replace it, then begin anew with rebuild"
                % (len(gone), len(record["disks"]), ", ".join(gone), params["mount"])
            )
    if disks.mounted(params["mount"]) and record is None:
        raise Refused("something else is mounted on %s" % params["mount"])
    found = chosen(disks, params, {os.path.realpath(disk) for disk in (record or {}).get("disks", ())})
    if check:
        return True, {"disks": found, "source": "", "device": found[0], "filesystem": params["filesystem"]}
    if disks.mounted(params["mount"]):
        disks.run("umount", params["mount"])
    source, device = make(disks, params, found)
    named = [disks.stable(disk) for disk in found]
    record = {"disks": named, "source": source, "device": device, "filesystem": params["filesystem"]}
    write(params["record"], record)
    mount(disks, params, record)
    return True, record


def main():
    module = AnsibleModule(
        argument_spec={
            "mount": {"type": "path", "required": True},
            "devices": {"type": "list", "elements": "path", "default": []},
            "filesystem": {"type": "str", "choices": ["ext4", "xfs"], "default": "xfs"},
            "label": {"type": "str", "default": "scratch"},
            "overwrite": {"type": "bool", "default": False},
            "rebuild": {"type": "bool", "default": False},
            "record": {"type": "path", "default": "/etc/landbridge/scratch.json"},
        },
        supports_check_mode=True,
    )
    try:
        changed, record = work(Disks(module), module.params, module.check_mode)
    except Refused as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=changed, source=record["source"], disks=record["disks"])


if __name__ == "__main__":
    main()
