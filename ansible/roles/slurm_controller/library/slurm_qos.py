#!/usr/bin/python
"""Qualities of service of Slurm, as one idempotent step."""

DOCUMENTATION = r"""
module: slurm_qos
short_description: Keep Slurm's qualities of service as described
description:
  - Adds those that are missing and changes those that are otherwise.
  - Never deletes one, because the jobs of the past have it. Which one is used is said by the accounts that may.
options:
  qos:
    type: dict
    required: true
    description: >-
      By name, a dictionary of settings as sacctmgr prints them (priority, preempt, grptres, maxtrespu, maxjobspu, maxwall, usagefactor,
      grptresmins, flags); an empty one takes a limit away. description is told when it is made.
  only_add:
    type: bool
    default: false
    description: >-
      Whether only what is missing is added, without limits, as is done before slurmctld has ever run: it does not start with a
      partition whose quality of service there is not.
author: [landbridge]
"""

EXAMPLES = r"""
- slurm_qos:
    qos: {urgent: {priority: "1000", preempt: normal, maxtrespu: "gres/gpu=16"}}
"""

RETURN = r"""
commands: {type: list, returned: always, description: The sacctmgr commands that ran (or would run in check mode).}
"""

from ansible.module_utils.basic import AnsibleModule

FIELDS = ("priority", "preempt", "grptres", "maxtrespu", "maxjobspu", "maxwall", "usagefactor", "grptresmins", "flags")
#: Fields that are lists; sacctmgr prints them in any order.
LISTS = ("preempt", "flags")


def parse(text):
    """`sacctmgr -nP show qos format=name,<FIELDS>` as settings by name."""
    present = {}
    for line in text.splitlines():
        name, *values = line.split("|")
        if name:
            present[name] = {field: values[at] if at < len(values) else "" for at, field in enumerate(FIELDS)}
            for field in LISTS:
                present[name][field] = ",".join(sorted(filter(None, present[name][field].split(","))))
    return present


def cleared(field, old):
    """Return the value that removes a setting: -1 for a limit, and -1 for each resource of a TRES limit."""
    if field in ("grptres", "maxtrespu", "grptresmins"):
        return ",".join(part.rpartition("=")[0] + "=-1" for part in old.split(","))
    return "" if field == "preempt" else "-1"


def plan(qos, present, only_add=False):
    """The sacctmgr arguments that lead from `present` to `qos`, or only to the names: those first, as they name each other."""
    steps = []
    for name in sorted(set(qos) - set(present)):
        steps.append(["add", "qos", name, "description=" + qos[name].get("description", name)])
    for name in [] if only_add else sorted(qos):
        # Values of a new QOS.
        found = present.get(name) or dict.fromkeys(FIELDS, "") | {"priority": "0", "usagefactor": "1.000000"}
        changes = [
            field + "=" + (wanted or cleared(field, found[field]))
            for field in FIELDS
            for wanted in [qos[name].get(field, found[field])]
            if wanted != found[field]
        ]
        if changes:
            steps.append(["modify", "qos", "where", "name=" + name, "set", *changes])
    return steps


def main():
    spec = {"qos": {"type": "dict", "required": True}, "only_add": {"type": "bool", "default": False}}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    qos, only_add = module.params["qos"], module.params["only_add"]
    sacctmgr = module.get_bin_path("sacctmgr", required=not module.check_mode)
    if sacctmgr is None:
        # A first run in check mode: nothing is installed yet, so all of it would be done.
        module.exit_json(changed=bool(qos), commands=plan(qos, {}, only_add))
    read = [sacctmgr, "-nP", "show", "qos", "format=name," + ",".join(FIELDS)]
    rc, out, err = module.run_command(read)
    if rc != 0:
        module.fail_json(msg="slurmdbd did not answer: " + (err or out).strip(), cmd=read, rc=rc)
    commands = plan(qos, parse(out), only_add)
    if not module.check_mode:
        for command in commands:
            rc, out, err = module.run_command([sacctmgr, "-i", *command])
            if rc != 0 and "already exists" not in out + err and "Nothing new added" not in out + err:
                module.fail_json(msg=(err or out).strip(), cmd=command, rc=rc)
    module.exit_json(changed=bool(commands), commands=commands)


if __name__ == "__main__":
    main()
