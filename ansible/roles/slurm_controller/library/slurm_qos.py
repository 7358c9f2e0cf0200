#!/usr/bin/python
"""Ansible module for Slurm's qualities of service (QOS)."""

DOCUMENTATION = r"""
module: slurm_qos
short_description: Manage Slurm's qualities of service
description:
  - Adds missing ones and changes those with other settings.
  - Never deletes one, because past jobs refer to it. The accounts determine which ones jobs may use.
options:
  qos:
    type: dict
    required: true
    description: >-
      By name, a dictionary of settings as sacctmgr prints them (priority, preempt, grptres, maxtrespu, maxjobspu, maxwall, usagefactor,
      grptresmins, flags); an empty one removes a limit. description is set at creation.
  only_add:
    type: bool
    default: false
    description: >-
      Whether it only adds missing ones, without settings, as before the first start of slurmctld, which does not start
      if a partition's quality of service does not exist.
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
    """Return settings by name, from `sacctmgr -nP show qos format=name,<FIELDS>`."""
    present = {}
    for line in text.splitlines():
        name, *values = line.split("|")
        if name:
            present[name] = {field: values[index] if index < len(values) else "" for index, field in enumerate(FIELDS)}
            for field in LISTS:
                present[name][field] = ",".join(sorted(filter(None, present[name][field].split(","))))
    return present


def cleared(field, old):
    """Return the value that removes a setting: -1 for a limit, and -1 for each resource of a TRES limit."""
    if field in ("grptres", "maxtrespu", "grptresmins"):
        return ",".join(part.rpartition("=")[0] + "=-1" for part in old.split(","))
    return "" if field == "preempt" else "-1"


def plan(qos, present, only_add=False):
    """Return the sacctmgr arguments that change `present` into `qos`. Additions first: QOS refer to each other."""
    steps = []
    for name in sorted(set(qos) - set(present)):
        steps.append(["add", "qos", name, "description=" + qos[name].get("description", name)])
    for name in [] if only_add else sorted(qos):
        # Values of a new QOS.
        settings = present.get(name) or dict.fromkeys(FIELDS, "") | {"priority": "0", "usagefactor": "1.000000"}
        changes = [
            field + "=" + (value or cleared(field, settings[field]))
            for field in FIELDS
            for value in [qos[name].get(field, settings[field])]
            if value != settings[field]
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
        # First run in check mode: Slurm is not installed yet, so all commands would run.
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
