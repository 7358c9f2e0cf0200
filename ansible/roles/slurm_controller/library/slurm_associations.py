#!/usr/bin/python
"""Ansible module for accounts, users and associations of one Slurm cluster."""

DOCUMENTATION = r"""
module: slurm_associations
short_description: Manage Slurm's accounts and users
description:
  - Adds missing accounts, users and associations.
  - Deletes associations of users with these accounts that are no longer listed. Never deletes an account.
options:
  cluster: {type: str, required: true, description: ClusterName of slurm.conf.}
  accounts:
    type: dict
    required: true
    description: >-
      By account name, a dictionary of users (list), description, parent, fairshare, grp_tres (a dictionary as gres/gpu: 8),
      qos (the list of QOS that its jobs may use) and default_qos.
  only_add:
    type: bool
    default: false
    description: Whether it only adds accounts and users, without limits, as before the first start of slurmctld.
author: [landbridge]
"""

EXAMPLES = r"""
- slurm_associations:
    cluster: site
    accounts: {vision: {users: [alice, bob], description: Vision group}}
"""

RETURN = r"""
commands: {type: list, returned: always, description: The sacctmgr commands that ran (or would run in check mode).}
"""

from ansible.module_utils.basic import AnsibleModule


def by_depth(accounts):
    """Return the account names, parents before children."""
    visited, order = set(), []

    def visit(name):
        if name in accounts and name not in visited:
            visited.add(name)
            visit((accounts[name] or {}).get("parent") or "root")
            order.append(name)

    for name in sorted(accounts):
        visit(name)
    return order


def expected_limits(account):
    tres = account.get("grp_tres") or {}
    limits = {
        "fairshare": str(account.get("fairshare", 1)),
        "GrpTRES": ",".join("%s=%s" % pair for pair in sorted(tres.items())),
    }
    if "qos" in account:
        limits |= {"QOS": ",".join(sorted(account["qos"])), "DefaultQOS": account.get("default_qos") or ""}
    return limits


def plan(cluster, accounts, present, only_add=False):
    """Return the sacctmgr arguments that change `present` into `accounts`; with `only_add`, only names and users.

    `present` maps (account, user) to its limits; the user is "" for the account itself.
    """
    steps = []
    cluster_argument = "cluster=" + cluster
    for name in by_depth(accounts):
        account = accounts[name] or {}
        users, limits = account.get("users") or [], {} if only_add else expected_limits(account)
        settings = [key + "=" + value for key, value in sorted(limits.items()) if value]
        if (name, "") not in present:
            facts = ["description=" + account.get("description", name), "organization=" + cluster]
            parent = "parent=" + account.get("parent", "root")
            steps.append(["add", "account", name, cluster_argument, parent, *facts, *settings])
        elif {key: present[name, ""].get(key, "") for key in limits} != limits:
            # A limit that is no longer listed is removed with -1: gres/gpu=8 becomes gres/gpu=-1.
            old_tres = present[name, ""]["GrpTRES"]
            removed = ["GrpTRES=" + old_tres.rpartition("=")[0] + "=-1"] if old_tres and not limits["GrpTRES"] else []
            if present[name, ""].get("DefaultQOS") and not limits.get("DefaultQOS", "none"):
                removed.append("DefaultQOS=-1")
            steps.append(["modify", "account", "where", "name=" + name, cluster_argument, "set", *settings, *removed])
        missing = sorted(user for user in users if (name, user) not in present)
        if missing:
            steps.append(["add", "user", ",".join(missing), "account=" + name, cluster_argument])
        stale = sorted(user for owner, user in present if owner == name and user and user not in users)
        if stale and not only_add:
            steps.append(["delete", "user", "where", "name=" + ",".join(stale), "account=" + name, cluster_argument])
    return steps


def parse(text):
    """Return limits by (account, user), from `sacctmgr -nP show associations` with the format in `main`."""
    present = {}
    for line in text.splitlines():
        account, user, fairshare, tres, qos, default = (line.split("|") + [""] * 5)[:6]
        if account:
            limits = {"fairshare": fairshare, "GrpTRES": tres, "DefaultQOS": default}
            present[account, user] = limits | {"QOS": ",".join(sorted(filter(None, qos.split(","))))}
    return present


def main():
    module = AnsibleModule(
        argument_spec={
            "cluster": {"type": "str", "required": True},
            "accounts": {"type": "dict", "required": True},
            "only_add": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    cluster, accounts, only_add = (module.params[name] for name in ("cluster", "accounts", "only_add"))
    sacctmgr = module.get_bin_path("sacctmgr", required=not module.check_mode)
    if sacctmgr is None:
        # First run in check mode: Slurm is not installed yet, so all commands would run.
        module.exit_json(changed=bool(accounts), commands=plan(cluster, accounts, {}, only_add))
    # slurmctld registers its cluster when it first connects to slurmdbd; accounts may be needed before that.
    read = [
        sacctmgr,
        "-nP",
        "show",
        "associations",
        "where",
        "cluster=" + cluster,
        "format=account,user,fairshare,grptres,qos,defaultqos",
    ]
    rc, out, err = module.run_command(read)
    if rc != 0:
        module.fail_json(msg="slurmdbd did not answer: " + (err or out).strip(), cmd=read, rc=rc)
    present = parse(out)
    commands = [] if present else [["add", "cluster", cluster]]
    commands += plan(cluster, accounts, present, only_add)
    if not module.check_mode:
        for command in commands:
            rc, out, err = module.run_command([sacctmgr, "-i", *command])
            if rc != 0 and "already exists" not in out + err and "Nothing new added" not in out + err:
                module.fail_json(msg=(err or out).strip(), cmd=command, rc=rc)
    module.exit_json(changed=bool(commands), commands=commands)


if __name__ == "__main__":
    main()
