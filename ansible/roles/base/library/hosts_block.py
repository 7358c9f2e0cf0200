#!/usr/bin/python
"""Ansible module for a block of lines in /etc/hosts; the lines of the host's owner stay."""

from __future__ import annotations

DOCUMENTATION = """
module: hosts_block
short_description: Lines of a cluster's hosts in /etc/hosts
description:
  - Writes one block between two comments. Other lines stay, with two exceptions.
  - A name of the block is removed from lines of loopback addresses, where installers put the host's own name.
  - Lines of the block that an earlier release wrote as a whole file are removed.
  - Fails if another line maps a name of the block to another address of the same family, because programs get both.
options:
  path: {type: path, default: /etc/hosts, description: The file.}
  hosts:
    type: list
    elements: dict
    required: true
    description: Hosts with their addresses.
    options:
      name: {type: str, required: true, description: Name of the host.}
      address: {type: str, required: true, description: IP address of the host.}
      aliases: {type: list, elements: str, description: Other names of the host.}
  absent:
    type: list
    elements: str
    default: []
    description: Names without an address, at which connections fail at once. A name that another line has is left out.
attributes: {check_mode: {support: full}, diff_mode: {support: full}}
author: landbridge
"""

import os
import tempfile
from ipaddress import ip_address
from typing import Any

from ansible.module_utils.basic import AnsibleModule

BEGIN = "# BEGIN hosts of the cluster (Ansible, role base)"
END = "# END hosts of the cluster (Ansible, role base)"
LOCALHOST = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback"]
#: First lines of the whole file that the role wrote before it had a block.
WHOLE_FILE = ["# Ansible managed", *LOCALHOST]
#: RFC 1122, 3.2.1.3: "this network"; Linux rejects connections to it at once.
NOWHERE = "0.0.0.1"


class Conflict(ValueError):
    """Error: a line outside of the block maps one of its names to another address."""


def words_of(line: str) -> list[str]:
    """Return address and names of a line, without its comment."""
    return line.partition("#")[0].split()


def other_lines(lines: list[str]) -> list[str]:
    """Return the lines outside the block."""
    if BEGIN not in lines:
        return lines
    start = lines.index(BEGIN)
    end = lines.index(END, start) if END in lines[start:] else start
    return lines[:start] + lines[end + 1 :]


def without_loopback(line: str, names: set[str]) -> str | None:
    """Return the line without the names, with and without a domain, if its address is a loopback address."""
    words = words_of(line)
    try:
        if len(words) < 2 or not ip_address(words[0]).is_loopback:
            return line
    except ValueError:
        return line
    others = [word for word in words[1:] if word not in names and word.partition(".")[0] not in names]
    if others == words[1:]:
        return line
    _, mark, comment = line.partition("#")
    return " ".join([words[0], *others]) + (f" {mark}{comment}" if mark else "") if others else None


def changed_text(text: str, hosts: list[dict[str, Any]], absent: list[str]) -> str:
    """Return the text of the file with the block; raise Conflict for a line with another address of a name."""
    addresses = {name: host["address"] for host in hosts for name in (host["name"], *(host.get("aliases") or ()))}
    listed = [" ".join([host["address"], host["name"], *(host.get("aliases") or ())]) for host in hosts]
    before = text.splitlines()
    outside = other_lines(before)
    if before[: len(WHOLE_FILE)] == WHOLE_FILE:
        outside = [line for line in outside if line not in listed and words_of(line)[:1] != [NOWHERE]]
    others = [left for line in outside if (left := without_loopback(line, set(addresses))) is not None]
    for line in others:
        for name in words_of(line)[1:]:
            if name in addresses and conflicting(words_of(line)[0], addresses[name]):
                raise Conflict(f"the line '{line}' has another address of {name} than {addresses[name]}")
    elsewhere = {name for line in others for name in words_of(line)[1:]}
    nowhere = [f"{NOWHERE} {name}" for name in absent if name not in elsewhere]
    at = min(before.index(BEGIN), len(others)) if BEGIN in before else len(others)
    return "\n".join([*others[:at], BEGIN, *listed, *nowhere, END, *others[at:]]) + "\n"


def conflicting(present: str, wanted: str) -> bool:
    """Return whether two addresses of one name differ and are of the same family."""
    try:
        first, second = ip_address(present), ip_address(wanted)
    except ValueError:
        return present != wanted
    return first.version == second.version and first != second


def main() -> None:
    host = {
        "name": {"type": "str", "required": True},
        "address": {"type": "str", "required": True},
        "aliases": {"type": "list", "elements": "str"},
    }
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "default": "/etc/hosts"},
            "hosts": {"type": "list", "elements": "dict", "required": True, "options": host},
            "absent": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    path = module.params["path"]
    text = "\n".join(LOCALHOST) + "\n"
    exists = os.path.exists(path)
    if exists:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    try:
        written = changed_text(text, module.params["hosts"], module.params["absent"])
    except Conflict as error:
        module.fail_json(
            msg=f"{path}: {error}. Programs would get both. Correct the line, or the host's address in base_hosts."
        )
    if exists and written == text:
        module.exit_json(changed=False)
    if not module.check_mode:
        handle, new = tempfile.mkstemp(dir=module.tmpdir)
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(written)
        # The old file's owner and mode stay. A container's /etc/hosts is a mount, which cannot be replaced.
        module.atomic_move(new, path, unsafe_writes=True)
        if not exists:
            os.chmod(path, 0o644)
    before = text if exists else ""
    module.exit_json(
        changed=True, diff={"before": before, "after": written, "before_header": path, "after_header": path}
    )


if __name__ == "__main__":
    main()
