#!/usr/bin/python3
"""Ansible module that checks whether hosts may be upgraded to a release of Slurm. Changes nothing."""

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: slurm_upgrade
short_description: Check that hosts may be upgraded to a release of Slurm
description:
  - A daemon of Slurm understands daemons and state of a few versions before it and of none after it. So slurmdbd is upgraded
    first, then slurmctld, then slurmd and the commands, and no step may leave out more versions than the new one understands.
  - Fails with every reason.
options:
  target: {description: The release that the hosts get, such as 24.11.6., type: str, required: true}
  upgrades_from: {description: "Versions, such as 24.05, that the target understands.", type: list, elements: str, required: true}
  stages: {description: "Lists of hosts, those with slurmdbd first, then slurmctld, then all others.", type: list, elements: list, required: true}
  installed: {description: The release on each host; empty where Slurm is not installed., type: dict, required: true}
  hosts: {description: The hosts that are upgraded now., type: list, elements: str, required: true}
attributes: {check_mode: {support: full}}
author: Landbridge
"""
DAEMONS = ("slurmdbd", "slurmctld", "slurmd")


def refusals(target, upgrades_from, stages, installed, hosts):
    """Return the reasons against the upgrade; empty if there are none.

    Source: slurm.schedmd.com/upgrades.html, "Compatibility Window" and "Upgrade Order".
    """
    reasons = []
    wanted = _number(target)
    for host in hosts:
        release = installed.get(host, "")
        if not release:
            continue
        if _number(release) > wanted:
            reasons.append(
                f"{host} has {release}, which is newer than {target}: its state cannot be read by an older release"
            )
        elif _version(release) not in (_version(target), *upgrades_from):
            reasons.append(
                f"{host} has {release}: upgrade it to one of {', '.join(upgrades_from)} first, because {target} understands no older one"
            )
    for stage, members in enumerate(stages):
        later = [host for others in stages[stage + 1 :] for host in others if host in hosts and host not in members]
        for host in members:
            release = installed.get(host, "")
            if later and host not in hosts and release and _number(release) < wanted:
                reasons.append(f"{host} has {release}: upgrade {DAEMONS[stage]} there before {', '.join(later)}")
    return reasons


def _number(release):
    """Return a release such as 24.11.6 as numbers that can be compared."""
    return tuple(int(part) for part in release.split("-")[0].split("."))


def _version(release):
    return ".".join(release.split(".")[:2])


def main():
    lists = {"type": "list", "required": True}
    spec = {
        "target": {"type": "str", "required": True},
        "upgrades_from": {**lists, "elements": "str"},
        "stages": {**lists, "elements": "list"},
        "installed": {"type": "dict", "required": True},
        "hosts": {**lists, "elements": "str"},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    reasons = refusals(**module.params)
    if reasons:
        module.fail_json(msg="; ".join(reasons), reasons=reasons)
    module.exit_json(changed=False)


if __name__ == "__main__":
    main()
