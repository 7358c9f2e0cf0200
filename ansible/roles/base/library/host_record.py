#!/usr/bin/python
"""Ansible module for the record of the files, units and users of a cluster on a host."""

from __future__ import annotations

DOCUMENTATION = """
module: host_record
short_description: Record of the files, units and users that a cluster has on a host
description:
  - Keeps one record for each cluster that has this host, in a folder of root. Names of another cluster's record stay.
  - O(step=begin) adds O(owned), as far as its names are Landbridge's, and O(users) to the record. A run that fails later has recorded them.
  - O(step=query) returns what the record has and O(owned) has not, as far as it exists. It changes nothing.
  - O(step=end) sets the record to O(owned). The users stay in it.
options:
  step: {type: str, required: true, choices: [begin, query, end], description: Operation.}
  cluster: {type: str, required: true, description: Name of the cluster.}
  folder: {type: path, default: /etc/landbridge/records, description: Folder of the records.}
  owned:
    type: dict
    required: true
    description: Names that the plan has for this host, with the keys C(files), C(ends), C(tables) and C(units). A star stands for any text.
  known:
    type: dict
    default: {}
    description: Names of all roles. Those that exist on a host without a record and are not in O(owned) are printed as a warning.
  complete:
    type: bool
    default: true
    description: Whether the plan has what AWS assigns. A plan without it removes nothing that a complete one has recorded.
  users: {type: list, elements: dict, default: [], description: Users of the plan with name and uid.}
  connection_user: {type: str, default: "", description: Account of Ansible's connection, which is never locked.}
attributes: {check_mode: {support: full}}
author: landbridge
"""

EXAMPLES = """
- name: Query what the plan no longer has
  host_record:
    step: query
    cluster: prod
    owned: {files: [/etc/landbridge/burst.json], ends: [], tables: [], units: []}
  register: removals
"""

RETURN = """
files: {type: list, returned: with O(step=query), description: Files to remove, then folders of Landbridge that are empty without them.}
environments: {type: list, returned: with O(step=query), description: Folders of Python environments to remove before their links.}
units: {type: list, returned: with O(step=query), description: Units to stop, timers and sockets first.}
tables: {type: list, returned: with O(step=query), description: Tables of nftables to remove.}
left: {type: list, returned: with O(step=begin), description: Users of the record that the plan no longer has.}
open: {type: list, returned: with O(step=begin), description: Users of RV(left) whose account is not locked.}
removals: {type: list, returned: always, description: What a run removes, as C(landbridge configure) prints it.}
returned: {type: list, returned: with O(step=begin), description: Users of the plan whose account was locked.}
"""

import glob
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ansible.module_utils.basic import AnsibleModule

KINDS = ("files", "tables")
#: Names that only Landbridge gives; other files and units are recorded after the roles that write them have ended.
OWN = re.compile(r"landbridge|/hardening|/site-gateway|/etc/object-store/")
#: Folders that are removed with their last file.
FOLDERS = re.compile(r"/etc/landbridge/|/opt/landbridge/|/etc/hardening|/etc/object-store|/etc/systemd/system/.*\.d$")
UNIT = re.compile(r"/etc/systemd/system/([^/@]+\.(?:service|timer|socket|path|mount))(\.d/[^/]+)?")
#: Folder of Python environments (role python_runtime): each has the name of its link and the checksum of what it was built from.
ENVIRONMENTS = "/opt/landbridge/envs"
LINK = re.compile(r"/opt/landbridge/([^/]+)")
#: Environments from which users' jobs run: a job may import a module after its link was removed.
OF_JOBS = ("training",)
ORDER = ("timer", "socket", "path", "service", "mount")
#: Smallest uid of people. Source: Debian Policy, 9.2.2 "UID and GID classes".
LEAST_UID = 1000
#: Day on which a locked account ended, in days since 1970 (shadow(5)); 0 has no clear meaning there.
ENDED = "1"


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name is one of these, or one of these patterns has it."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def dropped(recorded: Mapping[str, Any], owned: Mapping[str, Any], kind: str) -> list[str]:
    """Return the names or patterns of a kind that the record has and the plan has not."""
    return [name for name in recorded.get(kind, []) if name not in owned[kind]]


