#!/usr/bin/python
"""Ansible module for accounts of an MLflow server with basic authentication."""

DOCUMENTATION = r"""
module: mlflow_users
short_description: Manage MLflow's accounts
description:
  - Creates missing accounts and resets passwords that do not log in. Deletes the accounts of O(absent) only; their runs and models stay.
  - Gives the accounts the permission MANAGE on registered models, which need not exist yet.
options:
  url: {type: str, required: true, description: The server.}
  ca_path: {type: path, description: File of the certificates of the CAs; the system's without it.}
  admin_password: {type: str, required: true, description: Password of the account admin.}
  users: {type: list, elements: dict, required: true, description: Accounts with name and password.}
  absent: {type: list, elements: str, default: [], description: Names of accounts that are deleted.}
  models: {type: list, elements: str, default: [], description: Registered models that the accounts manage.}
author: [landbridge]
"""

EXAMPLES = r"""
- mlflow_users:
    url: http://localhost:5000
    admin_password: "{{ admin_password }}"
    users: [{name: alice, password: "{{ password }}"}]
"""

RETURN = r"""
created: {type: list, returned: always, description: Accounts that were missing.}
updated: {type: list, returned: always, description: Accounts whose password was set.}
deleted: {type: list, returned: always, description: Accounts that were deleted.}
granted: {type: list, returned: always, description: Account and model of each new permission.}
"""

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request

from ansible.module_utils.basic import AnsibleModule


def call(url, method, user, password, body=None, context=None):
    """Return the status and body of a request, also for an HTTP error."""
    login = base64.b64encode((user + ":" + password).encode()).decode()
    headers = {"Authorization": "Basic " + login, "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    try:
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30, context=context) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def main():
    user_spec = {
        "name": {"type": "str", "required": True},
        "password": {"type": "str", "required": True, "no_log": True},
    }
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "required": True},
            "ca_path": {"type": "path"},
            "admin_password": {"type": "str", "required": True, "no_log": True},
            "users": {"type": "list", "elements": "dict", "required": True, "options": user_spec},
            "absent": {"type": "list", "elements": "str", "default": []},
            "models": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    base = module.params["url"].rstrip("/") + "/api/2.0/mlflow/users/"
    admin = ("admin", module.params["admin_password"])
    ca_path = module.params["ca_path"]
    context = ssl.create_default_context(cafile=ca_path) if ca_path else None
    created, updated, granted, deleted = [], [], [], []

    def grant(name, model):
        """Give an account the permission on a model, if it has another one. Source: MLflow 3.17.2, server/auth/routes.py."""
        query = {"username": name, "resource_type": "registered_model", "resource_id": model}
        rights = module.params["url"].rstrip("/") + "/api/3.0/mlflow/users/permissions/"
        try:
            status, text = call(rights + "get?" + urllib.parse.urlencode(query), "GET", *admin, context=context)
        except OSError:
            status, text = 404, ""
        if status == 200 and json.loads(text).get("permission") == "MANAGE":
            return
        granted.append([name, model])
        if not module.check_mode:
            body = {**query, "permission": "MANAGE"}
            status, text = call(rights + "grant", "POST", *admin, body=body, context=context)
            if status != 200:
                module.fail_json(msg="permission of %s on %s: %s %s" % (name, model, status, text[:300]))

    def change(step, method, user):
        if module.check_mode:
            return
        body = {"username": user["name"], "password": user["password"]}
        status, text = call(base + step, method, *admin, body=body, context=context)
        if status != 200:
            module.fail_json(msg="%s %s: %s %s" % (step, user["name"], status, text[:300]))

    def exists(account_url, name):
        try:
            status, text = call(account_url, "GET", *admin, context=context)
        except OSError as error:
            if not module.check_mode:
                module.fail_json(msg="query of %s: %s" % (name, error))
            # The server of a new data class does not run yet.
            return False
        if status not in (200, 404):
            module.fail_json(msg="query of %s: %s %s" % (name, status, text[:300]))
        return status == 200

    for user in module.params["users"]:
        account_url = base + "get?username=" + urllib.parse.quote(user["name"])
        if not exists(account_url, user["name"]):
            change("create", "POST", user)
            created.append(user["name"])
        elif call(account_url, "GET", user["name"], user["password"], context=context)[0] == 401:
            change("update-password", "PATCH", user)
            updated.append(user["name"])
        for model in module.params["models"]:
            grant(user["name"], model)
    for name in module.params["absent"]:
        if exists(base + "get?username=" + urllib.parse.quote(name), name):
            change("delete", "DELETE", {"name": name, "password": ""})
            deleted.append(name)
    module.exit_json(
        changed=bool(created or updated or granted or deleted),
        created=created,
        updated=updated,
        granted=granted,
        deleted=deleted,
    )


if __name__ == "__main__":
    main()
