#!/usr/bin/python
"""Slurm's accounting database and its user on a server that is not this host, as one idempotent step."""

DOCUMENTATION = r"""
module: slurm_database_remote
short_description: Keep a database and its user on a server elsewhere
description:
  - Asks whether the user can log in, over TLS and with the server's name checked, which covers database, user, grant and password.
  - Only where it cannot, reads the administrator's password from Secrets Manager (with the host's own role) and makes them.
  - The user may do in its own database what slurmdbd does, and connects over TLS only.
options:
  server: {type: str, required: true, description: The server's name.}
  port: {type: int, default: 3306, description: Its port.}
  ca: {type: str, required: true, description: File with the authorities that sign its certificate.}
  name: {type: str, required: true, description: The database.}
  user: {type: str, required: true, description: Its user.}
  password: {type: str, required: true, description: The user's password.}
  admin: {type: str, required: true, description: The administrator who can make both.}
  admin_secret: {type: str, required: true, description: Name or ARN of the secret with the administrator's password, as RDS keeps it.}
  region: {type: str, default: "", description: Region of Secrets Manager.}
  endpoint: {type: str, default: "", description: Address of Secrets Manager, where that is not AWS's own.}
author: [landbridge]
"""

EXAMPLES = r"""
- slurm_database_remote:
    server: db.example.org
    ca: /etc/slurm/database-ca.pem
    name: slurm_acct_db
    user: slurm
    password: "{{ password }}"
    admin: admin
    admin_secret: arn:aws:secretsmanager:us-east-1:123456789012:secret:rds!db-1
"""

import json
import os

from ansible.module_utils.basic import AnsibleModule

#: Rights of slurmdbd in its database. Not all rights: an administrator of RDS can grant only its own rights.
RIGHTS = (
    "select, insert, update, delete, create, drop, alter, index, references, create temporary tables, lock tables, "
    "create routine, alter routine, execute, create view, show view, trigger"
)


def quoted(text):
    """A text as SQL writes it."""
    return "'%s'" % text.replace("\\", "\\\\").replace("'", "''")


def statements(name, user, password):
    """Return the SQL that creates the database and its user, or sets the password of an existing user."""
    who, where = "%s@'%%'" % quoted(user), "`%s`" % name.replace("`", "``")
    return (
        "create database if not exists %s;\n"
        "create user if not exists %s require ssl;\n"
        "alter user %s identified by %s require ssl;\n"
        "grant %s on %s.* to %s;\n"
    ) % (where, who, who, quoted(password), RIGHTS, where, who)


def command(options, user, *more):
    """Return the command line of a client that connects only over TLS, with verification of the server's name."""
    found = ["mariadb", "--no-defaults", "--batch", "--host=" + options["server"], "--port=%d" % options["port"]]
    return [*found, "--user=" + user, "--ssl-ca=" + options["ca"], "--ssl-verify-server-cert", *more]


def administrator(options):
    """Return the administrator's password, which RDS rotates."""
    import boto3

    client = boto3.client(
        "secretsmanager",
        region_name=options["region"] or None,
        endpoint_url=options["endpoint"] or None,
    )
    return json.loads(client.get_secret_value(SecretId=options["admin_secret"])["SecretString"])["password"]


def main():
    module = AnsibleModule(
        argument_spec={
            **{
                key: {"type": "str", "required": True}
                for key in ("server", "ca", "name", "user", "admin", "admin_secret")
            },
            "password": {"type": "str", "required": True, "no_log": True},
            "port": {"type": "int", "default": 3306},
            "region": {"type": "str", "default": ""},
            "endpoint": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    options = module.params

    def run(user, password, *more, data=None):
        # In the environment: all users of the host can read arguments.
        environment = {**os.environ, "MYSQL_PWD": password, "LANG": "C"}
        return module.run_command(command(options, user, *more), data=data, environ_update=environment)

    def logged_in():
        code, _, said = run(options["user"], options["password"], "--execute=select 1", options["name"])
        return code == 0, said

    there, said = logged_in()
    if there:
        module.exit_json(changed=False)
    if module.check_mode:
        module.exit_json(changed=True)
    try:
        password = administrator(options)
    except Exception as error:  # noqa: BLE001  boto3 has an exception for everything, and each means the same here
        module.fail_json(msg="no password of %s: %s (slurm's login said: %s)" % (options["admin"], error, said.strip()))
    made = statements(options["name"], options["user"], options["password"])
    code, _, said = run(options["admin"], password, data=made)
    if code != 0:
        module.fail_json(msg="the database cannot be made as %s: %s" % (options["admin"], said.strip()))
    there, said = logged_in()
    if not there:
        module.fail_json(msg="the database is made, and its user cannot log in: %s" % said.strip())
    module.exit_json(changed=True)


if __name__ == "__main__":
    main()