def begun(recorded: Mapping[str, Any], owned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record at the start of a run: also with Landbridge's own names of the plan."""
    names = {kind: {name for name in owned[kind] if OWN.search(name)} for kind in KINDS}
    return {**recorded, **{kind: sorted({*recorded.get(kind, []), *names[kind]}) for kind in KINDS}}


def ended(recorded: Mapping[str, Any], owned: Mapping[str, Any], root: str = "") -> dict[str, Any]:
    """Return the record after a run without a failure. A role may write a file of a package in some settings only."""
    files = [name for name in owned["files"] if OWN.search(name) or any(existing(name, root))]
    return {**recorded, **owned, "files": files}


def removed_files(recorded: Mapping[str, Any], owned: Mapping[str, Any], root: str = "") -> list[str]:
    """Return the files that exist, that the record has, and that no name of the plan has."""
    paths = {path for name in dropped(recorded, owned, "files") for path in existing(name, root)}
    return sorted(path for path in paths if not matches(path, owned["files"]))


def existing(name: str, root: str = "") -> Iterator[str]:
    """Yield the files and links of a name or pattern. No link is followed."""
    before, star, _ = name.partition("*")
    if not star:
        path = root + name
        if os.path.islink(path) or os.path.isfile(path):
            yield name
        return
    for folder, names, files in os.walk(root + before.rpartition("/")[0]):
        links = [entry for entry in names if os.path.islink(os.path.join(folder, entry))]
        for entry in (*files, *links):
            path = os.path.join(folder, entry)[len(root) :]
            if fnmatchcase(path, name):
                yield path


def ended_units(files: Iterable[str], recorded: Mapping[str, Any], owned: Mapping[str, Any]) -> list[str]:
    """Return the units that end with these files, timers and sockets first, mounts last.

    A unit whose file is removed ends. A package's unit ends with its drop-in or its settings, unless a role of the plan has it.
    """
    written, others = set(), {recorded.get("ends", {}).get(path, "") for path in files} - {""}
    for path in files:
        match = UNIT.fullmatch(path)
        if match:
            (others if match[2] else written).add(match[1])
    units = written | {unit for unit in others if not matches(unit, owned["units"])}
    return sorted(units, key=lambda unit: (ORDER.index(unit.rpartition(".")[2]), unit))


def left_environments(files: Iterable[str], root: str = "") -> list[str]:
    """Return the folders of the Python environments whose links are among these files, and of their locks and wheels."""
    folders = []
    for path in files:
        match = LINK.fullmatch(path)
        if not match or match[1] in OF_JOBS or not os.path.islink(root + path):
            continue
        if os.path.dirname(os.readlink(root + path)) != ENVIRONMENTS:
            continue
        builds = os.listdir(root + ENVIRONMENTS) if os.path.isdir(root + ENVIRONMENTS) else []
        names = [name for name in builds if re.fullmatch(re.escape(match[1]) + "-[0-9a-f]{16}", name)]
        candidates = [*(os.path.join(ENVIRONMENTS, name) for name in names), f"/opt/landbridge/locks/{match[1]}"]
        folders += [
            folder for folder in candidates if os.path.isdir(root + folder) and not os.path.islink(root + folder)
        ]
    return sorted(folders)


def emptied_folders(files: Iterable[str]) -> list[str]:
    """Return the folders of Landbridge that have nothing but these files, the deepest first."""
    removed, emptied = set(files), []
    for folder in sorted({os.path.dirname(path) for path in removed}, key=lambda path: -path.count("/")):
        while FOLDERS.match(folder) and {os.path.join(folder, name) for name in os.listdir(folder)} <= removed:
            removed.add(folder)
            emptied.append(folder)
            folder = os.path.dirname(folder)
    return emptied


def accounts() -> dict[str, tuple[int, bool]]:
    """Return the local accounts: name -> uid and whether it is locked."""
    with open("/etc/shadow") as file:
        ends = {line.split(":")[0]: line.split(":")[7] for line in file if line.count(":") >= 8}
    with open("/etc/passwd") as file:
        rows = [line.rstrip("\n").split(":") for line in file if line.count(":") == 6]
    return {row[0]: (int(row[2]), row[6].endswith("nologin") and ends.get(row[0]) == ENDED) for row in rows}


def load(module: AnsibleModule) -> dict[str, dict[str, Any]]:
    """Return the records of the folder by cluster."""
    records = {}
    for path in glob.glob(os.path.join(module.params["folder"], "*.json")):
        try:
            with open(path) as file:
                records[os.path.basename(path)[: -len(".json")]] = json.load(file)
        except ValueError as error:
            module.fail_json(msg=f"{path} is no record: {error}. Remove it: then the next run removes nothing")
    return records


def save(module: AnsibleModule, record: Mapping[str, Any]) -> None:
    """Write the record of the cluster, readable by root only."""
    folder = module.params["folder"]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, module.params["cluster"] + ".json")
    with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(json.dumps(record, indent=1, sort_keys=True) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def user_states(
    local: Mapping[str, tuple[int, bool]],
    recorded: Mapping[str, int],
    planned: Mapping[str, int],
    others: Iterable[str],
) -> dict[str, list[str]]:
    """Return the users who left, the users of them whose account is not locked, the users who returned, and names with
    another uid than before.

    `local`: accounts of the host; `recorded`, `planned`: name -> uid; `others`: users of other clusters' records.
    """
    states: dict[str, list[str]] = {"left": [], "open": [], "returned": [], "reused": []}
    for name, uid in sorted(recorded.items()):
        present, locked = local.get(name, (None, False))
        if name in planned:
            if locked:
                states["returned" if planned[name] == uid else "reused"].append(name)
        elif name not in others and present == uid and uid >= LEAST_UID:
            states["left"].append(name)
            states["open"] += [] if locked else [name]
    return states


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "step": {"type": "str", "required": True, "choices": ["begin", "query", "end"]},
            "cluster": {"type": "str", "required": True},
            "folder": {"type": "path", "default": "/etc/landbridge/records"},
            "owned": {"type": "dict", "required": True},
            "known": {"type": "dict", "default": {}},
            "complete": {"type": "bool", "default": True},
            "users": {"type": "list", "elements": "dict", "default": []},
            "connection_user": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    step, owned = module.params["step"], module.params["owned"]
    records = load(module)
    record = records.pop(module.params["cluster"], None)
    present: dict[str, Any] = record or {}
    result: dict[str, Any] = {}
    wanted = present
    if step == "begin":
        known = [name for name in module.params["known"].get("files", []) if OWN.search(name)]
        others = removed_files({"files": known}, owned) if record is None else []
        if others:
            module.warn(f"not removed, because no record of this host has it: {', '.join(others)}")
        recorded = present.get("users", {})
        planned = {user["name"]: int(user["uid"]) for user in module.params["users"]}
        connected = module.params["connection_user"]
        elsewhere = {connected, *(name for other in records.values() for name in other.get("users", {}))}
        result = user_states(accounts(), recorded, planned, elsewhere)
        if result["reused"]:
            message = f"{', '.join(result['reused'])}: left with another uid; another person needs another name"
            module.fail_json(msg=message)
        if connected in recorded and connected not in planned:
            module.warn(
                f"{connected} is no user of the plan, and is not locked: Ansible is connected with this account"
            )
        is_complete = present.get("complete", False) or module.params["complete"]
        wanted = {**begun(present, owned), "users": {**recorded, **planned}, "complete": is_complete}
    elif present.get("complete") and not module.params["complete"]:
        module.warn("this machine has no outputs of the stack: nothing is removed, and the record stays")
        result = {"files": [], "environments": [], "units": [], "tables": []}
    elif step == "query":
        names = {
            kind: [n for plan in (owned, *records.values()) for n in plan.get(kind, [])] for kind in (*KINDS, "units")
        }
        files = removed_files(present, names)
        result = {
            "files": [*files, *emptied_folders(files)],
            "environments": left_environments(files),
            "units": ended_units(files, present, names),
            "tables": dropped(present, names, "tables"),
        }
    else:
        wanted = ended(present, owned)
    changed = wanted != record if step != "query" else False
    if changed and not module.check_mode:
        save(module, wanted)
    removals = [f"the login of {name}" for name in result.get("open", [])]
    removals += [name for kind in ("units", "tables", "environments", "files") for name in result.get(kind, [])]
    module.exit_json(changed=changed, removals=removals, **result)


if __name__ == "__main__":
    main()
