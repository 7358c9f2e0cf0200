#!/usr/bin/python
"""Ansible module for Slurm's accounting database and its user on another host."""

DOCUMENTATION = r"""
module: slurm_database_remote
short_description: Manage a database and its user on another host
description:
  - Checks whether the user can log in over TLS with verification of the server's name. That tests database, user, grant
    and password.
  - Only if it cannot, reads the administrator's password from Secrets Manager (with the host's role) and creates them.
  - The user has only the rights that slurmdbd needs in its database, and connects only over TLS.
options:
  server: {type: str, required: true, description: The server's name.}
  port: {type: int, default: 3306, description: Its port.}
  ca: {type: str, required: true, description: File with the CA certificates for the server's certificate.}
  name: {type: str, required: true, description: The database.}
  user: {type: str, required: true, description: Its user.}
  password: {type: str, required: true, description: The user's password.}
  admin: {type: str, required: true, description: The administrator who can create both.}
  admin_secret: {type: str, required: true, description: Name or ARN of the secret with the administrator's password in RDS's format.}
  region: {type: str, default: "", description: Region of Secrets Manager.}
  endpoint: {type: str, default: "", description: URL of Secrets Manager if it is not AWS's.}
  fips: {type: bool, default: false, description: Whether the FIPS endpoint of Secrets Manager is used.}
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
    """Return a text as an SQL string literal."""
    return "'%s'" % text.replace("\\", "\\\\").replace("'", "''")


def statements(name, user, password):
    """Return the SQL that creates the database and its user, or sets the password of an existing user."""
    account, database = "%s@'%%'" % quoted(user), "`%s`" % name.replace("`", "``")
    return (
        "create database if not exists %s;\n"
        "create user if not exists %s require ssl;\n"
        "alter user %s identified by %s require ssl;\n"
        "grant %s on %s.* to %s;\n"
    ) % (database, account, account, quoted(password), RIGHTS, database, account)


def command(options, user, *arguments):
    """Return the command line of a client that connects only over TLS, with verification of the server's name."""
    words = ["mariadb", "--no-defaults", "--batch", "--host=" + options["server"], "--port=%d" % options["port"]]
    return [*words, "--user=" + user, "--ssl-ca=" + options["ca"], "--ssl-verify-server-cert", *arguments]


def administrator(options):
    """Return the administrator's password, which RDS rotates."""
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "secretsmanager",
        region_name=options["region"] or None,
        endpoint_url=options["endpoint"] or None,
        config=Config(use_fips_endpoint=True) if options["fips"] else None,
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
            "fips": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    options = module.params

    def run(user, password, *more, data=None):
        # In the environment, because all users of the host can read arguments.
        environment = {**os.environ, "MYSQL_PWD": password, "LANG": "C"}
        return module.run_command(command(options, user, *more), data=data, environ_update=environment)

    def logged_in():
        code, _, error = run(options["user"], options["password"], "--execute=select 1", options["name"])
        return code == 0, error

    success, login_error = logged_in()
    if success:
        module.exit_json(changed=False)
    if module.check_mode:
        module.exit_json(changed=True)
    try:
        password = administrator(options)
    except Exception as error:  # noqa: BLE001  any error of boto3 means that there is no password
        module.fail_json(
            msg="no password of %s: %s (login of the slurm user: %s)" % (options["admin"], error, login_error.strip())
        )
    sql = statements(options["name"], options["user"], options["password"])
    code, _, error = run(options["admin"], password, data=sql)
    if code != 0:
        module.fail_json(msg="the database cannot be created as %s: %s" % (options["admin"], error.strip()))
    success, login_error = logged_in()
    if not success:
        module.fail_json(msg="the database was created, but its user cannot log in: %s" % login_error.strip())
    module.exit_json(changed=True)


if __name__ == "__main__":
    main()
