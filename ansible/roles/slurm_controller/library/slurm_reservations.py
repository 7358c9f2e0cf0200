#!/usr/bin/python
"""Ansible module for Slurm reservations whose names have one prefix."""

DOCUMENTATION = r"""
module: slurm_reservations
short_description: Manage reservations that block nodes for a time
description:
  - Adds missing ones, changes those with other settings, and deletes those with the prefix that are not listed.
  - Running jobs continue (IGNORE_JOBS), and reservations may overlap (OVERLAP). Without MAINT, which other programs
    treat as an outage.
  - Needs a slurmctld that answers. Does not create reservations that have ended.
options:
  prefix: {type: str, required: true, description: Prefix of the names; reservations without it are not changed.}
  reservations:
    type: list
    elements: dict
    required: true
    description: >-
      Each with name, nodes (a host list), starts and ends (ISO 8601 with a time zone; null means now, and no end).
author: [landbridge]
"""

EXAMPLES = r"""
- slurm_reservations:
    prefix: landbridge-block-
    reservations:
      - {name: landbridge-block-p5-1, nodes: "p5-[1-8]", starts: null, ends: "2026-12-01T11:30:00+00:00"}
"""

RETURN = r"""
commands: {type: list, returned: always, description: The scontrol commands that ran (or would run in check mode).}
"""

import json
import time
from datetime import datetime

from ansible.module_utils.basic import AnsibleModule

#: Seconds. Slurm's "infinite" is a year from the start; later runs of the role extend it.
YEAR = 365 * 86400
FLAGS = "IGNORE_JOBS,OVERLAP"


def seconds(text):
    """Return the seconds since 1970 of a time in ISO 8601; None if `text` is None."""
    return None if text is None else int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def number(value):
    """Return a number of scontrol's JSON, which is a number or an object with `number`."""
    return value.get("number", 0) if isinstance(value, dict) else value


def parse(text, prefix):
    """Return nodes, start and end by name, for names with the prefix, from `scontrol show reservation --json`."""
    return {
        entry["name"]: {
            "nodes": entry["node_list"],
            "starts": number(entry["start_time"]),
            "ends": number(entry["end_time"]),
        }
        for entry in json.loads(text or "{}").get("reservations") or []
        if entry["name"].startswith(prefix)
    }


def local(moment):
    """Return a time in scontrol's format, in this host's time zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(moment))


def plan(expected, present, now, same_nodes):
    """Return the scontrol arguments that change `present` into `expected`. `same_nodes` compares two host lists."""
    steps, current = [], set()
    for reservation in expected:
        name, starts, ends = reservation["name"], seconds(reservation.get("starts")), seconds(reservation.get("ends"))
        if ends is not None and ends <= now:
            continue
        current.add(name)
        existing = present.get(name)
        # Slurm rejects a start in the past.
        start = None if starts is None or starts <= now else starts
        if existing is None:
            times = ["StartTime=" + ("now" if start is None else local(start))]
            times.append("Duration=infinite" if ends is None else "EndTime=" + local(ends))
            steps.append(
                [
                    "create",
                    "ReservationName=" + name,
                    "Nodes=" + reservation["nodes"],
                    *times,
                    "Users=root",
                    "Flags=" + FLAGS,
                ]
            )
            continue
        changes = [] if same_nodes(existing["nodes"], reservation["nodes"]) else ["Nodes=" + reservation["nodes"]]
        # The start of a reservation that has begun cannot be changed in Slurm.
        if existing["starts"] > now and existing["starts"] != (start or existing["starts"]):
            changes.append("StartTime=" + local(start))
        elif existing["starts"] > now and start is None:
            changes.append("StartTime=now")
        if ends is not None and existing["ends"] != ends:
            changes.append("EndTime=" + local(ends))
        elif ends is None and existing["ends"] < max(start or now, existing["starts"]) + YEAR // 2:
            changes.append("Duration=infinite")
        if changes:
            steps.append(["update", "ReservationName=" + name, *changes])
    unlisted = sorted(set(present) - current)
    return [["delete", "ReservationName=" + name] for name in unlisted] + steps


def main():
    spec = {
        "prefix": {"type": "str", "required": True},
        "reservations": {"type": "list", "elements": "dict", "required": True},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    prefix, expected = module.params["prefix"], module.params["reservations"]
    scontrol = module.get_bin_path("scontrol", required=not module.check_mode)

    def scontrol_output(*arguments):
        rc, out, err = module.run_command([scontrol, *arguments])
        if rc != 0:
            module.fail_json(msg=(err or out).strip(), cmd=[scontrol, *arguments], rc=rc)
        return out

    def same_nodes(hosts, other_hosts):
        return hosts == other_hosts or sorted(scontrol_output("show", "hostnames", hosts).split()) == sorted(
            scontrol_output("show", "hostnames", other_hosts).split()
        )

    if scontrol is None:
        # First run in check mode: Slurm is not installed yet, so all commands would run.
        module.exit_json(
            changed=bool(expected), commands=plan(expected, {}, time.time(), lambda hosts, other_hosts: True)
        )
    commands = plan(expected, parse(scontrol_output("show", "reservation", "--json"), prefix), time.time(), same_nodes)
    if not module.check_mode:
        for command in commands:
            scontrol_output(*command)
    module.exit_json(changed=bool(commands), commands=commands)


if __name__ == "__main__":
    main()
