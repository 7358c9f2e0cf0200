#!/usr/bin/python
"""Slurm's reservations of one origin, as one idempotent step."""

DOCUMENTATION = r"""
module: slurm_reservations
short_description: Keep reservations that block nodes for a time
description:
  - Adds those that are missing, changes those that are otherwise, and deletes those with the prefix that are not named.
  - Running jobs stay (IGNORE_JOBS), and it may lie over others (OVERLAP). Never MAINT, which other programs take for an outage.
  - Needs a slurmctld that answers. What is over is not made.
options:
  prefix: {type: str, required: true, description: Prefix of the names of all of them; other reservations are not changed.}
  reservations:
    type: list
    elements: dict
    required: true
    description: >-
      Each with name, nodes (a host list), starts and ends (ISO 8601 with a time zone; none: from now, and without an end).
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

#: Slurm's "infinite" is a year from the start; a later run of the role makes it a year again.
YEAR = 365 * 86400
FLAGS = "IGNORE_JOBS,OVERLAP"


def seconds(text):
    """A moment in seconds since 1970; None stays None."""
    return None if text is None else int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def number(value):
    """A number as scontrol's JSON has it: as it is, or in a dictionary that says whether it is set."""
    return value.get("number", 0) if isinstance(value, dict) else value


def parse(text, prefix):
    """`scontrol show reservation --json` as nodes, start and end by name, those with the prefix alone."""
    return {
        one["name"]: {"nodes": one["node_list"], "starts": number(one["start_time"]), "ends": number(one["end_time"])}
        for one in json.loads(text or "{}").get("reservations") or []
        if one["name"].startswith(prefix)
    }


def local(moment):
    """A moment as scontrol reads it: in this host's time."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(moment))


def plan(wanted, present, now, same_nodes):
    """The scontrol arguments that lead from `present` to `wanted`. `same_nodes` says whether two host lists are one."""
    steps, named = [], set()
    for one in wanted:
        name, starts, ends = one["name"], seconds(one.get("starts")), seconds(one.get("ends"))
        if ends is not None and ends <= now:
            continue
        named.add(name)
        found = present.get(name)
        # Slurm takes no start in the past.
        start = None if starts is None or starts <= now else starts
        if found is None:
            when = ["StartTime=" + ("now" if start is None else local(start))]
            when.append("Duration=infinite" if ends is None else "EndTime=" + local(ends))
            steps.append(
                ["create", "ReservationName=" + name, "Nodes=" + one["nodes"], *when, "Users=root", "Flags=" + FLAGS]
            )
            continue
        changes = [] if same_nodes(found["nodes"], one["nodes"]) else ["Nodes=" + one["nodes"]]
        # One that has begun keeps its beginning: Slurm refuses to move it.
        if found["starts"] > now and found["starts"] != (start or found["starts"]):
            changes.append("StartTime=" + local(start))
        elif found["starts"] > now and start is None:
            changes.append("StartTime=now")
        if ends is not None and found["ends"] != ends:
            changes.append("EndTime=" + local(ends))
        elif ends is None and found["ends"] < max(start or now, found["starts"]) + YEAR // 2:
            changes.append("Duration=infinite")
        if changes:
            steps.append(["update", "ReservationName=" + name, *changes])
    gone = sorted(set(present) - named)
    return [["delete", "ReservationName=" + name] for name in gone] + steps


def main():
    spec = {
        "prefix": {"type": "str", "required": True},
        "reservations": {"type": "list", "elements": "dict", "required": True},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    prefix, wanted = module.params["prefix"], module.params["reservations"]
    scontrol = module.get_bin_path("scontrol", required=not module.check_mode)

    def ask(*arguments):
        rc, out, err = module.run_command([scontrol, *arguments])
        if rc != 0:
            module.fail_json(msg=(err or out).strip(), cmd=[scontrol, *arguments], rc=rc)
        return out

    def same_nodes(one, other):
        return one == other or sorted(ask("show", "hostnames", one).split()) == sorted(
            ask("show", "hostnames", other).split()
        )

    if scontrol is None:
        # A first run in check mode: nothing is installed yet, so all of it would be done.
        module.exit_json(changed=bool(wanted), commands=plan(wanted, {}, time.time(), lambda one, other: True))
    commands = plan(wanted, parse(ask("show", "reservation", "--json"), prefix), time.time(), same_nodes)
    if not module.check_mode:
        for command in commands:
            ask(*command)
    module.exit_json(changed=bool(commands), commands=commands)


if __name__ == "__main__":
    main()
