#!/usr/bin/python
"""Ansible module for a scratch file system on a node's local disks: created once, never over existing data."""

from __future__ import annotations

import json
import os

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: scratch_volume
short_description: Create and mount one file system on a node's local disks
description:
  - Creates a RAID 0 of several disks, or uses a single disk, creates a file system on it once, and mounts it.
  - A disk with other data (a file system, a partition table, part of an array) is never changed without O(overwrite).
  - O(record) stores the disks and the file system; if one of these disks is missing later, the module fails without
    changes.
options:
  mount: {description: The mount point., type: path, required: true}
  devices:
    description: Disks, preferably by stable names (/dev/disk/by-id/…); empty means every unused NVMe disk.
    type: list
    elements: path
    default: []
  filesystem: {description: Type of the file system., type: str, choices: [ext4, xfs], default: xfs}
  label: {description: The file system's label and the array's name., type: str, default: scratch}
  overwrite: {description: Whether disks with other data may be formatted., type: bool, default: false}
  rebuild: {description: Whether to create a new file system if a disk is missing., type: bool, default: false}
  record: {description: File with the disks and the file system., type: path, default: /etc/landbridge/scratch.json}
author: [landbridge]
"""
RETURN = """
source: {description: The file system in fstab's form., type: str, returned: success}
disks: {description: The disks under it., type: list, returned: success}
"""


class Refused(Exception):
    """Error before any change."""


class Disks:
    """The node's disks, through its programs (lsblk, wipefs, mdadm, ...)."""

    def __init__(self, module):
        self.module = module

    def run(self, *words):
        """Return the output of a program; the module fails if the program does."""
        return self.module.run_command(list(words), check_rc=True)[1]

    def unused(self):
        """Return NVMe disks without partitions, arrays or mounts."""
        listed = self.run("lsblk", "--json", "--paths", "--output", "NAME,TYPE,MOUNTPOINTS")
        return [
            device["name"]
            for device in json.loads(listed)["blockdevices"]
            if device["type"] == "disk"
            and os.path.basename(device["name"]).startswith("nvme")
            and not device.get("children")
            and not any(device["mountpoints"])
        ]

    def signatures(self, disk):
        """Return the types of all signatures on a disk, read from the disk itself."""
        output = self.run("wipefs", "--no-act", "--json", disk).strip()
        signatures = json.loads(output)["signatures"] if output else []
        return [signature["type"] for signature in signatures]

    def mounted(self, path):
        return os.path.ismount(path)

    def exists(self, disk):
        return os.path.exists(disk)

    def stable(self, disk):
        """Return a name in /dev/disk/by-id, which does not depend on the slot; the given name if udev has no other."""
        folder = "/dev/disk/by-id"
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        aliases = [name for name in names if os.path.realpath(os.path.join(folder, name)) == os.path.realpath(disk)]
        preferred = [name for name in aliases if not name.startswith("nvme-eui.")] or aliases
        return os.path.join(folder, preferred[0]) if preferred else disk


def select_disks(disks, params, recorded):
    """Return the disks to format. Raises Refused without disks, or if one that is not in `recorded` holds data."""
    selected = list(params["devices"]) or disks.unused()
    if not selected:
        raise Refused("no NVMe disk of this node is unused: name the disks, or leave this role out")
    for disk in selected:
        if not disks.exists(disk):
            raise Refused("there is no disk %s" % disk)
        kinds = disks.signatures(disk)
        if kinds and os.path.realpath(disk) not in recorded and not params["overwrite"]:
            raise Refused("%s holds %s: it is formatted only when overwrite says so" % (disk, ", ".join(kinds)))
    return selected


def lost(disks, record):
    """Return the recorded disks that no longer exist."""
    return [disk for disk in record["disks"] if not disks.exists(disk)]


def make(disks, params, selected):
    """Create the array and the file system; return its source for fstab, and its device."""
    device = selected[0]
    if len(selected) > 1:
        device = "/dev/md/" + params["label"]
        if disks.exists(device):
            disks.run("mdadm", "--stop", device)
    for disk in selected:
        disks.run("wipefs", "--all", disk)
    if len(selected) > 1:
        count = "--raid-devices=%d" % len(selected)
        disks.run("mdadm", "--create", device, "--run", "--level=0", "--name=" + params["label"], count, *selected)
    # Without -F, mkfs.ext4 prompts before it overwrites: the disks were checked above.
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
    """Create and mount the file system if needed; return (changed, record). Raises Refused."""
    record = read(params["record"])
    if record is not None:
        missing = lost(disks, record)
        if not missing:
            if disks.mounted(params["mount"]):
                return False, record
            if not check:
                mount(disks, params, record)
            return True, record
        if not params["rebuild"]:
            raise Refused(
                "%s of %d disks lost (%s), and with them all data on %s: replace them, then set rebuild"
                % (len(missing), len(record["disks"]), ", ".join(missing), params["mount"])
            )
    if disks.mounted(params["mount"]) and record is None:
        raise Refused("something else is mounted on %s" % params["mount"])
    selected = select_disks(disks, params, {os.path.realpath(disk) for disk in (record or {}).get("disks", ())})
    if check:
        return True, {"disks": selected, "source": "", "device": selected[0], "filesystem": params["filesystem"]}
    if disks.mounted(params["mount"]):
        disks.run("umount", params["mount"])
    source, device = make(disks, params, selected)
    stable_names = [disks.stable(disk) for disk in selected]
    record = {"disks": stable_names, "source": source, "device": device, "filesystem": params["filesystem"]}
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
